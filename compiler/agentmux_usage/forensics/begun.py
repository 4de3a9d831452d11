"""First calls of sessions that began after an edit: what the text before it would have been served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.lowered import PlanPrefix
from agentmux_usage.forensics.known import Start
from agentmux_usage.forensics.plans import Edit, between, measure, standing_of
from agentmux_usage.forensics.reasons import Cause, Missed
from agentmux_usage.forensics.words import span

if TYPE_CHECKING:
    from agentmux_usage.forensics.calls import Step
    from agentmux_usage.forensics.known import Known

# How many tokens a backend counts where the build counts one: beyond these the build's figures say nothing of it.
LEAST, MOST = 0.5, 2.0
# The part of what is served below which a loss drowns in the error of what was foretold.
SMALL = 0.04
# So many plans are looked at, of those that were sent last.
MANY = 4
# How much more may have been served than the build says.
NEAR = 1.1


@dataclass(frozen=True, slots=True)
class _Plan:
    """A session of the agent, and the prefix that it began with."""

    start: Start
    prefix: PlanPrefix


@dataclass(frozen=True, slots=True)
class _Case:
    """A session, the one before it, which had another plan, and those before that; all of them may still be cached."""

    own: _Plan
    before: _Plan
    others: tuple[_Plan, ...]

    @property
    def plans(self) -> tuple[_Plan, ...]:
        return (self.own, self.before, *self.others)


def begun_anew(step: Step, known: Known) -> Missed | None:
    """The loss of a session that was served what the edit before it had left, and no more.

    What it would have been served is the least that others were which began like the one before, without the first of
    them, which paid for that; else what the build says. The build's figures are taken to the measure of the backend by
    the prompts that it counted. Nothing is said where the session was served another share than was foretold: then more
    than the edit, or something else, was at work.
    """
    case, read = _case(step, known), step.response.tokens.cache_read
    if case is None or read is None or not (read or step.serving.trusted):
        return None
    found, scale = _edit(case), _scale(case, known)
    if found is None or not found.lost or not found.held or scale is None:
        return None
    lost, left, most = found.lost * scale, (found.held - found.lost) * scale, found.held * scale
    if abs(read - left) > lost / 2:
        return None
    cause = _cause(case, found)
    served = min((each.read for each in known.alike(case.before.start)[1:] if each.read), default=0)
    if read < served <= most * NEAR:
        return Missed(served, cause, found.lost)
    return Missed(int(min(read + lost, most)), cause)


def _edit(case: _Case) -> Edit | None:
    """What the session was to lose by the edit before it; null where it is little, or another plan leaves more."""
    found, *others = (between(each.prefix, case.own.prefix, "new_prompt") for each in case.plans[1:])
    if found is None or found.lost is None or found.held is None or found.lost < SMALL * found.held:
        return None
    left = [each.held - each.lost for each in others if each and each.held is not None and each.lost is not None]
    same = len(left) < len(others)
    return None if same or any(each > found.held - found.lost + SMALL * found.held for each in left) else found


def _cause(case: _Case, found: Edit) -> Cause:
    ago = span(case.own.start.began - case.before.start.began)
    return Cause(found.reason, f"the session before, begun {ago} ago, had another plan: {found.told}", found.line)


def _case(step: Step, known: Known) -> _Case | None:
    """Null where the prefix is none that is new, or the one before may be forgotten."""
    response, rules = step.response, step.serving.terms
    own = known.began(response) if step.before is None and response.kind == "main" else None
    if own is None or rules is None:
        return None
    since = own.answered - rules.seconds if rules.seconds else 0.0
    live = known.earlier(own, since)
    latest = {each.first.prefix or "": each for each in live}
    if not live or response.prefix in latest or live[-1].answered > own.began:
        return None
    others = sorted(latest.values(), key=lambda each: each.place)[-MANY:]
    plans = [_plan(each, known) for each in (own, *reversed(others))]
    found = [each for each in plans if each is not None]
    return _Case(found[0], found[1], tuple(found[2:])) if len(found) == len(plans) else None


def _plan(start: Start, known: Known) -> _Plan | None:
    prefix = known.prefixes.get(start.first.prefix or "")
    return None if prefix is None else _Plan(start, prefix)


def _scale(case: _Case, known: Known) -> float | None:
    """Tokens of the backend for one that the build counts; null where that cannot be right."""
    found = (measure(standing_of(each.prefix), known.alike(each.start)) for each in case.plans)
    least = min((each for each in found if each is not None), default=0.0)
    return least if LEAST <= least <= MOST else None
