"""Another order of sections and bundles, laid over a project in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentmux_compiler.tree import byte_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from agentmux_compiler.agent import Project, ResolvedAgent

BUNDLES = "bundles/"


@dataclass(frozen=True, slots=True)
class Order:
    """What stands first: `sections` as in `_project.yaml`, `bundles` by name for every list that holds some of them.

    An empty one leaves its part as it is; a bundle that is not named keeps its place behind those that are.
    """

    sections: tuple[str, ...] = ()
    bundles: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is an order of: sections, bundles, or sections and bundles."""
        return " and ".join(name for name in ("sections", "bundles") if getattr(self, name))


def reordered(project: Project, order: Order) -> Project:
    """The project as its sources would give it in that order."""
    ranks = {name: rank for rank, name in enumerate(order.bundles)}
    settings = replace(project.settings, sections=order.sections or project.settings.sections)
    return replace(project, settings=settings, agents=tuple(_agent(agent, ranks) for agent in project.agents))


def _agent(agent: ResolvedAgent, ranks: Mapping[str, int]) -> ResolvedAgent:
    bundles = sorted(agent.bundles, key=lambda listed: ranks.get(listed.item.name, len(ranks)))
    return replace(agent, bundles=tuple(bundles))


def ranked(project: Project, weight: Callable[[str], float]) -> tuple[str, ...]:
    """All bundles that agents list, by rising weight; those of equal weight as the lists have them on average."""
    places: dict[str, list[int]] = {}
    for agent in project.agents:
        for place, listed in enumerate(agent.bundles):
            places.setdefault(listed.item.name, []).append(place)
    mean = {name: sum(found) / len(found) for name, found in places.items()}
    return tuple(sorted(mean, key=lambda name: (weight(name), mean[name], byte_order(name))))


def alternatives(project: Project, sections: tuple[str, ...], bundles: tuple[str, ...]) -> Iterator[Order]:
    """Both orders at once, then either alone; what would leave the project as it is, is not among them."""
    by_sections = Order(sections=sections if sections != project.settings.sections else ())
    by_bundles = Order(bundles=bundles if reordered(project, Order(bundles=bundles)) != project else ())
    both = Order(by_sections.sections, by_bundles.bundles)
    yield from (each for each in dict.fromkeys((both, by_bundles, by_sections)) if each.name)


def bundle_of(segment: str) -> str | None:
    """The bundle that a segment is made of, by the segment's name (`bundles/NAME@AGENT+PROVIDER.md`)."""
    if not segment.startswith(BUNDLES):
        return None
    return segment.removeprefix(BUNDLES).removesuffix(".md").partition("@")[0].partition("+")[0]


def section_of(segment: str, shared: Iterable[str]) -> str | None:
    """The section of `_project.yaml` that a segment of ours stands in; `shared` are the global bundles."""
    bundle = bundle_of(segment)
    if bundle is not None:
        return "global-bundles" if bundle in shared else "bundles"
    kind = segment.rpartition("/")[2].removesuffix(".md").partition("+")[0]
    known = segment.startswith("agents/") and kind in {"soul", "instructions", "skills-index"}
    return kind if known else None
