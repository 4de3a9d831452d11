"""What an agent plays again when it goes on with a session: no news, though it looks the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# What the history of a session is made of.
PLAYED = {
    "agent_message_chunk",
    "agent_thought_chunk",
    "compaction_update",
    "plan",
    "tool_call",
    "tool_call_update",
    "user_message_chunk",
}


class History:
    """A history ends where we say something. `playing`: until then all that is of this kind belongs to it.

    Gemini plays it after it has said that the session is loaded, and its commands come after that. So in the turn that
    follows, what the user seems to say first, and all behind it, waits until one of them is known.
    """

    def __init__(self) -> None:
        self.playing = False
        self._waiting: list[Mapping[str, Any]] | None = None

    def prompted(self) -> None:
        """What follows is news, but for what is late."""
        self._waiting = [] if self.playing else None
        self.playing = False

    def holds(self, kind: str, update: Mapping[str, Any]) -> bool:
        """Whether this is history, or may be."""
        if kind not in PLAYED or self.playing or self._waiting is None:
            return self.playing and kind in PLAYED
        if not self._waiting and kind != "user_message_chunk":
            self._waiting = None
            return False
        self._waiting.append(update)
        return True

    def over(self) -> None:
        """What waited was history."""
        self._waiting = None

    def news(self) -> list[Mapping[str, Any]]:
        """What waited and was none."""
        waiting, self._waiting = self._waiting or [], None
        return waiting
