"""A plan's prefix as one string of known text and opaque parts, comparable with that of any other plan."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowered import PlanPrefix
from agentmux_compiler.prefix.align import part_name
from agentmux_compiler.prefix.axes import FIELDS, MCP, SKILLS, changed_options
from agentmux_compiler.prefix.counters import Counter, counter_for
from agentmux_compiler.prefix.rendered import Piece, common_octets, octets, render

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from agentmux_compiler.lowered import PrefixSegment

TEXT, OPAQUE = 0, 1
Symbol = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Strand:
    """`symbols` tell it from others: runs of text, and names of opaque parts with all that changes them."""

    plan: PlanPrefix
    pieces: tuple[Piece, ...]
    symbols: tuple[Symbol, ...]
    sizes: tuple[int, ...]
    counter: Counter

    @property
    def size(self) -> int:
        return sum(self.sizes)

    @property
    def tokens(self) -> int:
        return self.tokens_to(self.size)

    def tokens_to(self, byte: int) -> int:
        """Tokens up to a byte, each segment counted by itself."""
        return sum(self._counted(piece, byte - piece.start) for piece in self.pieces if piece.start < byte)

    def at(self, byte: int) -> Piece | None:
        """What stands at a byte; None at the end."""
        return next((piece for piece in self.pieces if piece.start <= byte < piece.end), None)

    def names_between(self, start: int, end: int) -> tuple[str, ...]:
        """Names of the segments that end between two bytes; one that goes on behind them is not counted yet."""
        return tuple(piece.segment.name for piece in self.pieces if start < piece.end <= end)

    def source_of(self, piece: Piece, byte: int) -> Span | None:
        """The source line of a byte of known text."""
        body = piece.segment.body
        if body is None:
            return None
        before = _cut(body.text, max(0, byte - piece.start - len(piece.lead)))
        return Span(body.path, body.line(before.count("\n")))

    def _counted(self, piece: Piece, size: int) -> int:
        text = piece.segment.text
        if text is None:
            return self.counter.estimate(piece.size) if size >= piece.size else 0
        whole = piece.lead + text
        tokens = self.counter.count(whole)
        return tokens if size >= piece.size else min(tokens, self.counter.count(_cut(whole, size)))


def strand_of(plan: PlanPrefix, ignored: Collection[str] = ()) -> Strand:
    """The plan without parts that have no size, and those that its backend takes out before it hashes."""
    sent = [item for item in plan.segments if not item.opaque or (item.size and part_name(item) not in ignored)]
    pieces = render(sent).pieces
    symbols, sizes = [], []
    for opaque, group in groupby(pieces, key=lambda piece: piece.segment.opaque):
        run = tuple(group)
        if opaque:
            symbols += [(OPAQUE, repr(opaque_content(piece.segment, plan))) for piece in run]
            sizes += [piece.size for piece in run]
        elif text := "".join(piece.lead + (piece.segment.text or "") for piece in run):
            symbols.append((TEXT, text))
            sizes.append(octets(text))
    counter = counter_for(plan.vendor, plan.served_model)
    return Strand(plan, pieces, tuple(symbols), tuple(sizes), counter)


def common(a: Strand, b: Strand) -> int:
    """Bytes in common from the start."""
    pairs = zip(a.symbols, b.symbols, strict=False)
    equal = next((index for index, (left, right) in enumerate(pairs) if left != right), None)
    if equal is None:
        return min(a.size, b.size)
    (kind, left), (other, right) = a.symbols[equal], b.symbols[equal]
    inside = common_octets(left, right) if kind == other == TEXT else 0
    return sum(a.sizes[:equal]) + inside


def opaque_content(segment: PrefixSegment, plan: PlanPrefix) -> tuple[str, int, tuple[Any, ...]]:
    """What tells an opaque part from those of other plans: its name, its size, and the causes it varies with."""
    return segment.name, segment.size, tuple(_cause(axis, plan) for axis in segment.varies_with)


def _cause(axis: str, plan: PlanPrefix) -> Any:
    """What a plan has on an axis; what no plan knows of (the home, the date, the prompt) is one value for all."""
    if axis in FIELDS:
        return getattr(plan, FIELDS[axis])
    listed: Mapping[str, str] = {"mcp": MCP, "skills": SKILLS}
    if axis in listed:
        return sorted({(item.name, item.text) for item in plan.segments if item.name.startswith(listed[axis])})
    if axis == "tools":
        return sorted(item for item in changed_options(plan.argv, ()) if "tool" in item[0].lower())
    return axis in plan.elsewhere


def _cut(text: str, size: int) -> str:
    """The characters that stand whole in the first `size` bytes."""
    return text[:size] if text.isascii() else text.encode("utf-8", "surrogatepass")[:size].decode("utf-8", "ignore")
