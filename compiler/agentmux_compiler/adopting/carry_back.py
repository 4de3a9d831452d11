"""Carry a hand edit of an output back to the source lines that its text came from."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.adopting.source_lines import LineEdit, SourceLines, read_lines
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.lowered import OutputFile
from agentmux_compiler.writing.header import HEADER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_compiler.tree import Tree
    from agentmux_launcher.manifest import LineRun

TEMPLATE = ".md.j2"


@dataclass(frozen=True, slots=True)
class Place:
    """A source line (from 0) that an output's line stands in as it is, behind `indent` blanks."""

    path: str
    index: int
    indent: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Built lines `start` to `end` (from 0, end exclusive) give way to `lines`, which stand at `at` in the edited text.

    Between `above` and `below` the built text is unchanged but for this.
    """

    start: int
    end: int
    lines: tuple[str, ...]
    at: int
    above: int
    below: int


@dataclass(frozen=True, slots=True)
class Carried:
    """Changed sources by path, and what was not placed."""

    sources: Mapping[str, bytes]
    unplaced: tuple[Diagnostic, ...]


def carry_back(output: OutputFile, edited: str, tree: Tree) -> Carried:
    """Turn the difference between an output as it was built and as it stands into edits of its sources.

    A line is placed only where its source line is the very same text, so that no placeholder, template or folded
    scalar is ever changed by guess. Deleted blank lines that no source has are let pass: they join what is deleted.
    """
    built = _lines(output.content.decode())
    carrier = _Carrier(output, built, _sources(output, tree))
    for hunk in _hunks(built, _lines(edited)):
        carrier.carry(hunk)
    return Carried(carrier.result(), tuple(carrier.unplaced))


def normalised(data: bytes) -> str | None:
    """An edited output as text: no byte order mark, LF, one final newline; None where it is not UTF-8."""
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
    return text.rstrip("\n") + "\n"


@dataclass(frozen=True, slots=True)
class _Carrier:
    """Collects the edits of every source while hunks are placed one after the other."""

    output: OutputFile
    built: tuple[str, ...]
    sources: Mapping[str, SourceLines]
    edits: dict[str, list[LineEdit]] = field(default_factory=lambda: defaultdict(list))
    unplaced: list[Diagnostic] = field(default_factory=list)

    def carry(self, hunk: Hunk) -> None:
        if hunk.start == hunk.end:
            self._insert(hunk)
        elif not hunk.lines:
            self._delete(hunk)
        else:
            self._replace(hunk)

    def result(self) -> dict[str, bytes]:
        return {path: self.sources[path].edited(tuple(edits)) for path, edits in sorted(self.edits.items())}

    def _insert(self, hunk: Hunk) -> None:
        """Behind the text above where one of the equal readings allows it, else in front of the text below."""
        readings = _slid_insertions(hunk, self.built)
        for reading in readings:
            if after := self._anchor(reading.start - 1):
                self._edit(after.path, after.index + 1, after.index + 1, self._indented(after, reading.lines))
                return
        for reading in readings:
            if before := self._anchor(reading.start):
                self._edit(before.path, before.index, before.index, self._indented(before, reading.lines))
                return
        self._refuse(hunk, max(hunk.start - 1, 0))

    def _delete(self, hunk: Hunk) -> None:
        """Whichever of the equal readings has a source for each line, else the first without its joining blanks."""
        readings = [[self._anchor(index) for index in range(*reading)] for reading in _slid_deletions(hunk, self.built)]
        places = next((each for each in readings if all(each)), readings[0])
        for offset, place in enumerate(places):
            if place:
                self._edit(place.path, place.index, place.index + 1, ())
            elif self.built[hunk.start + offset]:
                self._refuse(hunk, hunk.start + offset)

    def _replace(self, hunk: Hunk) -> None:
        places = [self._place(index) for index in range(hunk.start, hunk.end)]
        first = places[0]
        if first and all(place and self._follows(first, place, offset) for offset, place in enumerate(places)):
            self._edit(first.path, first.index, first.index + len(places), self._indented(first, hunk.lines))
        elif len(places) == len(hunk.lines):
            for offset, (place, line) in enumerate(zip(places, hunk.lines, strict=True)):
                if place:
                    self._edit(place.path, place.index, place.index + 1, self._indented(place, (line,)))
                else:
                    self._refuse(replace(hunk, at=hunk.at + offset), hunk.start + offset)
        else:
            self._refuse(
                hunk, next((hunk.start + offset for offset, place in enumerate(places) if not place), hunk.start)
            )

    def _follows(self, first: Place, place: Place, offset: int) -> bool:
        return (place.path, place.index) == (first.path, first.index + offset)

    def _place(self, index: int) -> Place | None:
        """Where line `index` of the built text stands in a source, None where no source has it as it is."""
        for run, at in self._runs(index):
            source = self.sources.get(run.path)
            indent = source.indent_of(at, self.built[index]) if source else None
            if indent is not None and not run.path.endswith(TEMPLATE):
                return Place(run.path, at, indent)
        return None

    def _anchor(self, index: int) -> Place | None:
        """As `_place`; also a line with placeholders, which keeps its place while the lines around it change."""
        exact = self._place(index)
        if exact or not 0 <= index < len(self.built):
            return exact
        for run, at in self._runs(index):
            source = self.sources.get(run.path)
            if source and at < len(source.lines) and "{{" in source.lines[at] and not run.path.endswith(TEMPLATE):
                return Place(run.path, at, "")
        return None

    def _runs(self, index: int) -> Iterator[tuple[LineRun, int]]:
        """The run that line `index` of the built text belongs to, with its source line from 0."""
        for run in self.output.lines:
            if run.line <= index + 1 < run.line + run.count:
                yield run, run.source_line + index - run.line

    def _indented(self, place: Place, lines: Sequence[str]) -> tuple[str, ...]:
        indent = place.indent or self._indent_near(place)
        return tuple(indent + line if line else "" for line in lines)

    def _indent_near(self, place: Place) -> str:
        """The indent of the text around a line, which a blank line does not show."""
        spans = (
            self._place(run.line - 1 + offset)
            for run in self.output.lines
            if run.path == place.path and run.source_line - 1 <= place.index < run.source_line - 1 + run.count
            for offset in range(run.count)
            if self.built[run.line - 1 + offset]
        )
        return min((near.indent for near in spans if near), key=len, default="")

    def _edit(self, path: str, start: int, end: int, lines: tuple[str, ...]) -> None:
        self.edits[path].append(LineEdit(start, end, lines))

    def _refuse(self, hunk: Hunk, index: int) -> None:
        reason, remedy = self._reason(index)
        span = Span(self.output.path, hunk.at + 1)
        self.unplaced.append(rules.NOT_PLACED.at(span, f"this edit cannot be carried back: {reason}", help=remedy))

    def _reason(self, index: int) -> tuple[str, str | None]:
        """Why line `index` of the built text cannot be changed in a source."""
        if self.built[index] == HEADER:
            return "the header is the same in every output", "put the text below it"
        for run, at in self._runs(index):
            remedy = f"make the change at `{run.path}:{at + 1}`"
            return _source_reason(run.path, at, self.sources.get(run.path)), remedy
        return "the line comes from no source", "make the change in `agents.d/`, `bundles/` or `skills/`"


def _source_reason(path: str, line: int, source: SourceLines | None) -> str:
    if path.endswith(TEMPLATE):
        return f"`{path}` is a template"
    text = source.lines[line] if source and line < len(source.lines) else ""
    return f"`{path}` has a placeholder there" if "{{" in text else f"`{path}` has other text there"


def _sources(output: OutputFile, tree: Tree) -> dict[str, SourceLines]:
    read = {path: tree.read(path) for path in dict.fromkeys(run.path for run in output.lines)}
    parsed = {path: read_lines(data) for path, data in read.items() if data is not None}
    return {path: lines for path, lines in parsed.items() if lines}


def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.removesuffix("\n").split("\n"))


def _hunks(built: Sequence[str], edited: Sequence[str]) -> Iterator[Hunk]:
    matcher = SequenceMatcher(None, built, edited, autojunk=False)
    codes = matcher.get_opcodes()
    for number, (tag, start, end, at, until) in enumerate(codes):
        if tag != "equal":
            above = codes[number - 1][1] if number else start
            below = codes[number + 1][2] if number + 1 < len(codes) else end
            yield Hunk(start, end, tuple(edited[at:until]), at, above, below)


def _slid_insertions(hunk: Hunk, built: Sequence[str]) -> list[Hunk]:
    """Every way to read an insertion that gives the same text, the topmost first."""
    first, lines = hunk.start, deque(hunk.lines)
    while first > hunk.above and built[first - 1] == lines[-1]:
        first -= 1
        lines.rotate(1)
    readings = [replace(hunk, start=first, end=first, lines=tuple(lines))]
    while first < hunk.below and built[first] == lines[0]:
        first += 1
        lines.rotate(-1)
        readings.append(replace(hunk, start=first, end=first, lines=tuple(lines)))
    return readings


def _slid_deletions(hunk: Hunk, built: Sequence[str]) -> list[tuple[int, int]]:
    """Every way to read a deletion that gives the same text, the given one first: the lines that go."""
    readings = [(hunk.start, hunk.end)]
    start, end = hunk.start, hunk.end
    while start > hunk.above and built[start - 1] == built[end - 1]:
        start, end = start - 1, end - 1
        readings.append((start, end))
    start, end = hunk.start, hunk.end
    while end < hunk.below and built[start] == built[end]:
        start, end = start + 1, end + 1
        readings.append((start, end))
    return readings
