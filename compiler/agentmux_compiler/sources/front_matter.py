"""Markdown with front matter: the YAML between `---` lines, and the text below with its place."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.sources.yaml_nodes import Mapping
from agentmux_compiler.sources.yaml_source import parse_text

_FENCE = re.compile(r"---[ \t]*")
_CLOSE = re.compile(r"(?:---|\.\.\.)[ \t]*")
_OF_WHOLE_FILES = frozenset({rules.INVALID_YAML, rules.TAB_INDENT})


@dataclass(frozen=True, slots=True)
class Document:
    """A Markdown source: `front` is None without front matter, `body_line` the source line the body begins at."""

    front: Mapping | None
    body: str
    body_line: int


def split(path: str, text: str) -> tuple[Document, list[Diagnostic]]:
    """Split decoded text. Front matter that cannot be read is reported, and the body below it still usable.

    Blank lines between front matter and text belong to neither.
    """
    lines = text.split("\n")
    if not _FENCE.fullmatch(lines[0]):
        return Document(None, text, 1), []
    end = next((index for index, line in enumerate(lines[1:], 1) if _CLOSE.fullmatch(line)), None)
    if end is None:
        return Document(None, text, 1), [_unclosed(path, lines[0])]
    start = end + 1
    while start < len(lines) - 1 and not lines[start].strip():
        start += 1
    front, found = _front(path, lines[1:end])
    return Document(front, "\n".join(lines[start:]), start + 1), found


def _front(path: str, lines: list[str]) -> tuple[Mapping | None, list[Diagnostic]]:
    if not any(line.strip() and not line.lstrip().startswith("#") for line in lines):
        return Mapping((), Span(path, 2)), []
    # An empty line in place of the fence keeps every line number that of the file.
    node, found = parse_text(path, "\n".join(["", *lines, ""]))
    recoded = [
        replace(item, rule=rules.INVALID_FRONT_MATTER) if item.rule in _OF_WHOLE_FILES else item for item in found
    ]
    if node is None or isinstance(node, Mapping):
        return node, recoded
    fault = rules.INVALID_FRONT_MATTER.at(node.span, "front matter takes a mapping of fields")
    return None, [*recoded, fault]


def _unclosed(path: str, line: str) -> Diagnostic:
    return rules.INVALID_FRONT_MATTER.at(
        Span(path, 1, 1, 1, len(line) + 1),
        "front matter is never closed",
        help="close it with a line `---`; a rule at the top of a text is written `***`",
    )
