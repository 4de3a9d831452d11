"""First calls that began before the first answer to the same prefix had been written: each pays for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_usage.breaks import Reason
from agentmux_usage.forensics.plans import measure, standing_of
from agentmux_usage.forensics.reasons import Cause, Missed
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


def shared(step: Step, known: Known) -> Missed | None:
    """What the first call of a session could have read, had another one with its plan not been under way just then.

    That is the least that a session with this plan was served at its beginning, and no more than what the build says a
    session with another prompt is served. Only where both were served nothing, so that each paid for the same: of one
    that was served a part nobody knows whether there was more to read.
    """
    response = step.response
    cold = step.before is None and response.kind == "main" and response.tokens.cache_read == 0
    own = known.began(response) if cold else None
    alike = known.alike(own) if own else ()
    near = _under_way(own, alike) if own else None
    reads = [each.read for each in alike if each.read]
    if own is None or near is None or not (reads or step.serving.trusted):
        return None
    served = _served(known, own)
    if not served:
        return None
    began, answered = span(own.began - near.began), span(near.answered - own.began)
    evidence = f"another session with the same plan began {began} before this one, and its answer {answered} after"
    return Missed(min([served, *reads]), Cause(Reason.CONCURRENT, evidence))


def _under_way(own: Start, alike: Sequence[Start]) -> Start | None:
    """The latest session that had begun before this one and had no answer yet, and that was served nothing either."""
    before = (each for each in alike if each.place < own.place and each.answered > own.began and each.read == 0)
    return max(before, key=lambda each: each.place, default=None)


def _served(known: Known, start: Start) -> int | None:
    """By the build; where the backend counts fewer tokens, so much less."""
    plan = known.prefixes.get(start.first.prefix or "")
    found = standing_of(plan) if plan else None
    scale = measure(found, known.alike(start))
    return int(found.served["new_prompt"] * min(1.0, scale)) if found and scale else None
