"""Invisible characters that YAML writes as escapes, so that no scan of the file sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.sources.yaml_nodes import Mapping, Scalar, Sequence
from agentmux_compiler.text.hidden_text import hidden_characters, refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.sources.yaml_nodes import Node


def find_escaped(node: Node | None, text: str, *, allowed: Iterable[str] = ()) -> list[Diagnostic]:
    """One AMX305 for each key or value of a document with such characters outside of `allowed`.

    `text` is the document as it was written: what stands in it is found by `hidden_text.find_hidden`.
    """
    if node is None or "\\" not in text:
        return []
    lawful = frozenset(allowed)
    found: dict[Diagnostic, None] = {}
    for scalar in _quoted(node):
        unseen = [each for each in hidden_characters(scalar.text) if each not in lawful and each not in text]
        if unseen:
            found[refused(scalar.span, unseen)] = None
    return list(found)


def _quoted(node: Node) -> Iterator[Scalar]:
    """Scalars in double quotes, which alone can hold escapes."""
    if isinstance(node, Mapping):
        for entry in node.entries:
            yield from _quoted(entry.key)
            yield from _quoted(entry.value)
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _quoted(item)
    elif node.style == '"':
        yield node
