"""How often each bundle and each section changed, over how many tokens: what an order is chosen by."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.costs import caching_of, terms_of
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.order import bundle_of, section_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentmux_compiler.lowered import PlanPrefix

Plans = Mapping[str, "PlanPrefix"]


@dataclass(slots=True)
class _Unit:
    """A bundle over all plans, or a section of one plan."""

    steps: int = 0
    changes: int = 0
    tokens: int = 0

    def see(self, changed: bool, tokens: int) -> None:
        self.steps += 1
        self.changes += changed
        self.tokens += tokens

    @property
    def rate(self) -> float:
        return self.changes / self.steps

    @property
    def size(self) -> float:
        return self.tokens / self.steps


@dataclass(frozen=True, slots=True)
class Rates:
    """What was seen of bundles, by name, and of the sections of each plan."""

    bundles: Mapping[str, _Unit]
    sections: Mapping[str, Mapping[str, _Unit]]

    def weight(self, bundle: str) -> float:
        """Change rate over tokens. Of two neighbours the one with the smaller weight is better off in front."""
        unit = self.bundles.get(bundle)
        return unit.rate / max(1.0, unit.size) if unit else 0.0

    def best_sections(self, sections: Sequence[str]) -> tuple[str, ...]:
        """The order in which changes have least behind them; of equally good ones the most like the given."""
        behind = {
            (a, b): sum(plan[a].rate * plan[b].size for plan in self.sections.values() if a in plan and b in plan)
            for a in sections
            for b in sections
        }
        return min(
            permutations(sections),
            key=lambda order: sum(behind[a, b] for i, a in enumerate(order) for b in order[i + 1 :]),
        )


@dataclass(slots=True)
class _Watch:
    """Rates while the steps are being read."""

    shared: Collection[str]
    bundles: dict[str, _Unit] = field(default_factory=dict)
    sections: dict[str, dict[str, _Unit]] = field(default_factory=dict)

    def step(self, key: str, before: PlanPrefix, after: PlanPrefix) -> None:
        counter = counter_for(after.vendor, after.served_model)
        old, new = _own(before), _own(after)
        changed: Tally[str] = Tally()
        tokens: Tally[str] = Tally()
        for name in {**old, **new}:
            bundle, section = bundle_of(name), section_of(name, self.shared)
            moved, size = old.get(name) != new.get(name), counter.count(new.get(name, ""))
            if bundle is not None:
                self.bundles.setdefault(bundle, _Unit()).see(moved, size)
            if section is not None:
                changed[section] += moved
                tokens[section] += size
        for section in changed:
            self.sections.setdefault(key, {}).setdefault(section, _Unit()).see(changed[section] > 0, tokens[section])


def rates(steps: Iterable[tuple[Plans, Plans]], shared: Collection[str]) -> Rates:
    """Of the plans whose backend reuses parts of a prefix, those that are in both states of a step.

    `shared` are the names of the global bundles.
    """
    watch = _Watch(shared)
    for before, after in steps:
        for key, plan in after.items():
            if key in before and reuses_parts(plan):
                watch.step(key, before[key], plan)
    return Rates(watch.bundles, watch.sections)


def reuses_parts(plan: PlanPrefix) -> bool:
    """Whether the backend serves a prefix up to where it parts, and not only up to a breakpoint."""
    caching = caching_of(plan)
    return caching is not None and terms_of(plan, caching).kind != "breakpoints"


def _own(plan: PlanPrefix) -> dict[str, str]:
    return {item.name: item.text for item in plan.segments if item.text is not None}
