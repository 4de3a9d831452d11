"""YAML as values that remember where they were written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentmux_compiler.diagnostics import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

Loc = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value.

    `text` is what was written, unquoted and unfolded; `style` is `'`, `"`, `|`, `>` or empty for a plain scalar.
    The span of a block scalar is its header.
    """

    value: str | int | float | bool | None
    text: str
    style: str
    span: Span

    def plain(self) -> Any:
        return self.value


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    span: Span

    def plain(self) -> Any:
        return [item.plain() for item in self.items]


@dataclass(frozen=True, slots=True)
class Entry:
    """A key and its value."""

    key: Scalar
    value: Node

    @property
    def place(self) -> Span:
        """Where a reader looks for the entry: at a scalar value, else at the key of what is longer."""
        return self.value.span if isinstance(self.value, Scalar) else self.key.span


@dataclass(frozen=True, slots=True)
class Mapping:
    """A map; keys are the text of their scalars, each once."""

    entries: tuple[Entry, ...]
    span: Span

    def plain(self) -> Any:
        return {entry.key.text: entry.value.plain() for entry in self.entries}

    @property
    def names(self) -> frozenset[str]:
        return frozenset(entry.key.text for entry in self.entries)

    def entry(self, name: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.key.text == name), None)

    def get(self, name: str) -> Node | None:
        entry = self.entry(name)
        return entry.value if entry else None


Node = Scalar | Sequence | Mapping


@dataclass(frozen=True, slots=True)
class Found:
    """What a loc leads to: `node` is the deepest value on the way, `key` what names it, `loc` how far it went."""

    node: Node
    key: Span
    loc: Loc
    whole: bool


def locate(root: Node, loc: Iterable[str | int]) -> Found:
    """Follow `loc` (keys and list indices, from 0) as far as the document goes."""
    node, key = root, root.span
    done: Loc = ()
    for part in loc:
        step = _step(node, part)
        if step is None:
            return Found(node, key, done, whole=False)
        key, node, done = *step, (*done, part)
    return Found(node, key, done, whole=True)


def _step(node: Node, part: str | int) -> tuple[Span, Node] | None:
    if isinstance(node, Mapping) and isinstance(part, str):
        entry = node.entry(part)
        return (entry.key.span, entry.value) if entry else None
    if isinstance(node, Sequence) and isinstance(part, int) and 0 <= part < len(node.items):
        item = node.items[part]
        return item.span, item
    return None


def without(node: Node, locs: Iterable[Loc]) -> Node:
    """The same tree with what each of `locs` names left out."""
    doomed = frozenset(locs)
    return _without(node, (), doomed) if doomed else node


def _without(node: Node, at: Loc, doomed: frozenset[Loc]) -> Node:
    if isinstance(node, Mapping):
        kept = (entry for entry in node.entries if (*at, entry.key.text) not in doomed)
        entries = (Entry(entry.key, _without(entry.value, (*at, entry.key.text), doomed)) for entry in kept)
        return Mapping(tuple(entries), node.span)
    if isinstance(node, Sequence):
        numbered = ((index, item) for index, item in enumerate(node.items) if (*at, index) not in doomed)
        return Sequence(tuple(_without(item, (*at, index), doomed) for index, item in numbered), node.span)
    return node
