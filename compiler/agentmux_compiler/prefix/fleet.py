"""What plans are served from each other's prefixes, by the rules of the cache that they share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.costs import caching_of, terms_of
from agentmux_compiler.prefix.requests import cells_of, lay
from agentmux_compiler.prefix.scenarios import NO_BILL, Cached
from agentmux_compiler.prefix.strand import opaque_content

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_compiler.prefix.requests import Laid
    from agentmux_compiler.prefix.scenarios import Caching
    from agentmux_compiler.prefix.strand import Strand
    from agentmux_compiler.prefix.tree import Node, Shared


def served(shared: Shared) -> int | None:
    """Tokens from the cache when each plan is started once, in byte order of their names, each with its own prompt.

    A plan is served from the earlier one with which it has most in common. None where nobody knows the backend.
    """
    strands = {strand.plan.key: strand for strand in shared.strands}
    if any(caching_of(strand.plan) is None for strand in shared.strands):
        return None
    requests = {key: _request(strand) for key, strand in strands.items()}
    ranks = {key: rank for rank, key in enumerate(strands)}
    total = 0
    for key, before in _pairs(shared.root, ranks, ()):
        found = requests[before].scenario(requests[key].laid, other_prompt=True)
        total += found.reusable_after or 0
    return total


def _pairs(node: Node, ranks: dict[str, int], above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Each plan with the earlier one that it has most in common with, if there is any: the first of its nearest node.

    `above` are the first plans below each node on the way here.
    """
    way = (*above, min(node.plans, key=ranks.__getitem__))
    for key in node.ends:
        before = next((each for each in reversed(way) if ranks[each] < ranks[key]), None)
        if before is not None:
            yield key, before
    for child in node.children:
        yield from _pairs(child, ranks, way)


def _request(strand: Strand) -> Cached:
    """The plan's first request of a session, to be compared with those of other plans."""
    plan, caching = strand.plan, caching_of(strand.plan)
    if caching is None:
        raise ValueError(f"nobody knows how `{plan.backend}` caches")
    return Cached(_laid(strand, caching), caching.marks, strand.counter, terms_of(plan, caching), (), NO_BILL)


def _laid(strand: Strand, caching: Caching) -> Laid:
    cells = cells_of(strand.plan, strand.counter, caching.backend.ignored.segments)
    contents = (
        cell if cell.text is not None else replace(cell, content=opaque_content(cell.segment, strand.plan))
        for cell in cells
    )
    return lay(tuple(contents), caching.marks)
