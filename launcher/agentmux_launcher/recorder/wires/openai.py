"""What OpenAI's two wires share: how an error is worded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux_launcher.recorder.failures import FAILURES

if TYPE_CHECKING:
    from agentmux_launcher.recorder.answers import Failure
    from agentmux_launcher.recorder.wires.reply import Ask


def error(failure: Failure, ask: Ask) -> tuple[int, dict[str, Any]]:
    words = FAILURES[failure.kind].openai
    message = failure.message or words.message.format(model=ask.model)
    return failure.status or words.status, {
        "error": {"message": message, "type": words.type, "param": None, "code": words.code}
    }
