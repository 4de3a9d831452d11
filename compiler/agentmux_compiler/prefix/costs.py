"""What a change costs a plan: its backend's scenarios with prices, and whether anything that was cached is lost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.backends import load_backend
from agentmux_compiler.prefix.certainty import certainty
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.models import model_id
from agentmux_compiler.prefix.prices import price
from agentmux_compiler.prefix.requests import marks_of
from agentmux_compiler.prefix.reuse import terms
from agentmux_compiler.prefix.scenarios import Billing, Caching, scenarios

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.prefix.reuse import Terms
    from agentmux_compiler.report import PlanDiff, Scenario

# How often a placeholder becomes another value on one machine, by itself.
TIMES_A_DAY = {"DATE": 1.0}


@dataclass(frozen=True, slots=True)
class Stated:
    """What a project states of its use: prefill in tokens per second, launches of an agent per day (None: nothing)."""

    prefill_rate: float | None = None
    launches_per_day: float | None = None


NOTHING_STATED = Stated()


def caching_of(plan: PlanPrefix) -> Caching | None:
    """How a plan is cached; None where nobody knows the backend, or no session will follow."""
    backend = load_backend(plan.backend)
    return Caching(backend, marks_of(plan.segments), plan.resume) if backend and plan.resume else None


def terms_of(plan: PlanPrefix, caching: Caching) -> Terms:
    """The rules of the plan's backend for its model, its breakpoints and the lifetime its CLI asks for."""
    marked = any(segment.breakpoint for segment in plan.segments)
    return terms(caching.backend, model_id(plan.vendor, plan.served_model), plan.lifetime, marked=marked)


def costed(found: PlanDiff, before: PlanPrefix, after: PlanPrefix, stated: Stated) -> PlanDiff:
    """The diff with what its change costs; `kept` where it loses nothing that any session would have been served."""
    caching = caching_of(after)
    if caching is None:
        return found
    cost = price(after.vendor, after.served_model)
    billing = Billing(cost, after.lifetime, stated.prefill_rate)
    counter = counter_for(after.vendor, after.served_model)
    per_scenario = scenarios(before, after, caching, counter, billing)
    rules = terms_of(after, caching)
    nothing_lost = found.first_break is not None and _loses_nothing(per_scenario, rules, found)
    return replace(
        found,
        verdict="kept" if nothing_lost else found.verdict,
        scenarios=per_scenario,
        usd_per_day=None if nothing_lost else _per_day(found, per_scenario["relaunch"], after, stated),
        prefill_rate=stated.prefill_rate,
        price_as_of=cost.as_of if cost else None,
        ttl=rules.lifetime if rules.seconds is not None else None,
        certainty=certainty(caching.backend, rules, effort_changed=before.effort != after.effort),
    )


def _loses_nothing(found: Mapping[str, Scenario], rules: Terms, diff: PlanDiff) -> bool:
    """Whether the change stands behind all that could be cached.

    A change in the last, incomplete step of a block cache only seems to: where the steps end depends on tokens of the
    CLI's own parts, which are estimates.
    """
    if any(item.lost != 0 for item in found.values()):
        return False
    cached = any(item.reusable_before for item in found.values())
    return not (cached and rules.kind == "blocks" and diff.text.bytes_kept < diff.text.bytes_total)


def _per_day(found: PlanDiff, again: Scenario, plan: PlanPrefix, stated: Stated) -> float | None:
    """Dollars a day of a cause that comes back: a value that changes by itself, at most once per launch."""
    launches = stated.launches_per_day
    recurs = any(change.reason == "volatile" and not change.masked for change in found.changes)
    if launches is None or again.usd is None or not recurs:
        return None
    names = {name for segment in plan.segments for name in segment.volatile}
    times = max((min(launches, TIMES_A_DAY[name]) for name in names if name in TIMES_A_DAY), default=0.0)
    return round(again.usd * times, 6) if times else None
