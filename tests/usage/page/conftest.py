"""Sessions, breaks and reports, made by hand."""

from __future__ import annotations

import pytest

from agentmux_launcher.usage import Tokens
from agentmux_usage.breaks import Break, Line, Reason
from agentmux_usage.measures import Measures, Report, Row
from agentmux_usage.response import Response, Session

NOON = 1_780_315_200.0  # 2026-06-01 12:00 UTC


@pytest.fixture
def response():
    """Make one of Claude; `at` is in seconds since noon."""

    def make(at=0, *, read=0, wrote=0, uncached=10, output=20, session="one", **more) -> Response:  # noqa: PLR0913
        known = {"provider": "claude", "model": "claude-opus-4-5", "turn": 1, "agent": "reviewer"} | more
        return Response(session_id=session, time=NOON + at, tokens=Tokens(uncached, read, wrote, 0, output), **known)

    return make


@pytest.fixture
def found():
    """Make a break; `at` is in seconds since noon."""

    def make(at=0, *, expected=1000, observed=0, session="one", call=1, reason=Reason.SERVER, **more) -> Break:  # noqa: PLR0913
        known = {"provider": "claude", "turn": 1, "evidence": "no other change was seen"} | more
        return Break(
            session_id=session,
            call=call,
            time=NOON + at,
            expected=expected,
            observed=observed,
            lost=expected - observed,
            reason=reason,
            **known,
        )

    return make


def measures(responses) -> Measures:
    """The sums; all that no test looks at is not known."""
    tokens = [response.tokens for response in responses]
    read, wrote = sum(each.cache_read for each in tokens), sum(each.cache_write for each in tokens)
    uncached, output = sum(each.input for each in tokens), sum(each.output for each in tokens)
    prefill = read + wrote + uncached
    return Measures(
        turns=sum(response.kind == "main" for response in responses),
        prompts=len({response.turn for response in responses}),
        context_start=tokens[0].prompt if tokens else None,
        session_size=None,
        added=None,
        cumulative_prefill=prefill,
        prefill_ratio=None,
        cache_read=read,
        cache_write=wrote,
        uncached=uncached,
        cache_hit_pct=100 * read / prefill if prefill else None,
        output=output,
        usd=1.5,
        seconds_cached=264.0,
        seconds_uncached=None,
    )


@pytest.fixture
def report():
    """Make a report by session."""

    def row(session, breaks) -> Row:
        first, last = session.responses[0], session.responses[-1]
        own = tuple(found for found in breaks if found.session_id == session.session_id)
        own = tuple(found for found in own if found.provider == session.provider)
        sums = measures(session.responses)
        return Row(session.session_id, first.agent, session.provider, first.model, first.time, last.time, sums, own)

    def make(sessions, breaks=()) -> Report:
        return Report(
            by="session",
            rows=tuple(row(session, breaks) for session in sessions if session.responses),
            total=measures([response for session in sessions for response in session.responses]),
            zone="UTC",
            since=NOON - 86_400,
            until=None,
            prefill_rate=6200.0,
            decode_rate=68.0,
            price_as_of="2026-05-30",
            sources=("the <ledger>",),
            notes=("a <torn> line",),
        )

    return make


@pytest.fixture
def broken_session(response, found):
    """A session of 12 calls in 3 turns of which the fifth and the ninth broke, and its breaks."""
    calls = [
        response(
            index * 60,
            read=0 if index in {0, 4} else 1000 * index,
            wrote=1000 * (index + 1) if index in {0, 4} else 1000,
            turn=1 + index // 4,
            message_id=f"message-{index}",
        )
        for index in range(12)
    ]
    breaks = (
        found(
            240,
            call=5,
            turn=2,
            expected=4000,
            reason=Reason.INSTRUCTIONS,
            message_id="message-4",
            line=Line("bundles/style.md", 7),
            predicted=3900,
            usd=0.018,
            evidence="line 7 was <edited> between two builds",
        ),
        found(480, call=9, turn=3, expected=8500, observed=8000, message_id="message-8"),
    )
    return Session("claude", "one", tuple(calls)), breaks
