"""What a launch will pay because the cache holds another prefix: the sum, then a line for each change that matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.prefix.diff import diff
from agentmux_compiler.prefix.resumed import rule_of
from agentmux_compiler.render.causes import phrase, place, unmasked
from agentmux_compiler.render.visible import visible
from agentmux_compiler.render.words import count, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.report import DiffReport, PlanDiff

BECOMES = {
    "ignored": "the session keeps the text it began with: the edit reaches new sessions only",
    "appended": "the session keeps the text it began with, and gets the new one behind it",
    "rewritten": "the new text stands in the place of the old one",
    "unknown": "nobody has seen what becomes of it in a session that goes on",
}


def what_it_costs(before: PlanPrefix, after: PlanPrefix, scenario: str) -> Iterator[str]:
    """Nothing where everything that was cached can be used and nothing else is to be known."""
    found = diff(before, after)
    if found.verdict != "broken":
        return
    yield visible(_sum(found, scenario))
    yield from _changes(found)
    if scenario == "resume":
        yield from _becomes(before, after)


def snapshot_price(report: DiffReport) -> Iterator[str]:
    """The same against the accepted baseline, where there is one."""
    for plan in report.plans:
        if plan.verdict == "broken":
            yield visible(_sum(plan, "relaunch"))
            yield from _changes(plan)


def _changes(plan: PlanDiff) -> Iterator[str]:
    for change in unmasked(plan):
        span = place(change)
        where = f" ({span.path}:{span.line})" if span else ""
        yield visible(f"{phrase(change)}{where}")


def _becomes(before: PlanPrefix, after: PlanPrefix) -> Iterator[str]:
    """What becomes of our own text that is not as it was when the session was last used."""
    if after.resume is None:
        return
    old = {(segment.layer, segment.name): segment.text for segment in before.segments}
    rules = {
        rule_of(after.resume, segment, after.delivery)
        for segment in after.segments
        if segment.text is not None and old.get((segment.layer, segment.name)) != segment.text
    }
    yield from (BECOMES[rule] for rule in sorted(rules) if rule in BECOMES)


def _sum(plan: PlanDiff, name: str) -> str:
    text, scenario = plan.text, plan.scenarios.get(name)
    lost = scenario.lost if scenario else None
    if lost is None:
        return f"{number(text.tokens_kept)} of {count(text.tokens_total, 'token')} stay as they were"
    if lost == 0:
        return "nothing is paid again"
    money = f", {_dollars(scenario.usd)}" if scenario and scenario.usd else ""
    lifetime = f", unless it has dropped them by now (it keeps them {plan.ttl})" if plan.ttl else ""
    return f"{count(lost, 'token')} are paid again{money}{_otherwise(plan, name, lost)}{lifetime}"


def _otherwise(plan: PlanDiff, name: str, lost: int) -> str:
    """What a new session pays again whose first turn is not the one that the cache has."""
    other = plan.scenarios.get("new_prompt") if name == "relaunch" else None
    if other is None or other.lost in {None, lost}:
        return ""
    return f" ({number(other.lost or 0)} if its first turn is another one)"


def _dollars(usd: float) -> str:
    return f"${usd:.4f}" if usd >= 0.0001 else "less than $0.0001"  # noqa: PLR2004  the smallest sum that is shown
