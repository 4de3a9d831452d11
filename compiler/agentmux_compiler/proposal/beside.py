"""What CLIs read of a repository by themselves, and no source has a form for: sub-agents, commands, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.lowering.site import below
from agentmux_compiler.suggest import listing
from agentmux_compiler.tree import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_compiler.providers.schema import Provider
    from agentmux_compiler.tree import OutputTree


def found_beside(tree: OutputTree, homes: Iterable[str], catalog: Sequence[Provider]) -> Iterator[tuple[str, str]]:
    """Every such file, and every such folder that is not empty, below `homes`, with what is to be said of it."""
    known: dict[tuple[str, str], list[str]] = {}
    for provider in catalog:
        for path, what in provider.beside.paths.items() if provider.beside else ():
            known.setdefault((path, what), []).append(provider.name)
    for home in homes:
        for (path, what), names in known.items():
            shown = _there(tree, below(home, path))
            if shown:
                yield shown, f"{what}; they reach {listing(names)} by themselves, and none is taken in"


def _there(tree: OutputTree, path: str) -> str | None:
    """The path as it is shown, a folder with a `/` behind it; None where nothing is there."""
    entry = tree.find(path).entry
    if entry is Entry.FOLDER:
        return f"{path}/" if tree.names(path) else None
    return path if entry is Entry.FILE else None
