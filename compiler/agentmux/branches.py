"""A tree of shared prefixes folded until a person can read it: few branches, the most shared ones first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.tree import Parting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_compiler.prefix.tree import Node

WORTH = 32  # tokens; that two texts begin with the same few words parts nothing
FANOUT = 8
ROWS = 24


@dataclass(frozen=True, slots=True)
class Branch:
    """A node that adds something: `added` tokens beyond its parent. `folded` counts plans whose branches are left out.

    `segments` are what it adds, `plans` all plans at or below it.
    """

    added: int
    parting: Parting | None
    segments: tuple[str, ...]
    plans: tuple[str, ...]
    children: tuple[Branch, ...] = ()
    folded: int = 0


def folded(root: Node) -> Branch:
    """The tree with at most 24 branches, opened where most is shared."""
    whole = _branch(root, 0, ())
    return _pruned(whole, _opened(whole), ())


def _branch(node: Node, above: int, segments: tuple[str, ...]) -> Branch:
    """`segments` are those of parents that added too little to stand for themselves."""
    held = tuple(dict.fromkeys((*segments, *node.segments)))
    children = tuple(each for child in node.children for each in _standing(child, node.tokens))
    return Branch(max(0, node.tokens - above), node.parting, held, node.plans, _sorted(children))


def _standing(node: Node, above: int) -> Iterator[Branch]:
    """The node as a branch; in its place those below it where it adds next to nothing."""
    if node.children and node.tokens - above < WORTH:
        for child in node.children:
            yield from _standing(child, above)
        if node.ends:
            yield Branch(node.tokens - above, node.parting, node.segments, node.ends)
    else:
        yield _branch(node, above, ())


def _sorted(branches: tuple[Branch, ...]) -> tuple[Branch, ...]:
    return tuple(sorted(branches, key=lambda branch: (-len(branch.plans), branch.plans)))


def _opened(root: Branch) -> dict[tuple[int, ...], int]:
    """How many children are shown of which branches, by the way to each: first where most tokens are shared."""
    shown: dict[tuple[int, ...], int] = {}
    queue: list[tuple[int, tuple[int, ...], Branch]] = [(0, (), root)]
    room = ROWS
    while queue and room:
        _, way, branch = heapq.heappop(queue)
        shown[way] = min(len(branch.children), FANOUT, room)
        room -= shown[way]
        for number, child in enumerate(branch.children[: shown[way]]):
            if child.children:
                heapq.heappush(queue, (-child.added * (len(child.plans) - 1), (*way, number), child))
    return shown


def _pruned(branch: Branch, shown: dict[tuple[int, ...], int], way: tuple[int, ...]) -> Branch:
    count = shown.get(way, 0)
    children = tuple(_pruned(child, shown, (*way, number)) for number, child in enumerate(branch.children[:count]))
    left_out = sum(len(child.plans) for child in branch.children[count:])
    return Branch(branch.added, branch.parting, branch.segments, branch.plans, children, left_out)
