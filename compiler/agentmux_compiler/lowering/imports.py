"""Files that an instruction file imports by `@PATH`, as its CLI takes them up."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowering.markdown import blocks
from agentmux_compiler.providers.schema import Imports

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.segment import Segment
    from agentmux_compiler.tree import Tree

# A blank in a path stands behind a backslash.
_IMPORT = re.compile(r"(?:^|\s)@((?:[^\s\\]|\\ )+)")


def imports_as(site: Site, way: str) -> Imports | None:
    """What the plan's CLI makes of imports, if it takes them up in this way."""
    facts = site.provider.instructions.imports
    return facts if isinstance(facts, Imports) and facts.way == way else None


def targets(text: str) -> Iterator[tuple[str, int]]:
    """What a text names, in its order, with the line from 0; what stands in code or in a comment is no import."""
    if "@" not in text:
        return
    for block in blocks(text):
        line = block.map[0] if block.map else 0
        for token in block.children or ():
            line += token.type in {"softbreak", "hardbreak"}
            found = _IMPORT.findall(token.content) if token.type == "text" else ()
            yield from ((name.replace("\\ ", " ").partition("#")[0], line) for name in found)


def imported(site: Site, importing: str, text: str) -> Iterator[str]:
    """Paths, relative to the project, that a file's text names and its CLI would take up if they are there."""
    facts = imports_as(site, "sections")
    for name, _ in targets(text) if facts else ():
        path = _path(importing, name)
        if path is not None and _is_taken(site, path, facts):
            yield path


def _path(importing: str, name: str) -> str | None:
    """Where a name leads in the project; None outside."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(importing), name))
    return None if name.startswith(("/", "~")) or path.startswith("..") else path


def _is_taken(site: Site, path: str, facts: Imports | None) -> bool:
    inside = site.cwd in {".", ""} or path.startswith(f"{site.cwd}/")
    refused = facts.refused if facts and facts.refused != "unknown" else ()
    return inside and path.rpartition(".")[2] not in refused


def unseen(site: Site, importing: str, segments: Sequence[Segment], tree: Tree) -> list[Diagnostic]:
    """Imports whose text the CLI puts where we do not see it."""
    if imports_as(site, "inlined") is None:
        return []
    return [
        _unseen(site, path, Span(segment.body.path, segment.body.line(line)))
        for segment in segments
        for name, line in targets(segment.text)
        if (path := _path(importing, name)) is not None and tree.read(path) is not None
    ]


def _unseen(site: Site, path: str, at: Span) -> Diagnostic:
    return rules.UNSEEN_IMPORT.at(
        at,
        f"`{site.provider.name}` puts the text of `{path}` here, and no report will see it change",
        help="make it a bundle, or write the name in backticks, so that it is no import",
    )
