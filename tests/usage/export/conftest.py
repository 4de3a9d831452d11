"""Sessions and breaks, made by hand."""

from __future__ import annotations

import pytest

from agentmux_launcher.usage import Tokens
from agentmux_usage.breaks import Break, Line, Reason
from agentmux_usage.response import Response, Session

NOON = 1_780_315_200.0  # 2026-06-01 12:00 UTC


@pytest.fixture
def session():
    """Two turns of the agent with a sub-agent's call between them, and one whose figures are not known."""

    def response(at, tokens, **more) -> Response:
        known = {"model": "claude-opus-4-5", "agent": "reviewer", "turn": 1} | more
        return Response("claude", "it's \N{SNOWMAN}", NOON + at, tokens, **known)

    return Session(
        "claude",
        "it's \N{SNOWMAN}",
        (
            response(0, Tokens(10, 0, 5000, 100, 200, 50), message_id="m1", request_id="r1", effort="high"),
            response(
                2.25, Tokens(2000, 0, 0, 0, 30), kind="subagent", thread="a1", model="claude-haiku-4-5", message_id="s1"
            ),
            response(60.5, Tokens(7, 5100, 900, 0, 40), turn=2, message_id="m2", usd=0.125, run_id="20260601-1"),
            response(61, Tokens(output=3), turn=2),
        ),
    )


@pytest.fixture
def breaks(session):
    return (
        Break(
            session_id=session.session_id,
            provider="claude",
            turn=2,
            call=3,
            time=NOON + 60.5,
            expected=5110,
            observed=5100,
            lost=10,
            reason=Reason.INSTRUCTIONS,
            evidence="line 7 of `bundles/style.md` was edited",
            usd=0.00005,
            line=Line("bundles/style.md", 7),
            predicted=12,
            message_id="m2",
        ),
    )
