"""The turn that runs in an ACP session: whose words its text is, and whether it said anything."""

from __future__ import annotations

from typing import Any


class Turn:
    """`open` counts the prompts that wait for their answer; `spoke`: the model said something.

    `cancelled`: we called the turn off.
    """

    def __init__(self) -> None:
        self.open = 0
        self._fresh()

    def began(self) -> None:
        """Another prompt; one that waits behind another does not begin a turn of its own before that has ended."""
        self.open += 1
        if self.open == 1:
            self._fresh()

    def ended(self) -> None:
        self.open = max(0, self.open - 1)
        self._fresh()

    @property
    def own_words(self) -> str:
        """What the CLI said by itself, each thing once."""
        return "\n".join(self._own)

    def said(self, text: str) -> None:
        """A piece of the model's answer."""
        self.spoke = True
        self._at_start = text.endswith("\n")

    def paused(self) -> None:
        """Something else came between two pieces of text."""
        self._at_start = True

    def is_own(self, text: str, message_id: Any, own_words: tuple[str, ...]) -> bool:
        """Whether a piece is the CLI's own: it begins as those do, at the beginning of a line, in no message."""
        own = bool(own_words) and self._at_start and message_id is None and text.startswith(own_words)
        if own:
            self._own[text.strip()] = None
        return own

    def _fresh(self) -> None:
        self.spoke = False
        self.cancelled = False
        self._own: dict[str, None] = {}
        self._at_start = True
