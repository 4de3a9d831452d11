"""A prefix as the text it becomes: runs of known text between opaque parts, every segment at its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.lowered import PrefixSegment

if TYPE_CHECKING:
    from collections.abc import Sequence

# An instruction file holds its sections with an empty line between them; no other text is separated.
SEPARATOR = "\n"
SECTIONS = ("agents/", "bundles/", "header.md")


@dataclass(frozen=True, slots=True)
class Piece:
    """One segment in place: `start` is its first byte in the prompt (`lead` included), `run` the run it stands in."""

    segment: PrefixSegment
    lead: str
    start: int
    size: int

    @property
    def end(self) -> int:
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class Rendered:
    """A whole prompt: `runs` of known text, one before, between and after the `opaque` parts."""

    pieces: tuple[Piece, ...]
    runs: tuple[str, ...]
    opaque: tuple[PrefixSegment, ...]

    @property
    def size(self) -> int:
        return self.pieces[-1].end if self.pieces else 0

    @property
    def own(self) -> str:
        return "".join(self.runs)


def render(segments: Sequence[PrefixSegment]) -> Rendered:
    """Put segments in place, one behind the other."""
    pieces: list[Piece] = []
    runs: list[list[str]] = [[]]
    opaque: list[PrefixSegment] = []
    start = 0
    for index, segment in enumerate(segments):
        text = segment.text
        lead = SEPARATOR if index and _separated(segments[index - 1], segment) else ""
        if text is None:
            opaque.append(segment)
            runs.append([])
            size = segment.size
        else:
            runs[-1] += [lead, text]
            size = len(lead) + octets(text)
        pieces.append(Piece(segment, lead, start, size))
        start += size
    return Rendered(tuple(pieces), tuple("".join(run) for run in runs), tuple(opaque))


def _separated(before: PrefixSegment, after: PrefixSegment) -> bool:
    places = {(item.layer, item.file) for item in (before, after)}
    return len(places) == 1 and before.name.startswith(SECTIONS) and after.name.startswith(SECTIONS)


def octets(text: str) -> int:
    """Bytes of `text` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def common_length(a: str, b: str) -> int:
    """Characters that two texts have in common from the start, found by halving."""
    low, high = 0, min(len(a), len(b)) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def common_octets(a: str, b: str) -> int:
    """Bytes in common from the start; the first bytes of two different characters may be equal."""
    length = common_length(a, b)
    left, right = (text[length : length + 1].encode("utf-8", "surrogatepass") for text in (a, b))
    shared = next((i for i, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]), 0)
    return octets(a[:length]) + shared
