"""What a launch will pay because the cache holds another prefix: a line for each change that matters, and the sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.render.causes import phrase, place, unmasked
from agentmux_compiler.render.visible import visible
from agentmux_compiler.render.words import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_compiler.report import DiffReport, PlanDiff, Scenario


def what_it_costs(plan: PlanDiff, scenario: str) -> Iterator[str]:
    """Nothing where everything that was cached can be used."""
    if plan.verdict != "broken":
        return
    for change in unmasked(plan):
        span = place(change)
        where = f" ({span.path}:{span.line})" if span else ""
        yield visible(f"{phrase(change)}{where}")
    yield visible(_sum(plan, plan.scenarios.get(scenario)))


def snapshot_price(report: DiffReport) -> Iterator[str]:
    """The same against the accepted baseline, where there is one."""
    for plan in report.plans:
        yield from what_it_costs(plan, "relaunch")


def _sum(plan: PlanDiff, scenario: Scenario | None) -> str:
    text = plan.text
    lost = scenario.lost if scenario else None
    if lost is None:
        return (
            f"of the prompt's {count(text.tokens_total, 'token')}, {count(text.tokens_kept, 'token')} stay as they were"
        )
    if lost == 0:
        return "nothing of it is paid again"
    money = f", {_dollars(scenario.usd)}" if scenario and scenario.usd else ""
    lifetime = f", unless the cache has dropped them by now (it keeps them {plan.ttl})" if plan.ttl else ""
    return f"{count(lost, 'token')} are paid again{money}{lifetime}"


def _dollars(usd: float) -> str:
    return f"${usd:.4f}" if usd >= 0.0001 else "less than $0.0001"  # noqa: PLR2004  the smallest sum that is shown
