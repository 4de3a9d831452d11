"""How each of the four wires answers, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_launcher.recorder.wires import anthropic, chat, gemini, responses

if TYPE_CHECKING:
    from agentmux_launcher.recorder.wire import Wire
    from agentmux_launcher.recorder.wires.reply import Speech

SPEECHES: dict[Wire, Speech] = {
    "anthropic": anthropic.SPEECH,
    "responses": responses.SPEECH,
    "chat": chat.SPEECH,
    "gemini": gemini.SPEECH,
}
