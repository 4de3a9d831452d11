"""What the plans of a project share, and what another order of sections and bundles would make them share."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import has_errors
from agentmux_compiler.lower import lower
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.fleet import served
from agentmux_compiler.prefix.measure import measure_text
from agentmux_compiler.prefix.order import Order, alternatives, ranked, reordered, section_of
from agentmux_compiler.prefix.rendered import render
from agentmux_compiler.prefix.tree import Identity, Node, Shared, forest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentmux_compiler.agent import Project
    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.tree import Tree


@dataclass(frozen=True, slots=True)
class CacheShare:
    """The plans of one cache. Sizes are of all prompts together; `*_distinct` counts each shared prefix once.

    `served` are the tokens that come from the cache when each plan is started once, in byte order of their names, each
    with its own prompt (None: nobody knows the backend). Tokens were counted by `method`, within `error_pct` per cent.
    """

    identity: Identity
    plans: int
    bytes_total: int
    bytes_distinct: int
    tokens_total: int
    tokens_distinct: int
    served: int | None
    method: str
    error_pct: float | None
    root: Node


@dataclass(frozen=True, slots=True)
class Gain:
    """One cache under another order."""

    identity: Identity
    served_before: int | None
    served_after: int | None
    distinct_before: int
    distinct_after: int

    @property
    def served(self) -> int:
        """Tokens more that are served."""
        return (self.served_after or 0) - (self.served_before or 0)


@dataclass(frozen=True, slots=True)
class OrderGain:
    """Another order, and what compiling again in it gave."""

    order: Order
    gains: tuple[Gain, ...]

    @property
    def served(self) -> int:
        return sum(gain.served for gain in self.gains)


@dataclass(frozen=True, slots=True)
class Sharing:
    """The caches, those with most plans first, and the orders that would let them serve more, the best one first."""

    caches: tuple[CacheShare, ...]
    orders: tuple[OrderGain, ...]


def sharing(
    project: Project, plans: Iterable[PlanPrefix], tree: Tree, holds: Callable[[PlanPrefix], bool] = lambda _: True
) -> Sharing:
    """`tree` holds the sources of `project`, `plans` are all of its plans; `holds` says which are looked at."""
    now = _measured(forest(plan for plan in plans if holds(plan)))
    gains = [OrderGain(order, found) for order, found in _tried(project, tree, now, holds)]
    better = [each for each in gains if each.served > 0]
    return Sharing(tuple(now.values()), tuple(sorted(better, key=lambda each: -each.served)))


def _tried(
    project: Project, tree: Tree, now: dict[Identity, CacheShare], holds: Callable[[PlanPrefix], bool]
) -> Iterator[tuple[Order, tuple[Gain, ...]]]:
    """Every order that changes something and still compiles, with what it gives: what most share stands first."""
    holders = Tally(listed.item.name for agent in project.agents for listed in agent.bundles)
    bundles = ranked(project, lambda name: -holders[name])
    for order in alternatives(project, _sections(project, now), bundles):
        plans, found = lower(reordered(project, order), tree)
        if not has_errors(found):
            then = _measured(forest(plan.prefix for plan in plans if holds(plan.prefix)))
            yield order, tuple(_gain(before, then.get(key)) for key, before in now.items())


def _sections(project: Project, now: dict[Identity, CacheShare]) -> tuple[str, ...]:
    """The sections by how many plans have the same text in them; those without any text stay where they are."""
    shared = {bundle.name for bundle in project.bundles if bundle.is_global}
    plans: dict[str, Tally[str]] = {section: Tally() for section in project.settings.sections}
    for cache in now.values():
        for names in _segments(cache.root):
            for name in names:
                section = section_of(name, shared)
                if section is not None:
                    plans[section][name] += 1
    mean = {section: sum(found.values()) / len(found) for section, found in plans.items() if found}
    filled = iter(sorted(mean, key=lambda section: -mean[section]))
    return tuple(next(filled) if section in mean else section for section in project.settings.sections)


def _segments(node: Node, above: tuple[str, ...] = ()) -> Iterator[frozenset[str]]:
    """The names of the segments of every plan."""
    names = (*above, *node.segments)
    for _ in node.ends:
        yield frozenset(names)
    for child in node.children:
        yield from _segments(child, names)


def _measured(shared: Iterable[Shared]) -> dict[Identity, CacheShare]:
    return {each.identity: _share(each) for each in shared}


def _share(shared: Shared) -> CacheShare:
    first = shared.strands[0].plan
    text = measure_text(render(first.segments), 0, 0, counter_for(first.vendor, first.served_model))
    return CacheShare(
        identity=shared.identity,
        plans=len(shared.strands),
        bytes_total=shared.bytes_total,
        bytes_distinct=shared.bytes_distinct,
        tokens_total=shared.tokens_total,
        tokens_distinct=shared.tokens_distinct,
        served=served(shared),
        method=text.method,
        error_pct=text.error_pct,
        root=shared.root,
    )


def _gain(before: CacheShare, after: CacheShare | None) -> Gain:
    later = after or before
    return Gain(before.identity, before.served, later.served, before.tokens_distinct, later.tokens_distinct)
