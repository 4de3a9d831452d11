"""The breaks of a session: what each call could have read, what it read, and the one reason for the difference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_usage.breaks import Break
from agentmux_usage.forensics.begun import begun_anew
from agentmux_usage.forensics.calls import Step, steps
from agentmux_usage.forensics.plans import edit
from agentmux_usage.forensics.reasons import Case, Cause, cause_of, lifetime_of
from agentmux_usage.forensics.serving import cost
from agentmux_usage.forensics.together import beside, shared, under_way
from agentmux_usage.forensics.words import tokens

if TYPE_CHECKING:
    from agentmux_usage.forensics.known import Known
    from agentmux_usage.response import Session

# So many times what was foretold is beyond the errors of what was foretold.
FAR = 1.5


def find_breaks(session: Session, known: Known) -> tuple[Break, ...]:
    """The calls that read less from the cache than was stored, in their order.

    What a cache holds for a call is what the call before it read and wrote; of a backend that does not report writes,
    all of that prompt, rounded down to its step. It is never more than the call's own prompt. A shortfall within the
    step says nothing. The agent's own calls and those of each sub-agent are followed apart; the first call of a
    sub-agent is held against the agent's own call before it.
    """
    found: list[Break] = []
    firsts: list[Step] = []
    for step in steps(session, known):
        broken = _break(step, firsts, known) if step.before else _first(step, known)
        if broken is not None:
            found.append(broken)
        firsts = under_way(firsts, step)
    return tuple(found)


def _break(step: Step, firsts: list[Step], known: Known) -> Break | None:
    if step.short_at_most <= step.serving.step or step.expected is None or step.lost <= step.serving.step:
        return None
    changed = edit(step, known)
    cause = beside(step, firsts) or cause_of(Case(step, changed))
    predicted = changed.predicted(step.expected) if changed and cause.planned else None
    return _told(step, step.expected, _weighed(cause, step, predicted), predicted)


def _weighed(cause: Cause, step: Step, predicted: int | None) -> Cause:
    """A cause that was to lose far less than was lost says so: it is not all of the reason."""
    if not predicted or step.lost <= predicted * FAR + step.serving.step:
        return cause
    more = f"; that was to lose {tokens(predicted)}, and nothing that was sent explains the others"
    return replace(cause, evidence=cause.evidence + more)


def _first(step: Step, known: Known) -> Break | None:
    """The first call of a session that ran into another one's, or that an edit had made begin otherwise."""
    read, prompt = step.response.tokens.cache_read, step.response.context
    if read is None or prompt is None:
        return None
    found = shared(step, known) or begun_anew(step, known)
    if found is None:
        return None
    expected = min(found.expected, prompt)
    return _told(step, expected, found.cause, found.predicted) if expected - read > step.serving.step else None


def _told(step: Step, expected: int, cause: Cause, predicted: int | None) -> Break:
    response = step.response
    observed = response.tokens.cache_read or 0
    lost = expected - observed
    return Break(
        session_id=response.session_id,
        provider=response.provider,
        turn=response.turn,
        call=step.number,
        time=response.time,
        expected=expected,
        observed=observed,
        lost=lost,
        reason=cause.reason,
        evidence=cause.evidence,
        usd=cost(response, lost, lifetime_of(step)),
        line=cause.line,
        predicted=predicted,
        message_id=response.message_id,
    )
