"""A call beside the conversation is of the turn that was under way, unless it knows its own."""

from __future__ import annotations

from agentmux_launcher.usage import Tokens
from agentmux_usage.response import Response
from agentmux_usage.turns import placed


def call(time, turn, kind="main"):
    return Response("claude", "s", time, Tokens(), turn=turn, kind=kind)


def test_calls_beside_the_conversation_are_placed():
    first, beside, second, side, known = (
        call(1.0, 1),
        call(2.0, 0, "subagent"),
        call(3.0, 2),
        call(4.0, 0, "side"),
        call(5.0, 1, "side"),
    )

    assert placed([call(0.5, 0, "side"), first, beside, second, side, known]) == (
        call(0.5, 0, "side"),
        first,
        call(2.0, 1, "subagent"),
        second,
        call(4.0, 2, "side"),
        known,
    )
