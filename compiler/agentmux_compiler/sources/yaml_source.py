"""YAML text to nodes: the one place that knows the parser, and every fault of a document with its place."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.sources.source_text import decode_source
from agentmux_compiler.sources.yaml_core import core_value
from agentmux_compiler.sources.yaml_faults import describe
from agentmux_compiler.sources.yaml_nodes import Entry, Mapping, Node, Scalar, Sequence
from agentmux_compiler.text.escaped_text import find_escaped
from agentmux_compiler.text.hidden_text import find_hidden, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 64
MAX_NODES = 50_000  # of the document with every alias written out

_CORE = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset(
    _CORE + name for name in ("str", "null", "bool", "int", "float", "timestamp", "value", "merge")
)
_PROPERTIES = re.compile(r"(?:[&!]\S*(?:\s+|#[^\n]*)*)+")
# The parser turns `\U` escapes into characters and indices without looking; these are what then comes up.
_PARSER_ERRORS = (YAMLError, ValueError, OverflowError)


def parse(path: str, data: bytes) -> tuple[Node | None, list[Diagnostic]]:
    """One YAML 1.2 document; None where it cannot be read or is empty. Columns count characters from 1."""
    text, found = decode_source(path, data)
    if text is None:
        return None, found
    found += find_hidden(path, text)
    node, more = parse_text(path, text)
    return node, [*found, *more, *find_escaped(node, text)]


def parse_text(path: str, text: str) -> tuple[Node | None, list[Diagnostic]]:
    """As `parse`, of text that is decoded and searched for hidden characters already."""
    node, found = _read(path, text)
    return node, list(found)


@functools.lru_cache(maxsize=4096)
def _read(path: str, text: str) -> tuple[Node | None, tuple[Diagnostic, ...]]:
    """Each text once in a process: revisions of a project, and rebuilds, have most of their files in common."""
    printable = visible(text)
    try:
        root = _compose(printable)
    except _PARSER_ERRORS as error:
        return None, (describe(path, printable, error),)
    if root is None or (isinstance(root, ScalarNode) and not root.value and not root.style):
        return None, (rules.EMPTY_SPEC.at(Span(path), "the file has no content"),)
    node, found = _Reading(path, printable).read(root)
    return node, tuple(found)


def _compose(text: str) -> Any:
    yaml = YAML(typ="safe", pure=True)
    yaml.max_depth = MAX_DEPTH
    yaml.composer.warn_double_anchors = False  # a later anchor of the same name is lawful
    return yaml.compose(text)


class _RefusedError(Exception):
    """A document that is too large or holds itself."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


@dataclass(slots=True)
class _Reading:
    """One document on its way from the parser's nodes to ours; a node that aliases share is read once."""

    path: str
    text: str
    found: list[Diagnostic] = field(default_factory=list)
    done: dict[int, tuple[Node, int]] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)

    def read(self, root: Any) -> tuple[Node | None, list[Diagnostic]]:
        try:
            node, _ = self._node(root)
        except _RefusedError as refused:
            return None, [*self.found, refused.diagnostic]
        return node, self.found

    def _node(self, raw: Any) -> tuple[Node, int]:
        """The node and its size once every alias is written out."""
        if id(raw) in self.done:
            return self.done[id(raw)]
        if id(raw) in self.open:
            raise _RefusedError(rules.INVALID_YAML.at(self._start(raw), f"anchor `&{raw.anchor}` holds itself"))
        self.open.add(id(raw))
        node, size = self._read(raw)
        self.open.discard(id(raw))
        if size > MAX_NODES:
            message = f"the document holds more than {MAX_NODES:,} values once its aliases are written out"
            raise _RefusedError(rules.INVALID_YAML.at(node.span, message))
        self.done[id(raw)] = node, size
        return node, size

    def _read(self, raw: Any) -> tuple[Node, int]:
        if isinstance(raw, ScalarNode):
            return self._scalar(raw), 1
        tag, wanted = str(raw.tag), "map" if isinstance(raw, MappingNode) else "seq"
        if tag != _CORE + wanted:
            self._custom_tag(raw, tag)
        return self._mapping(raw) if isinstance(raw, MappingNode) else self._sequence(raw)

    def _sequence(self, raw: SequenceNode) -> tuple[Node, int]:
        read = [self._node(each) for each in raw.value]
        items = tuple(node for node, _ in read)
        return Sequence(items, self._span(raw, items)), 1 + sum(size for _, size in read)

    def _mapping(self, raw: MappingNode) -> tuple[Node, int]:
        merged: list[Entry] = []
        own: list[Entry] = []
        total = 1
        for raw_key, raw_value in raw.value:
            key, (value, size) = self._key(raw_key), self._node(raw_value)
            total += size + 1
            if key and raw_key.tag == _CORE + "merge":
                merged += self._merged(value)
            elif key:
                own.append(Entry(key, _placed(value, key)))
        entries = _overlaid(merged, self._unique(own))
        return Mapping(entries, self._span(raw, tuple(entry.value for entry in entries))), total

    def _key(self, raw: Any) -> Scalar | None:
        if isinstance(raw, ScalarNode):
            return self._scalar(raw)
        self.found.append(rules.INVALID_YAML.at(self._start(raw), "a key is a list or a mapping, not text"))
        return None

    def _merged(self, value: Node) -> Iterator[Entry]:
        """What `<<` brings in; of several mappings the first wins."""
        sources = value.items if isinstance(value, Sequence) else (value,)
        seen: set[str] = set()
        for source in sources:
            if not isinstance(source, Mapping):
                self.found.append(rules.INVALID_YAML.at(source.span, "`<<` takes a mapping or a list of mappings"))
                continue
            yield from (entry for entry in source.entries if entry.key.text not in seen)
            seen.update(entry.key.text for entry in source.entries)

    def _unique(self, entries: list[Entry]) -> list[Entry]:
        first: dict[str, Entry] = {}
        for entry in entries:
            known = first.setdefault(entry.key.text, entry)
            if known is not entry:
                self.found.append(_duplicate(known.key, entry.key))
        return list(first.values())

    def _scalar(self, raw: ScalarNode) -> Scalar:
        tag, style = str(raw.tag), raw.style or ""
        if tag not in _SCALAR_TAGS:
            self._custom_tag(raw, tag)
        span = self._span(raw, ())
        text = self._encodable(raw.value, span)
        is_text = tag in {_CORE + "str", _CORE + "timestamp"} or tag not in _SCALAR_TAGS
        return Scalar(text if is_text else core_value(text), text, style, span)

    def _encodable(self, text: str, span: Span) -> str:
        """Escapes can make what no file and no argument may hold."""
        bad = re.search("[\0\ud800-\udfff]", text)
        if not bad:
            return text
        self.found.append(rules.INVALID_YAML.at(span, f"an escape makes `U+{ord(bad[0]):04X}`, which text cannot hold"))
        return re.sub("[\0\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)

    def _custom_tag(self, raw: Any, tag: str) -> None:
        shown = tag.replace(_CORE, "!!") if tag.startswith(_CORE) else tag
        self.found.append(
            rules.INVALID_YAML.at(
                self._start(raw), f"tag `{shown}` is not allowed", help="write the value without a tag"
            )
        )

    def _start(self, raw: Any) -> Span:
        return Span(self.path, raw.start_mark.line + 1, raw.start_mark.column + 1)

    def _span(self, raw: Any, children: tuple[Node, ...]) -> Span:
        """Content without anchor and tag; collections end with their last value, block scalars with their header."""
        line, column = self._content_start(raw)
        if isinstance(raw, ScalarNode):
            block = raw.style in {"|", ">"}
            end = (line, column + 1) if block else (raw.end_mark.line + 1, raw.end_mark.column + 1)
        elif raw.flow_style or not children:
            end = raw.end_mark.line + 1, raw.end_mark.column + 1
        else:
            end = children[-1].span.end_line, children[-1].span.end_column
        return Span(self.path, line, column, *max(end, (line, column)))

    def _content_start(self, raw: Any) -> tuple[int, int]:
        mark = raw.start_mark
        skipped = _PROPERTIES.match(self.text, mark.index)
        if not skipped:
            return mark.line + 1, mark.column + 1
        lines = skipped[0].split("\n")
        column = len(lines[-1]) + (0 if len(lines) > 1 else mark.column)
        return mark.line + len(lines), column + 1


def _placed(value: Node, key: Scalar) -> Node:
    """A value that is not there stands at its key; the parser puts it wherever the next token begins."""
    absent = isinstance(value, Scalar) and value.value is None and not value.text
    return Scalar(None, "", "", key.span) if absent else value


def _overlaid(merged: list[Entry], own: list[Entry]) -> tuple[Entry, ...]:
    """Merged entries in their places, with the mapping's own values where both have a key."""
    table = {entry.key.text: entry for entry in merged}
    table.update((entry.key.text, entry) for entry in own)
    return tuple(table.values())


def _duplicate(first: Scalar, again: Scalar) -> Diagnostic:
    return rules.DUPLICATE_KEY.at(
        again.span,
        f"key `{again.text}` stands twice",
        help="keep one of them",
        notes=(f"the first stands at line {first.span.line}, column {first.span.column}",),
    )
