"""First calls that began before the first answer to the same prefix had been written: each pays for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_usage.breaks import Reason
from agentmux_usage.forensics.reasons import Cause
from agentmux_usage.forensics.words import span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_usage.forensics.calls import Step
    from agentmux_usage.forensics.known import Known, Start

# Seconds after a call began within which its answer has hardly begun, and what it stores cannot be read yet.
UNREADABLE = 10.0


def beside(step: Step, firsts: Sequence[Step]) -> Cause | None:
    """The first call of a sub-agent that another one of the same size of prompt had just begun before."""
    if not step.first or step.response.kind != "subagent":
        return None
    gaps = [_gap(each, step) for each in firsts if _alike(each, step)]
    near = min((gap for gap in gaps if 0 <= gap < UNREADABLE), default=None)
    if near is None:
        return None
    return Cause(Reason.CONCURRENT, f"it began {span(near)} after another sub-agent's first call, before its answer")


def under_way(firsts: Sequence[Step], step: Step) -> list[Step]:
    """Of the first calls of sub-agents those that may have no answer yet, once `step` was made.

    A call of the agent's own comes when those before it have answered, and a sub-agent's next one when its first has.
    """
    if step.response.kind != "subagent":
        return []
    others = [each for each in firsts if each.response.thread != step.response.thread]
    return [*others, step] if step.first else others


def _gap(one: Step, two: Step) -> float:
    return two.response.time - one.response.time


def _alike(one: Step, two: Step) -> bool:
    """Whether two sub-agents are likely to begin alike: one model, and prompts that differ by their task alone."""
    sizes = sorted(each.response.context or 0 for each in (one, two))
    return one.response.model == two.response.model and sizes[0] >= sizes[1] / 2 > 0


def shared(step: Step, known: Known) -> tuple[int, Cause] | None:
    """What the first call of a session could have read, had another one with its plan not been under way just then.

    In tokens: the least that a session with this plan was served at its beginning, and no more than what the build says
    a session with another prompt is served. Only where both were served nothing, so that each paid for the same: of one
    that was served a part nobody knows whether there was more to read.
    """
    response = step.response
    starts = known.starts.get(response.prefix or "", ()) if _first(step) and response.tokens.cache_read == 0 else ()
    own = next((each for each in starts if each.session_id == response.session_id), None)
    near = _under_way(own, starts) if own else None
    if own is None or near is None:
        return None
    reads = [each.read for each in starts if each.read and each.first.model == response.model]
    served = _served(known, response.prefix) if reads or step.serving.trusted else None
    if not served:
        return None
    evidence = (
        f"another session with the same plan began {span(own.began - near.began)} before this one, "
        f"and its answer {span(near.answered - own.began)} after"
    )
    sizes = (each.first.context for each in (own, near))
    return min(served, *reads, *(size for size in sizes if size)), Cause(Reason.CONCURRENT, evidence)


def _first(step: Step) -> bool:
    return step.before is None and step.response.kind == "main"


def _under_way(own: Start, starts: Sequence[Start]) -> Start | None:
    """The latest session that had begun before this one and had no answer yet, and that was served nothing either."""
    before = (each for each in starts if each.place < own.place and each.answered > own.began)
    alike = (each for each in before if each.read == 0 and each.first.model == own.first.model)
    return max(alike, key=lambda each: each.place, default=None)


def _served(known: Known, digest: str | None) -> int | None:
    plan = known.prefixes.get(digest or "")
    if plan is None:
        return None
    from agentmux_compiler.prefix.costs import caching_of  # noqa: PLC0415  it counts tokens, which few breaks need
    from agentmux_compiler.prefix.counters import counter_for  # noqa: PLC0415
    from agentmux_compiler.prefix.scenarios import standing  # noqa: PLC0415

    caching = caching_of(plan)
    if caching is None:
        return None
    return standing(plan, caching, counter_for(plan.vendor, plan.served_model)).served["new_prompt"]
