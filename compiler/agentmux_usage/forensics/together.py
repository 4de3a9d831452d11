"""First calls that began before the first answer to the same prefix had been written: each pays for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_usage.breaks import Reason
from agentmux_usage.forensics.reasons import Cause
from agentmux_usage.forensics.words import span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_usage.forensics.calls import Step
    from agentmux_usage.forensics.known import Known

# Seconds after a call began within which its answer has hardly begun, and what it stores cannot be read yet.
UNREADABLE = 10.0


def beside(step: Step, firsts: Sequence[Step]) -> Cause | None:
    """The first call of a sub-agent that another one of the same size of prompt had just begun before."""
    if not step.first or step.response.kind != "subagent":
        return None
    others = (each for each in firsts if each.response.kind == "subagent")
    gaps = [_gap(each, step) for each in others if _alike(each, step)]
    near = min((gap for gap in gaps if 0 <= gap < UNREADABLE), default=None)
    if near is None:
        return None
    return Cause(Reason.CONCURRENT, f"it began {span(near)} after another sub-agent's first call, before its answer")


def _gap(one: Step, two: Step) -> float:
    return two.response.time - one.response.time


def _alike(one: Step, two: Step) -> bool:
    """Whether two sub-agents are likely to begin alike: one model, and prompts that differ by their task alone."""
    sizes = sorted(each.response.context or 0 for each in (one, two))
    return one.response.model == two.response.model and sizes[0] >= sizes[1] / 2 > 0


def shared(step: Step, known: Known) -> tuple[int, Cause] | None:
    """What the first call of a session could have read of one that began just before with the same plan, and did not.

    In tokens, as the build counts them: what a session with another prompt is served.
    """
    response = step.response
    starts = known.starts.get(response.prefix or "", ()) if step.before is None and response.kind == "main" else ()
    gaps = [response.time - each.time for each in starts if each.session_id != response.session_id]
    near = min((gap for gap in gaps if 0 <= gap < UNREADABLE), default=None)
    served = None if near is None else _served(known, response.prefix)
    if near is None or not served:
        return None
    evidence = f"another session with the same plan began {span(near)} before, and may have had no answer yet"
    return served, Cause(Reason.CONCURRENT, evidence)


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
