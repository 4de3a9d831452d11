"""What a launch pays again, since the cache holds another prefix or none any more: a line, then one for each change."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentmux.launch.cached import Before
from agentmux_compiler.lowered import PlanPrefix
from agentmux_compiler.prefix.costs import caching_of, terms_of
from agentmux_compiler.prefix.diff import diff
from agentmux_compiler.prefix.prices import break_cost, price
from agentmux_compiler.prefix.resumed import rule_of
from agentmux_compiler.render.causes import phrase, place, unmasked
from agentmux_compiler.render.visible import visible
from agentmux_compiler.render.words import count, number
from agentmux_compiler.report import PlanDiff

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_compiler.report import Scenario

HOUR = "1h"
BECOMES = {
    "ignored": "the session keeps the text it began with: the edit reaches new sessions only",
    "appended": "the session keeps the text it began with, and gets the new one behind it",
    "rewritten": "the new text stands in the place of the old one",
    "unknown": "nobody has seen what becomes of it in a session that goes on",
}


@dataclass(frozen=True, slots=True)
class _Launch:
    """A plan behind one that was sent earlier, at a time in seconds since 1970, and how they differ."""

    earlier: Before
    old: PlanPrefix
    new: PlanPrefix
    now: float
    found: PlanDiff

    @property
    def lifetime(self) -> int | None:
        return lifetime_of(self.old)

    @property
    def forgotten(self) -> bool:
        return self.lifetime is not None and self.earlier.age(self.now) > self.lifetime

    @property
    def forgetting(self) -> str:
        """Why it is forgotten."""
        ago, kept = _span(self.earlier.age(self.now)), _span(self.lifetime or 0)
        return f"the last call was {ago} ago, and what nobody uses is kept for {kept}"


def lifetime_of(plan: PlanPrefix) -> int | None:
    """Seconds for which the plan's cache keeps what nobody uses; None where it does not go by time, or nobody knows."""
    caching = caching_of(plan)
    return terms_of(plan, caching).seconds if caching else None


def what_it_costs(known: Sequence[tuple[Before, PlanPrefix | None]], after: PlanPrefix, now: float) -> Iterator[str]:
    """Nothing where everything that was cached can be used and nothing else is to be known.

    `known` are prefixes that a cache may hold, the last one first; None: one that nobody kept.
    """
    launches = [_launch(earlier, old, after, now) for earlier, old in known if old or earlier.scenario == "resume"]
    if launches:
        launch = min((each for each in launches if not each.forgotten), key=_lost, default=launches[0])
        lines = _of_session(launch) if launch.earlier.scenario == "resume" else _of_start(launch, launches[0])
        yield from (visible(line) for line in lines)


def _launch(earlier: Before, old: PlanPrefix | None, after: PlanPrefix, now: float) -> _Launch:
    before, new = (replace(plan, lifetime=HOUR) if earlier.hour else plan for plan in (old or after, after))
    return _Launch(earlier, before, new, now, diff(before, new))


def _lost(launch: _Launch) -> float:
    """What a launch would pay again behind this prefix; nobody knows: more than anything."""
    if launch.found.verdict != "broken":
        return -1
    scenario = launch.found.scenarios.get(launch.earlier.scenario)
    return math.inf if scenario is None or scenario.lost is None else scenario.lost


def _of_start(launch: _Launch, last: _Launch) -> Iterator[str]:
    found = launch.found
    if found.verdict != "broken":
        return
    run = "last run" if launch is last else f"run {_span(launch.earlier.age(launch.now))} ago"
    begins = f"`{found.agent}` begins otherwise than at its {run}"
    if launch.forgotten:
        yield f"{begins}, and the cache has forgotten that anyway: {launch.forgetting}"
        return
    yield f"{begins}: {_sum(launch)}"
    yield from _changes(found)


def _of_session(launch: _Launch) -> Iterator[str]:
    found = launch.found
    becomes = list(_becomes(launch.old, launch.new)) if found.verdict == "broken" else []
    if launch.forgotten:
        yield f"the cache has forgotten the session: {_all_again(launch)}; {launch.forgetting}"
    elif found.verdict == "broken":
        yield f"{_differs(found)}: {_sum(launch)}"
    if becomes or (found.verdict == "broken" and not launch.forgotten):
        yield from _changes(found)
    yield from becomes


def _differs(found: PlanDiff) -> str:
    """A session that keeps the text it began with sends what it sent before."""
    scenario = found.scenarios.get("resume")
    if scenario is not None and scenario.lost == 0:
        return "the sources are not as they were when the session was last used"
    return "the session begins otherwise than at its last run"


def _changes(plan: PlanDiff) -> Iterator[str]:
    for change in unmasked(plan):
        span = place(change)
        where = f" ({span.path}:{span.line})" if span else ""
        yield f"{phrase(change)}{where}"


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


def _sum(launch: _Launch) -> str:
    text, size = launch.found.text, launch.earlier.tokens
    scenario = launch.found.scenarios.get(launch.earlier.scenario)
    if scenario is None or scenario.lost is None:
        return f"{number(text.tokens_kept)} of {count(text.tokens_total, 'token')} stay as they were"
    if scenario.lost == 0:
        return "nothing is paid again"
    if size is not None:
        told = _of_size(launch, size, still_served(scenario, size))
    else:
        told = f"{count(scenario.lost, 'token')} are paid again{_money(scenario.usd)}{_otherwise(launch)}"
    return told + _unless(launch)


def _unless(launch: _Launch) -> str:
    """Where nobody knows when the last call was."""
    if launch.earlier.used is not None or launch.lifetime is None:
        return ""
    return f", unless the cache has dropped them by now (it keeps them {_span(launch.lifetime)})"


def still_served(scenario: Scenario, size: int) -> int:
    """What a session of known size is still served. Its beginning is an estimate, which may be more than all of it."""
    before, after = scenario.reusable_before or 0, scenario.reusable_after or 0
    return after if size >= before else round(after * size / before)


def _all_again(launch: _Launch) -> str:
    size = launch.earlier.tokens
    if size is None:
        return "all of it is paid again"
    other = launch.earlier.beside
    shared = other is not None and launch.lifetime is not None and launch.now - other <= launch.lifetime
    part = f"up to {count(size, 'token')}" if shared else f"all of its {count(size, 'token')}"
    return f"{part} are paid again{_money(_usd(launch, size, size))}"


def _of_size(launch: _Launch, size: int, kept: int) -> str:
    """What a session of so many tokens pays again of which so many are still served."""
    part = number(size - kept) if kept else "all"
    return f"{part} of its {count(size, 'token')} are paid again{_money(_usd(launch, size - kept, size))}"


def _usd(launch: _Launch, lost: int, size: int) -> float | None:
    plan = launch.new
    return break_cost(price(plan.vendor, plan.served_model), lost, plan.lifetime, size)


def _otherwise(launch: _Launch) -> str:
    """What a new session pays again whose first turn is not the one that the cache has."""
    own, other = (launch.found.scenarios.get(name) for name in ("relaunch", "new_prompt"))
    new = launch.earlier.scenario == "relaunch"
    if not new or own is None or other is None or other.lost in {None, own.lost}:
        return ""
    return f" ({number(other.lost or 0)} if its first turn is another one)"


def _money(usd: float | None) -> str:
    if not usd:
        return ""
    return f", ${usd:.4f}" if usd >= 0.0001 else ", less than $0.0001"  # noqa: PLR2004  the smallest sum that is shown


def _span(seconds: float) -> str:
    from agentmux_usage.forensics.words import span  # noqa: PLC0415  only where something is to be said

    return span(seconds)
