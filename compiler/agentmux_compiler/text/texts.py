"""Prose of a spec as text that knows its source lines: inline scalars and files."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.segment import Text
from agentmux_compiler.sources.source_names import outside, project_path
from agentmux_compiler.sources.source_text import decode_source
from agentmux_compiler.sources.yaml_nodes import Mapping, Node, Scalar
from agentmux_compiler.suggest import did_you_mean
from agentmux_compiler.text.hidden_text import find_hidden
from agentmux_compiler.tree import Tree, byte_order

TEMPLATE = ".md.j2"


def normalised(path: str, text: str, line: int, *, literal: bool = True) -> Text | None:
    """Text with exactly one final newline, None where there is nothing but white space.

    `line` is the source line of its first line; each further one is the next, or the same where the text is not
    `literal`.
    """
    if not text.strip():
        return None
    body = text.rstrip("\n")
    count = body.count("\n") + 1
    lines = tuple(range(line, line + count)) if literal else (line,) * count
    return Text(body + "\n", path, lines)


def inline(node: Scalar) -> Text | None:
    """The text of a scalar in YAML: a literal block (`|`) line by line, any other at the scalar's own line."""
    literal = node.style == "|"
    return normalised(node.span.path, node.text, node.span.line + literal, literal=literal)


@dataclass(frozen=True, slots=True)
class Prose:
    """The text of `soul`, `instructions` or `startup`; `template` says that its file is `.md.j2`."""

    text: Text | None = None
    template: bool = False


@dataclass(frozen=True, slots=True)
class Library:
    """Prose files of a project, each read once."""

    tree: Tree
    files: dict[str, tuple[Text | None, list[Diagnostic]]] = field(default_factory=dict)

    def prose(self, node: Node | None) -> tuple[Prose, list[Diagnostic]]:
        """Text of a checked field: a scalar, or a mapping with `file`."""
        if isinstance(node, Scalar):
            return Prose(inline(node) if isinstance(node.value, str) else None), []
        named = node.get("file") if isinstance(node, Mapping) else None
        if not isinstance(named, Scalar):
            return Prose(), []
        path = project_path(named.text)
        if path is None:
            return Prose(), [outside(named.span, "`file`", named.text)]
        data = self.tree.read(path)
        if data is None:
            return Prose(), [self._missing(named.span, path)]
        if path not in self.files:
            self.files[path] = read_text(path, data)
        text, found = self.files[path]
        return Prose(text, path.endswith(TEMPLATE)), found

    def _missing(self, span: Span, path: str) -> Diagnostic:
        folder, _, name = path.rpartition("/")
        beside = [each for each in self.tree.names(folder or ".") if not each.endswith("/")]
        if name in beside:
            message = f"`{path}` is a link that leads outside the project, or nowhere"
            return rules.MISSING_SOURCE.at(span, message, help="put the file itself into the project")
        near = did_you_mean(name, beside)
        remedy = near.replace("`", f"`{folder}/" if folder else "`", 1) if near else None
        notes = ("paths are relative to the project",) if self.tree.read(_beside(span.path, path)) is not None else ()
        return rules.MISSING_SOURCE.at(span, f"there is no file `{path}`", help=remedy, notes=notes)


def read_text(path: str, data: bytes) -> tuple[Text | None, list[Diagnostic]]:
    """A whole file as text."""
    text, found = decode_source(path, data)
    if text is None:
        return None, found
    return normalised(path, text, 1), [*found, *find_hidden(path, text)]


def _beside(spec: str, path: str) -> str:
    return f"{spec.rpartition('/')[0]}/{path}"


def stems(names: tuple[str, ...], endings: tuple[str, ...]) -> dict[str, list[str]]:
    """File names with one of `endings` (the longest first) by stem, in byte order."""
    found: dict[str, list[str]] = {}
    for name in sorted(names, key=byte_order):
        ending = next((each for each in endings if name.endswith(each)), None)
        if ending:
            found.setdefault(name.removesuffix(ending), []).append(name)
    return found
