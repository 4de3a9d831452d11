"""Where a terminal's cursor stands in a line that is still being written, as far as that can be known."""

from __future__ import annotations

import unicodedata

TAB = 8
# Terminals disagree on how wide these are: marks, joiners, symbols such as emoji.
_UNCERTAIN = {"Mn", "Me", "Mc", "Cf", "So", "Sk", "Cs", "Co", "Cn"}


class Column:
    """Follows text through lines of `width` cells. `open`: the line has no end yet."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.end()

    @property
    def safe(self) -> bool:
        """Whether the cursor surely stands behind the last character, not on it as at the end of a full row."""
        return not self.open or (self._known and self._at < self.width)

    def end(self) -> None:
        self.open, self._at, self._folded, self._exact, self._known = False, 0, False, True, True

    def write(self, text: str) -> None:
        """Text without any control but line feeds and tabs."""
        _, feed, rest = text.rpartition("\n")
        if feed:
            self.end()
        self.open = self.open or bool(rest)
        if self._known and rest:
            self._plain(len(rest)) if rest.isascii() and "\t" not in rest else self._each(rest)
            self._known = self._exact or (not self._folded and self._at < self.width)

    def resize(self, width: int) -> None:
        """Nobody knows where a row that was full goes: some terminals fold it anew, others cut it off."""
        if self._folded or self._at >= min(width, self.width):
            self._known = not self.open
        self.width = width

    def _plain(self, cells: int) -> None:
        at = self._at + cells
        self._folded = self._folded or at > self.width
        self._at = (at - 1) % self.width + 1

    def _each(self, text: str) -> None:
        for character in text:
            if character == "\t":
                self._at = max(self._at, min((self._at // TAB + 1) * TAB, self.width - 1))
            else:
                self._one(character)

    def _one(self, character: str) -> None:
        """What terminals disagree on is counted as wide."""
        certain = unicodedata.category(character) not in _UNCERTAIN
        self._exact = self._exact and certain
        cells = 1 if certain and unicodedata.east_asian_width(character) not in {"W", "F"} else 2
        if self._at + cells > self.width:
            self._folded, self._at = True, 0
        self._at += cells
