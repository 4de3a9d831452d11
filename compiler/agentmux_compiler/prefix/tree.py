"""Which plans share which prefix: for each cache, a radix tree over the bytes that its backend sees."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.axes import AXES
from agentmux_compiler.prefix.backends import load_backend
from agentmux_compiler.prefix.events import compare
from agentmux_compiler.prefix.models import matches, model_id
from agentmux_compiler.prefix.strand import Strand, common, strand_of
from agentmux_compiler.tree import byte_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_compiler.diagnostics import Span
    from agentmux_compiler.lowered import PlanPrefix


@dataclass(frozen=True, slots=True)
class Identity:
    """What a cache is asked under; `effort` is None where it keys nothing."""

    vendor: str
    backend: str
    model: str | None
    effort: str | None


@dataclass(frozen=True, slots=True)
class Parting:
    """The first thing that a branch has for itself: `path` and `line` are what in the sources puts it there."""

    layer: str
    segment: str
    path: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Node:
    """A prefix that all plans below have in common: `bytes` and `tokens` are counted from the start of the prompt.

    `ends` are the plans whose prompt is this prefix and no more, `parting` is what parts it from its siblings (None
    at the root), `segments` what stands between it and its parent. Where plans end and where nodes branch, there is a
    node, and nowhere else.
    """

    bytes: int
    tokens: int
    parting: Parting | None
    segments: tuple[str, ...]
    ends: tuple[str, ...]
    children: tuple[Node, ...]

    @property
    def plans(self) -> tuple[str, ...]:
        """Every plan at or below this node, in byte order."""
        return tuple(sorted((*self.ends, *(key for child in self.children for key in child.plans)), key=byte_order))


@dataclass(frozen=True, slots=True)
class Shared:
    """The plans of one cache: what they are made of, and what is left of that when shared prefixes count once."""

    identity: Identity
    root: Node
    strands: tuple[Strand, ...]

    @property
    def tokens_total(self) -> int:
        return sum(strand.tokens for strand in self.strands)

    @property
    def bytes_total(self) -> int:
        return sum(strand.size for strand in self.strands)

    @property
    def tokens_distinct(self) -> int:
        return sum(max(0, node.tokens - above) for node, above in _edges(self.root, "tokens"))

    @property
    def bytes_distinct(self) -> int:
        return sum(node.bytes - above for node, above in _edges(self.root, "bytes"))


@dataclass(slots=True)
class _Open:
    """A node while its strands are still being found."""

    depth: int
    strands: list[Strand] = field(default_factory=list)
    children: list[_Open] = field(default_factory=list)

    @property
    def first(self) -> Strand:
        return self.strands[0] if self.strands else self.children[0].first


def forest(plans: Iterable[PlanPrefix]) -> tuple[Shared, ...]:
    """A tree for each cache, the caches with most plans first."""
    groups: dict[Identity, list[Strand]] = {}
    for plan in plans:
        groups.setdefault(identity_of(plan), []).append(strand_of(plan, _ignored(plan)))
    shared = [Shared(identity, grown(strands), _by_key(strands)) for identity, strands in groups.items()]
    return tuple(sorted(shared, key=lambda each: (-len(each.strands), byte_order(repr(each.identity)))))


def identity_of(plan: PlanPrefix) -> Identity:
    """The cache of a plan. An effort of which nobody knows what it does is held to key it."""
    model = model_id(plan.vendor, plan.served_model)
    return Identity(plan.vendor, plan.backend, model, plan.effort if _keys(plan, model) else None)


def _keys(plan: PlanPrefix, model: str | None) -> bool:
    backend = load_backend(plan.backend)
    rows = backend.effort.rows if backend else ()
    effect = next((row.effect for row in rows if matches(model, row.models)), None)
    return effect is None or {effect.tools, effect.system, effect.messages} != {"kept"}


def _ignored(plan: PlanPrefix) -> tuple[str, ...]:
    backend = load_backend(plan.backend)
    return backend.ignored.segments if backend else ()


def _by_key(strands: Iterable[Strand]) -> tuple[Strand, ...]:
    return tuple(sorted(strands, key=lambda strand: byte_order(strand.plan.key)))


def grown(strands: Sequence[Strand]) -> Node:
    """The tree of some plans. In sorted order, neighbours have the longest prefixes in common.

    Raises:
        IndexError: there are none.
    """
    ordered = sorted(_by_key(strands), key=lambda strand: strand.symbols)
    path = [_Open(0)]
    for strand, depth in zip(ordered, [0, *(common(a, b) for a, b in pairwise(ordered))], strict=True):
        _close(path, depth)
        if path[-1].depth < strand.size:
            path.append(_Open(strand.size))
        path[-1].strands.append(strand)
    _close(path, 0)
    root = path[0]
    top = root.children[0] if not root.strands and len(root.children) == 1 else root
    return _node(top, None, 0)


def _close(path: list[_Open], depth: int) -> None:
    """Hang every node deeper than `depth` below one that is not, which is made if need be."""
    while path[-1].depth > depth:
        closed = path.pop()
        if path[-1].depth < depth:
            path.append(_Open(depth))
        path[-1].children.append(closed)


def _node(made: _Open, parting: Parting | None, above: int) -> Node:
    strand = made.first
    children = [_node(child, _parting(child, made), made.depth) for child in made.children]
    return Node(
        bytes=made.depth,
        tokens=strand.tokens_to(made.depth),
        parting=parting,
        segments=strand.names_between(above, made.depth),
        ends=tuple(sorted((each.plan.key for each in made.strands), key=byte_order)),
        children=tuple(sorted(children, key=lambda child: (-len(child.plans), byte_order(child.plans[0])))),
    )


def _parting(child: _Open, parent: _Open) -> Parting | None:
    strand = child.first
    piece = strand.at(parent.depth)
    if piece is None:
        return None
    other = next((each.first for each in parent.children if each is not child), parent.first)
    span = _span(strand, other, parent.depth)
    segment = piece.segment
    return Parting(segment.layer, segment.name, span.path if span else None, span.line if span else None)


def _span(strand: Strand, other: Strand, byte: int) -> Span | None:
    """The line of a text that both have, the place that lists a segment, or the field that changes an opaque part."""
    here, there = strand.at(byte), other.at(byte)
    if here is None:
        return None
    segment = here.segment
    if segment.opaque:
        pair = compare(other.plan, strand.plan)
        return pair.place(AXES[pair.cause_of(segment, *([there.segment] if there else []))].place)
    same = there is not None and there.segment.name == segment.name
    return strand.source_of(here, byte) if same or not segment.asked_at else segment.asked_at


def _edges(node: Node, unit: str, above: int = 0) -> Iterator[tuple[Node, int]]:
    yield node, above
    for child in node.children:
        yield from _edges(child, unit, getattr(node, unit))
