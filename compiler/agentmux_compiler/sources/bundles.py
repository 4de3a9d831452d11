"""Read `bundles/`: Markdown with optional front matter."""

from __future__ import annotations

from collections.abc import Mapping as ReadOnly
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Bundle
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.providers import NAMES, canonical
from agentmux_compiler.segment import Text
from agentmux_compiler.sources.front_matter import split
from agentmux_compiler.sources.source_names import folder_outside, invalid_name, name_fault
from agentmux_compiler.sources.source_text import decode_source
from agentmux_compiler.sources.spec_errors import validate
from agentmux_compiler.sources.spec_models import BundleFront
from agentmux_compiler.sources.yaml_nodes import Mapping, Node, Scalar, Sequence
from agentmux_compiler.suggest import did_you_mean, listing
from agentmux_compiler.text.escaped_text import find_escaped
from agentmux_compiler.text.hidden_text import character_of, find_hidden
from agentmux_compiler.text.texts import TEMPLATE, normalised, stems

if TYPE_CHECKING:
    from agentmux_compiler.tree import Tree

_ENDINGS = (TEMPLATE, ".md")
_README = "README"


@dataclass(frozen=True, slots=True)
class BundleFolder:
    """Bundles by name, in byte order; `globals_at` says where a global one declares itself."""

    path: str
    bundles: ReadOnly[str, Bundle]
    globals_at: ReadOnly[str, Span]


def read_bundles(tree: Tree, folder: str) -> tuple[BundleFolder, list[Diagnostic]]:
    """Every bundle of a folder. One that has faults is known all the same, with what is usable of it."""
    bundles: dict[str, Bundle] = {}
    globals_at: dict[str, Span] = {}
    found = [folder_outside(folder)] if tree.outside(folder) else []
    for name, files in stems(tree.names(folder), _ENDINGS).items():
        path, faults = _path(folder, name, files)
        found += faults
        if path is None:
            continue
        bundles[name], place, more = _bundle(tree, name, path)
        found += more
        globals_at.update({name: place} if place else {})
    return BundleFolder(folder, bundles, globals_at), found


def _path(folder: str, name: str, files: list[str]) -> tuple[str | None, list[Diagnostic]]:
    path = f"{folder}/{files[0]}"
    fault = name_fault(name)
    if fault:
        return None, [] if name == _README or name.startswith(".") else [invalid_name(path, "bundle", name, fault)]
    if len(files) == 1:
        return path, []
    other = f"{folder}/{files[1]}"
    message = f"`{other}` names the same bundle as `{path}`"
    return path, [rules.DUPLICATE_BUNDLE.at(Span(other), message, help="remove one of the two files")]


def _bundle(tree: Tree, name: str, path: str) -> tuple[Bundle, Span | None, list[Diagnostic]]:
    empty = Bundle(name, Text("", path, ()), template=path.endswith(TEMPLATE))
    data = tree.read(path)
    text, found = decode_source(path, data) if data is not None else (None, [_unreadable(path)])
    if text is None:
        return empty, None, found
    document, more = split(path, text)
    found += more
    front, node, more = validate(BundleFront, document.front or Mapping((), Span(path)))
    found += more
    allowed, more = _allowed(node)
    found += [*more, *find_hidden(path, text, allowed=allowed), *find_escaped(document.front, text, allowed=allowed)]
    providers, more = _providers(node)
    bundle = Bundle(
        name,
        normalised(path, document.body, document.body_line) or empty.body,
        title=front.title if front else None,
        is_global=bool(front and front.is_global),
        order=front.order if front else 0,
        providers=providers,
        allow_unicode=front.allow_unicode if front else (),
        template=empty.template,
    )
    return bundle, _global_at(node, path) if bundle.is_global else None, [*found, *more]


def _unreadable(path: str) -> Diagnostic:
    return rules.PATH_OUTSIDE_PROJECT.at(Span(path), f"`{path}` cannot be read inside the project")


def _global_at(node: Node, path: str) -> Span:
    entry = node.entry("global") if isinstance(node, Mapping) else None
    return entry.place if entry else Span(path)


def _items(node: Node, field: str) -> list[Scalar] | None:
    listed = node.get(field) if isinstance(node, Mapping) else None
    return [each for each in listed.items if isinstance(each, Scalar)] if isinstance(listed, Sequence) else None


def _allowed(node: Node) -> tuple[list[str], list[Diagnostic]]:
    named = [(item, character_of(item.text)) for item in _items(node, "allow_unicode") or ()]
    faults = [
        rules.INVALID_VALUE.at(
            item.span,
            f"`{item.text}` names no character",
            help="write its code point, such as `U+200B`, or its Unicode name",
        )
        for item, character in named
        if character is None
    ]
    return [character for _, character in named if character], faults


def _providers(node: Node) -> tuple[tuple[str, ...] | None, list[Diagnostic]]:
    items = _items(node, "providers")
    if items is None:
        return None, []
    found = [unknown_provider(item) for item in items if canonical(item.text) is None]
    known = (canonical(item.text) for item in items)
    return tuple(dict.fromkeys(name for name in known if name)), found


def unknown_provider(named: Scalar) -> Diagnostic:
    return rules.UNKNOWN_PROVIDER.at(
        named.span,
        f"there is no provider `{named.text}`",
        help=did_you_mean(named.text, NAMES),
        notes=(f"the providers are {listing(NAMES)}",),
    )
