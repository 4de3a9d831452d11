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

    Gemini 0.61.0 plays it after it has said that the session is loaded, also while the next prompt comes in, and its
    commands come after that. So where some of it came that late, or where a turn begins with words of the user's, all
    waits until the commands come, and was history; or until the turn ends, and was none.
    """

    def __init__(self) -> None:
        self.playing = self._loaded = self._late = False
        self._waiting: list[Mapping[str, Any]] | None = None

    def asked(self, *, playing: bool) -> None:
        """A session is asked for; `playing`: with its history."""
        self.playing, self._loaded, self._late = playing, False, False

    def loaded(self) -> None:
        """The agent says that it has played it."""
        self._loaded = self.playing

    def prompted(self) -> None:
        """What follows is news, but for what is late."""
        self._waiting = [] if self.playing else None
        self.playing = False

    def holds(self, kind: str, update: Mapping[str, Any]) -> bool:
        """Whether this is history, or may be."""
        if kind not in PLAYED:
            return False
        if self.playing:
            self._late = self._late or self._loaded
            return True
        if self._waiting is None:
            return False
        if not self._waiting and not self._late and kind != "user_message_chunk":
            self._waiting = None
            return False
        self._waiting.append(update)
        return True

    def over(self) -> None:
        """What waited was history."""
        self._waiting, self._late = None, False

    def news(self) -> list[Mapping[str, Any]]:
        """What waited and was none."""
        waiting, self._waiting = self._waiting or [], None
        return waiting
