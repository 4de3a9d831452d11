"""Which segment of one prefix is which of another: pairs, what came, what went, and what moved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.rendered import Piece

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from agentmux_compiler.lowered import PrefixSegment


# `@AGENT` and `+PROVIDER` before the ending: what the text of a segment depends on.
_SUFFIX = re.compile(r"(?:@[^/@+]+)?(?:\+[^/@+]+)?(\.\w+)$")


@dataclass(frozen=True, slots=True)
class Pair:
    """One segment in both prefixes."""

    before: Piece
    after: Piece

    @property
    def start(self) -> int:
        """Where moving it first shows."""
        return min(self.before.start, self.after.start)

    @property
    def relocated(self) -> bool:
        """Whether it went to another layer."""
        return self.before.segment.layer != self.after.segment.layer


@dataclass(frozen=True, slots=True)
class Alignment:
    """`pairs` in the order of the later prefix.

    `moved` are the fewest that account for the new order, of our own text among itself and of the CLI's parts among
    all; `overtaken` are texts of ours that changed places with parts of the CLI's only.
    """

    pairs: tuple[Pair, ...]
    removed: tuple[Piece, ...]
    inserted: tuple[Piece, ...]
    moved: tuple[Pair, ...]
    overtaken: tuple[Pair, ...] = ()


def align(before: Sequence[Piece], after: Sequence[Piece]) -> Alignment:
    """Pair by name in a layer, by name, by source, then by text: what is left came or went."""
    found: dict[int, int] = {}
    for key in (_in_layer, _named, _sourced, _worded):
        _pair(before, after, key, found)
    pairs = {left: Pair(before[left], after[right]) for right, left in sorted(found.items())}
    gone = set(range(len(before))) - set(found.values())
    staying = {left: pair for left, pair in pairs.items() if not pair.relocated}
    own = _moved({left: pair for left, pair in staying.items() if not pair.after.segment.opaque})
    all_moved = _moved(staying)
    return Alignment(
        pairs=tuple(pairs.values()),
        removed=tuple(before[index] for index in sorted(gone)),
        inserted=tuple(piece for index, piece in enumerate(after) if index not in found),
        moved=(*own, *(pair for pair in all_moved if pair.after.segment.opaque)),
        overtaken=tuple(pair for pair in all_moved if not pair.after.segment.opaque and pair not in own),
    )


def _in_layer(segment: PrefixSegment) -> Hashable:
    return (segment.layer, segment.opaque, part_name(segment))


def _named(segment: PrefixSegment) -> Hashable:
    return (segment.opaque, part_name(segment))


def _sourced(segment: PrefixSegment) -> Hashable | None:
    """A text that begins to use a variable, or no longer does, is still the same source."""
    return None if segment.opaque else _SUFFIX.sub(r"\1", segment.name)


def _worded(segment: PrefixSegment) -> Hashable | None:
    """A segment under another name is the same if its text is."""
    return segment.text or None


def part_name(segment: PrefixSegment) -> str:
    """What stays the same over versions of the CLI: `tools` of `claude 2.1.332/tools`."""
    return _unversioned(segment.name) if segment.opaque else segment.name


@cache
def _unversioned(name: str) -> str:
    return name.partition("/")[2]


def _pair(
    before: Sequence[Piece],
    after: Sequence[Piece],
    key: Callable[[PrefixSegment], Hashable | None],
    found: dict[int, int],
) -> None:
    """Add to `found` (later index to earlier) the pairs of equal key, in order, of what is still single."""
    taken = set(found.values())
    waiting: dict[Hashable, list[int]] = {}
    for index, piece in enumerate(before):
        name = key(piece.segment)
        if index not in taken and name is not None:
            waiting.setdefault(name, []).append(index)
    for index, piece in enumerate(after):
        queue = waiting.get(key(piece.segment)) if index not in found else None
        if queue:
            found[index] = queue.pop(0)


def _moved(pairs: Mapping[int, Pair]) -> tuple[Pair, ...]:
    """`pairs` stand in their later order, by their former index."""
    rank = {left: place for place, left in enumerate(sorted(pairs))}
    listed = list(pairs.values())
    return tuple(listed[index] for index in moved([rank[left] for left in pairs]))


def moved(order: Sequence[int]) -> list[int]:
    """Indexes of the elements that moved, given each one's former place.

    Two elements that changed places are one move, of the one that stands first now. Otherwise all but a longest
    rising subsequence moved; of several the one that stands latest is kept, so that the move is named after what
    now stands where the texts part.
    """
    misplaced = [index for index, place in enumerate(order) if index != place]
    if len(misplaced) == 2:  # noqa: PLR2004  an exchange
        return misplaced[:1]
    kept = set(_longest_rising(order)) if misplaced else set(range(len(order)))
    return [index for index in range(len(order)) if index not in kept]


def _longest_rising(order: Sequence[int]) -> list[int]:
    longest = [1] * len(order)
    for index in reversed(range(len(order))):
        later = (longest[next_] for next_ in range(index + 1, len(order)) if order[next_] > order[index])
        longest[index] = 1 + max(later, default=0)
    kept: list[int] = []
    for length in range(max(longest, default=0), 0, -1):
        floor = order[kept[-1]] if kept else -1
        first = kept[-1] + 1 if kept else 0
        kept.append(max(i for i in range(first, len(order)) if longest[i] == length and order[i] > floor))
    return kept
