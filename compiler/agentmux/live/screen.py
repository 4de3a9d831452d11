"""The terminal below a run: what is finished flows into its scrollback, and a few rows under it come and go.

The cursor rests behind the finished text. So all that is ever erased lies behind it, also after the terminal was
resized, and a long line is the terminal's to fold: what is copied is what was written.
"""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

from rich.console import Console

from agentmux.live.column import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.text import Text

    from agentmux.streams import Stream

ERASE_BELOW = "\x1b[J"
DOWN = "\x1bD"  # one row, scrolling at the last; the column stays
SAVE, RESTORE = "\x1b7", "\x1b8"
NEXT_ROW = "\r\n"
CUT, FOLD = "\x1b[?7l", "\x1b[?7h"  # a terminal that just became narrower cuts the rows off; folded they would scroll
USUAL = (80, 24)
LOWEST = 4  # rows of a terminal in which there is place for more than text


class Screen:
    """Collects what is finished; `draw` writes it, and the rows below, at once."""

    def __init__(self, out: Stream, size: Callable[[], tuple[int, int]] | None = None) -> None:
        self._out = out
        self._size = size or (lambda: size_of(out))
        self._console = Console(
            file=io.StringIO(),  # what is rendered is captured
            force_terminal=True,
            color_system="standard" if out.color else None,
            no_color=False,
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
        )
        self._waiting: list[str] = []
        self._below = ""
        self._prompt = ""
        self._gone = False
        width, self._height = self._size()
        self._column = Column(width)

    @property
    def width(self) -> int:
        """Cells in a row, now."""
        width, self._height = self._size()
        if width != self._column.width:
            self._column.resize(width)
        return width

    def text(self, text: str) -> None:
        """Text that goes on where the last ended; nothing in it drives a terminal."""
        if text:
            self._leave_prompt()
            self._waiting.append(text)
            self._column.write(text)

    def line(self, line: Text) -> None:
        """A line of its own."""
        self.end_line()
        self._leave_prompt()
        self._waiting.append(self._rendered(line) + "\n")

    def end_line(self) -> None:
        if self._column.open:
            self._waiting.append("\n")
            self._column.end()

    def prompt(self, prompt: str) -> None:
        """Let a person write behind `prompt`; nothing stands below until they have."""
        if self._prompt and not self._waiting:
            return
        self._prompt = ""
        self.draw([])
        self._prompt = prompt
        self._write(prompt)

    def answered(self, *, line: bool) -> None:
        """The person wrote something; the terminal showed its end too, if it was a whole `line`."""
        if self._prompt and bool(self._waiting) == line:
            self._waiting = self._waiting[1:] if line else ["\n"]
        self._prompt = ""

    def draw(self, rows: Sequence[Text]) -> None:
        """Write what is finished and put `rows` below; nothing is written where nothing changed."""
        below = self._placed(rows) if not self._prompt and self._has_room(rows) else ""
        if not self._waiting and below == self._below:
            return
        parts = [ERASE_BELOW] if self._below else []
        parts += [*self._waiting, self._prompt, below]
        self._waiting, self._below = [], below
        self._write("".join(parts))

    def _leave_prompt(self) -> None:
        """What comes while a person writes stands above a prompt that is written anew."""
        if self._prompt and not self._waiting:
            self._waiting.append("\n")

    def _has_room(self, rows: Sequence[Text]) -> bool:
        return bool(rows) and self.width > 0 and self._column.safe and self._height >= LOWEST

    def _placed(self, rows: Sequence[Text]) -> str:
        """The rows from the first free one on; the cursor ends where it began."""
        open_line = self._column.open
        needed = len(rows) - (0 if open_line else 1)
        room = f"{DOWN * needed}\x1b[{needed}A" if needed else ""
        texts = ([""] if open_line else []) + [self._rendered(row) for row in rows]
        return f"{room}{SAVE}{CUT}{NEXT_ROW.join(texts)}{RESTORE}{FOLD}"

    def _rendered(self, line: Text) -> str:
        with self._console.capture() as captured:
            self._console.print(line, soft_wrap=True, end="")
        return captured.get()

    def _write(self, text: str) -> None:
        """A terminal that went away shows nothing more; the run goes on to its end."""
        try:
            if not self._gone:
                self._out.write(text)
        except OSError:
            self._gone = True


def size_of(out: Stream) -> tuple[int, int]:
    """Columns and rows of a terminal; one that does not know has the usual ones."""
    try:
        width, height = os.get_terminal_size(out.file.fileno())
    except (OSError, ValueError):
        return USUAL
    return width or USUAL[0], height or USUAL[1]
