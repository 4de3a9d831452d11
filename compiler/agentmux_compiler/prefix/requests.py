"""A plan's prefix as the request its backend hashes: content blocks with sections, tokens and breakpoints."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from agentmux_compiler.lowered import PrefixSegment
from agentmux_compiler.prefix.align import part_name
from agentmux_compiler.prefix.rendered import common_length, render
from agentmux_compiler.prefix.reuse import Block, Match, Request

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.prefix.counters import Counter


@dataclass(frozen=True, slots=True)
class Marks:
    """Names of the CLI's own parts, without version: at whose end it sets a breakpoint, and what a prompt changes."""

    breakpoints: frozenset[str]
    varies: frozenset[str]


@dataclass(frozen=True, slots=True)
class Cell:
    """A segment as it is hashed; `content` is its text, or what tells an opaque part from another."""

    segment: PrefixSegment
    content: object
    tokens: int

    @property
    def text(self) -> str | None:
        return self.content if isinstance(self.content, str) else None


@dataclass(frozen=True, slots=True)
class Entry:
    """Neighbouring texts as one, since a request does not show where they meet; or one opaque part."""

    content: object
    cells: tuple[Cell, ...]

    @property
    def tokens(self) -> int:
        return sum(cell.tokens for cell in self.cells)

    def counted(self, characters: int, counter: Counter) -> int:
        """Tokens of the first `characters` characters, never more than there are."""
        total = 0
        for cell in self.cells:
            if characters <= 0 or cell.text is None:
                break
            total += min(cell.tokens, counter.count(cell.text[:characters]))
            characters -= len(cell.text)
        return total


@dataclass(frozen=True, slots=True)
class Laid:
    """A request in three views: cell by cell, as content blocks, and with neighbouring texts as one."""

    cells: tuple[Cell, ...]
    request: Request
    entries: tuple[Entry, ...]


def marks_of(segments: Iterable[PrefixSegment]) -> Marks:
    """The marks of a plan that was just laid out."""
    opaque = [item for item in segments if item.opaque]
    return Marks(
        frozenset(part_name(item) for item in opaque if item.breakpoint),
        frozenset(part_name(item) for item in opaque if "prompt" in item.varies_with),
    )


def cells_of(
    plan: PlanPrefix, counter: Counter, ignored: Collection[str], changed: frozenset[str] = frozenset()
) -> tuple[Cell, ...]:
    """The plan's segments without what the backend takes out.

    `changed` are the fields of the launch that differ from another plan's: a part that varies with them is another.
    """
    cells = []
    for piece in render(plan.segments).pieces:
        segment, text = piece.segment, piece.segment.text
        if text is not None:
            cells.append(Cell(segment, piece.lead + text, counter.count(piece.lead + text)))
        elif part_name(segment) not in ignored:
            other = bool(changed & set(segment.varies_with))
            cells.append(Cell(segment, (segment.name, segment.size, other), counter.estimate(segment.size)))
    return tuple(cells)


def lay(cells: tuple[Cell, ...], marks: Marks) -> Laid:
    return Laid(cells, request_of(cells, marks), joined(cells))


def request_of(cells: Sequence[Cell], marks: Marks) -> Request:
    """Neighbours of one layer are one content block, up to a breakpoint or around what the prompt changes."""
    layout = zip(cells, sections(cells), strict=True)
    keys, closed = [], 0
    for cell, section in layout:
        varies = _named(cell, marks.varies)
        keys.append((closed, cell.segment.layer, section, varies))
        closed += _named(cell, marks.breakpoints)
    groups = groupby(zip(keys, cells, strict=True), key=lambda item: item[0])
    return Request(tuple(_block([cell for _, cell in group], key[2], key[3], marks) for key, group in groups))


def _block(cells: Sequence[Cell], section: str, varies: bool, marks: Marks) -> Block:
    content = tuple(entry.content for entry in joined(cells))
    tokens = sum(cell.tokens for cell in cells)
    return Block(section, tokens, content, breakpoint=_named(cells[-1], marks.breakpoints), varies=varies)


def _named(cell: Cell, names: frozenset[str]) -> bool:
    return cell.segment.opaque and part_name(cell.segment) in names


def sections(cells: Sequence[Cell]) -> tuple[str, ...]:
    """The section of each: tools by layer, system up to the last part of that layer, messages behind it."""
    layers = [cell.segment.layer for cell in cells]
    last = max((i for i, layer in enumerate(layers) if layer == "system"), default=-1)
    return tuple(
        "tools" if layer == "tools" else "system" if i <= last else "messages" for i, layer in enumerate(layers)
    )


def joined(cells: Sequence[Cell]) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    for texts, group in groupby(cells, key=lambda cell: cell.text is not None):
        run = tuple(group)
        if texts:
            entries.append(Entry("".join(cell.text or "" for cell in run), run))
        else:
            entries += [Entry(cell.content, (cell,)) for cell in run]
    return tuple(entries)


def agreement(written: Laid, asked: Laid, counter: Counter) -> Match:
    """Whole blocks in common, and the tokens beyond them up to the divergence, wherever blocks end."""
    left, right = ([block.content for block in each.request.blocks] for each in (written, asked))
    blocks = _equal(left, right)
    beyond = _shared(written.entries, asked.entries, counter) - Match(blocks).tokens(written.request)
    return Match(blocks, max(0, beyond))


def _equal(left: Sequence[object], right: Sequence[object]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(left), len(right)))


def _shared(left: Sequence[Entry], right: Sequence[Entry], counter: Counter) -> int:
    """Tokens, as counted in `left`, up to the first difference."""
    equal = _equal([entry.content for entry in left], [entry.content for entry in right])
    tokens = sum(entry.tokens for entry in left[:equal])
    if equal in {len(left), len(right)}:
        return tokens
    old, new = left[equal].content, right[equal].content
    if isinstance(old, str) and isinstance(new, str):
        tokens += left[equal].counted(common_length(old, new), counter)
    return tokens
