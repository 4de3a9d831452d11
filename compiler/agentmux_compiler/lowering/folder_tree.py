"""Outputs that a CLI shows the model in its listing of the working directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowered import PrefixSegment
from agentmux_compiler.lowering.site import is_committed
from agentmux_compiler.prefix.axes import TREE
from agentmux_compiler.segment import Text
from agentmux_compiler.tree import byte_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentmux_compiler.lowered import OutputFile
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema_layout import Tree


def tree_segments(site: Site, outputs: Mapping[str, OutputFile]) -> tuple[PrefixSegment, ...]:
    """The committed outputs of all plans as this plan's CLI lists them, if it does; what else lies there is unknown."""
    facts = site.provider.layout.tree
    if facts is None:
        return ()
    base = "" if site.cwd == "." else f"{site.cwd}/"
    inside = (path.removeprefix(base) for path in outputs if is_committed(path) and path.startswith(base))
    text = "".join(f"{line}\n" for line in _lines(facts, inside))
    if not text:
        return ()
    name = f"{TREE}{'project' if site.cwd == '.' else site.cwd}+{site.provider.name}.txt"
    body = Text(text, site.agent.path, (1,) * text.count("\n"))
    return (PrefixSegment("environment", name, body, len(text.encode()), Span(site.agent.path)),)


def _lines(facts: Tree, paths: Iterable[str]) -> list[str]:
    """Each path as far as the listing goes."""
    return sorted({_cut(facts, path) for path in paths}, key=byte_order)


def _cut(facts: Tree, path: str) -> str:
    parts = path.split("/")
    depth = 1 if facts.folds_hidden and path.startswith(".") and len(parts) > 1 else facts.depth or len(parts)
    return "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
