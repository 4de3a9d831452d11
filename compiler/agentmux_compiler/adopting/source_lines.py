"""The lines of a source as they stand on disk, to change some and leave every other byte as it is."""

from __future__ import annotations

from dataclasses import dataclass

_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class LineEdit:
    """Lines `start` to `end` (from 0, end exclusive) give way to `lines`; an insertion has `start` equal to `end`."""

    start: int
    end: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceLines:
    """A decoded source: its lines without their ends, the end it uses, and whether a byte order mark stands before."""

    lines: tuple[str, ...]
    ends: tuple[str, ...]
    marked: bool

    def indent_of(self, index: int, text: str) -> str | None:
        """The blanks in front of `text` in a line, None where the line is not blanks and this text."""
        if not 0 <= index < len(self.lines):
            return None
        line = self.lines[index]
        before = line.removesuffix(text) if text else line
        return before if len(before) + len(text) == len(line) and not before.strip(" ") else None

    def edited(self, edits: tuple[LineEdit, ...]) -> bytes:
        """The source's bytes after edits that do not overlap."""
        lines, ends = list(self.lines), list(self.ends)
        usual = "\r\n" if "\r\n" in self.ends else "\n"
        for edit in sorted(edits, key=lambda item: (item.start, item.end), reverse=True):
            lines[edit.start : edit.end] = edit.lines
            ends[edit.start : edit.end] = [usual] * len(edit.lines)
        if len(lines) > 1:
            ends = [end or usual for end in ends[:-1]] + ends[-1:]
        body = "".join(line + end for line, end in zip(lines, ends, strict=True))
        return ((_MARK if self.marked else "") + body).encode()


def read_lines(data: bytes) -> SourceLines | None:
    """Lines of a source in UTF-8, None for any other."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    marked = text.startswith(_MARK)
    rows = text.removeprefix(_MARK).split("\n")
    ended, last = rows[:-1], rows[-1]
    lines = [row.removesuffix("\r") for row in ended]
    ends = ["\r\n" if row.endswith("\r") else "\n" for row in ended]
    return SourceLines((*lines, last), (*ends, ""), marked)
