"""The same commits over again, their projects changed in memory: what that costs is measured, not reckoned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from agentmux_compiler.agent import Delivery, Project
from agentmux_compiler.lower import lower
from agentmux_compiler.lowered import PlanPrefix
from agentmux_compiler.prefix.history.renames import renamed, specs, under
from agentmux_compiler.prefix.history.states import State
from agentmux_compiler.revisions.outcomes import Outcome, outcome_of
from agentmux_compiler.revisions.prefix_cache import PrefixCache
from agentmux_compiler.revisions.source_ids import Recorded
from agentmux_compiler.tree import digest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

Plans = Mapping[str, PlanPrefix]
Pair = tuple[Plans, Plans]


@dataclass(frozen=True, slots=True)
class Variation:
    """A change of a project; `name` tells it from every other one."""

    name: str
    change: Callable[[Project], Project]


@dataclass(frozen=True)
class Tape:
    """The states that compile, in the order of time; `renames` are new names of agents, for each but the first."""

    states: tuple[State, ...]
    cache: PrefixCache
    holds: Callable[[PlanPrefix], bool]
    renames: tuple[Mapping[str, str], ...]
    _projects: dict[str, Project] = field(default_factory=dict)

    def project(self, state: State) -> Project:
        if state.commit.id not in self._projects:
            self._projects[state.commit.id] = state.compiled.project
        return self._projects[state.commit.id]

    def pairs(self, variation: Variation | None = None) -> Iterator[Pair]:
        """Each state's plans with those of the next, by the keys that they have there.

        Raises:
            NotCompilingError: one of them does not compile when it is changed.
        """
        before: Plans | None = None
        for state, names in zip(self.states, ({}, *self.renames), strict=False):
            after = self.plans(state, variation)
            if before is not None:
                yield under(names, before), after
            before = after

    def plans(self, state: State, variation: Variation | None = None) -> Plans:
        outcome = self._varied(state, variation) if variation else state.known.outcome
        if outcome.fault:
            raise NotCompilingError(outcome.fault.message)
        return {plan.key: plan for plan in outcome.plans if self.holds(plan)}

    def _varied(self, state: State, variation: Variation) -> Outcome:
        name = digest(variation.name.encode())
        known = self.cache.find(state.tree, name)
        if known:
            return known[0]
        recorded = Recorded(state.tree)
        plans, found = lower(variation.change(self.project(state)), recorded)
        outcome = outcome_of((plan.prefix for plan in plans), found)
        self.cache.keep(state.tree, state.known.ids | recorded.ids, outcome, name)
        return outcome


class NotCompilingError(Exception):
    """A variation of some state has errors that the state itself has not."""


def tape(states: Collection[State], cache: PrefixCache, holds: Callable[[PlanPrefix], bool]) -> Tape:
    """`holds` says which plans are looked at."""
    compiling = tuple(state for state in states if not state.fault)
    sources = [specs(state.tree) for state in compiling]
    return Tape(compiling, cache, holds, tuple(renamed(before, after) for before, after in pairwise(sources)))


def delivered(project: Project, keys: Collection[str], delivery: Delivery) -> Project:
    """The project with another delivery of some plans, by `AGENT/PROVIDER`."""
    agents = []
    for agent in project.agents:
        uses = (
            replace(use, delivery=delivery) if f"{agent.name}/{use.provider}" in keys else use for use in agent.uses
        )
        agents.append(replace(agent, uses=tuple(uses)))
    return replace(project, agents=tuple(agents))
