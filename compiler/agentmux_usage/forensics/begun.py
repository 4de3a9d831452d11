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


@dataclass(frozen=True, slots=True)
class _Pair:
    """A session and the one before it of the same agent, which began with another prefix that was still cached."""

    before: Start
    own: Start
    old: PlanPrefix
    new: PlanPrefix


def begun_anew(step: Step, known: Known) -> Missed | None:
    """The loss of a session that was served what the edit before it had left, and no more.

    The build's figures are taken to the measure of the backend by the prompts that it counted. Nothing is said where
    the session was served another share than was foretold: then more than the edit, or something else, was at work.
    """
    pair, read = _pair(step, known), step.response.tokens.cache_read
    if pair is None or read is None or not (read or step.serving.trusted):
        return None
    found, scale = between(pair.old, pair.new, "new_prompt"), _scale(pair, known)
    if found is None or not found.lost or not found.held or scale is None or found.lost < SMALL * found.held:
        return None
    lost, left = found.lost * scale, (found.held - found.lost) * scale
    if abs(read - left) > lost / 2:
        return None
    reads = [each.read for each in known.alike(pair.before) if each.read]
    expected = min([read + lost, found.held * scale, *reads])
    return Missed(int(expected), _cause(pair, found), found.lost if reads else None)


def _cause(pair: _Pair, found: Edit) -> Cause:
    ago = span(pair.own.began - pair.before.began)
    return Cause(found.reason, f"the session before, begun {ago} ago, had another plan: {found.told}", found.line)


def _pair(step: Step, known: Known) -> _Pair | None:
    """Null where the prefix is none that is new, or the one before may be forgotten."""
    response = step.response
    if step.before is not None or response.kind != "main" or not response.prefix or response.context is None:
        return None
    own = known.began(response)
    line = known.lines.get(own.line, ()) if own else ()
    before = max((each for each in line if own and each.answered <= own.began), key=_place, default=None)
    if own is None or before is None or before.first.prefix == response.prefix or before.first.context is None:
        return None
    rules = step.serving.terms
    if rules is None:
        return None
    since = own.answered - (rules.seconds or own.answered)
    if before.began < since or any(since <= each.began < own.began for each in known.starts[response.prefix]):
        return None
    old, new = (known.prefixes.get(each.first.prefix or "") for each in (before, own))
    return None if old is None or new is None else _Pair(before, own, old, new)


def _place(start: Start) -> tuple[float, str]:
    return start.place


def _scale(pair: _Pair, known: Known) -> float | None:
    """Tokens of the backend for one that the build counts; null where that cannot be right."""
    plans = ((pair.before, pair.old), (pair.own, pair.new))
    found = [measure(standing_of(plan), known.alike(start)) for start, plan in plans]
    sizes = [each for each in found if each is not None]
    return min(sizes) if len(sizes) == len(found) and LEAST <= min(sizes) <= MOST else None
