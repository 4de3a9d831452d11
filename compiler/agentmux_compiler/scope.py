"""Which plans a command is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_compiler.lowered import Lowered


@dataclass(frozen=True, slots=True)
class Scope:
    """Agents and providers by name; empty means all."""

    agents: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()

    def holds(self, agent: str, provider: str) -> bool:
        return (not self.agents or agent in self.agents) and (not self.providers or provider in self.providers)

    def of(self, plans: Iterable[Lowered]) -> tuple[Lowered, ...]:
        return tuple(plan for plan in plans if self.holds(plan.plan.agent, plan.plan.provider))

    @property
    def whole(self) -> bool:
        return not self.agents and not self.providers
