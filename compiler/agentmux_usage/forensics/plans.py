"""What changed between the plans of two calls: the build's own comparison, down to the source line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agentmux_usage.breaks import Line, Reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.prefix.scenarios import Standing
    from agentmux_compiler.report import Change, PlanDiff
    from agentmux_usage.forensics.calls import Step
    from agentmux_usage.forensics.known import Known, Start

# The comparison has more words than a break has reasons: every other one is a change of the text.
REASONS = {
    "model": Reason.MODEL,
    "effort": Reason.EFFORT,
    "tools": Reason.TOOLS,
    "permission": Reason.PERMISSION,
    "cli-version": Reason.CLI_VERSION,
}


@dataclass(frozen=True, slots=True)
class Edit:
    """The first change between two plans. `what` says it in words, `line` where it was made.

    `lost` are the tokens of its prefix that the session was to lose by it, of `held` that it would have been served;
    null where the comparison could not say.
    """

    reason: Reason
    what: str
    line: Line | None
    lost: int | None
    held: int | None

    @property
    def told(self) -> str:
        """What it is and where, in words."""
        return f"{self.what} ({self.line.path}:{self.line.line})" if self.line else self.what

    @property
    def harmless(self) -> bool:
        """Whether such a session was to lose nothing."""
        return self.lost == 0

    def predicted(self, expected: int) -> int | None:
        """Tokens that were to be lost of so many in the cache: of the prefix, and all of the conversation behind it."""
        if self.lost is None or self.held is None:
            return None
        return 0 if self.harmless else min(expected, self.lost + max(0, expected - self.held))


def edit(step: Step, known: Known) -> Edit | None:
    """What another plan than that of the call before sends; null where both are equal or one is not known."""
    before = step.before.response if step.before else None
    if before is None or not before.prefix or before.prefix == step.response.prefix:
        return None
    old, new = (known.prefixes.get(each or "") for each in (before.prefix, step.response.prefix))
    return None if old is None or new is None else between(old, new, "resume")


def between(old: PlanPrefix, new: PlanPrefix, scenario: Literal["resume", "new_prompt"]) -> Edit | None:
    """The edit that makes one plan another, and what it does to a session that goes on or to a new one."""
    from agentmux_compiler.prefix.diff import diff  # noqa: PLC0415  it counts tokens, which few breaks need

    return _edit(diff(old, new), scenario)


def standing_of(plan: PlanPrefix) -> Standing | None:
    """What sessions of a plan are served, as the build counts; null where nobody knows its cache."""
    from agentmux_compiler.prefix.costs import caching_of  # noqa: PLC0415  as above
    from agentmux_compiler.prefix.counters import counter_for  # noqa: PLC0415
    from agentmux_compiler.prefix.scenarios import standing  # noqa: PLC0415

    caching = caching_of(plan)
    return None if caching is None else standing(plan, caching, counter_for(plan.vendor, plan.served_model))


def measure(plan: Standing | None, starts: Iterable[Start]) -> float | None:
    """Tokens of a backend for one that the build counts, by the shortest prompt that began so; rather too many."""
    sizes = [each.first.context for each in starts if each.first.context]
    return min(sizes) / plan.tokens if plan and plan.tokens and sizes else None


def _edit(found: PlanDiff, scenario: str) -> Edit | None:
    if not found.changes:
        return None
    from agentmux_compiler.render.causes import phrase  # noqa: PLC0415  as above

    change, sent = found.changes[0], found.scenarios.get(scenario)
    return Edit(
        REASONS.get(change.reason, Reason.INSTRUCTIONS),
        phrase(change),
        _line(change, found),
        sent.lost if sent else None,
        sent.reusable_before if sent else None,
    )


def _line(change: Change, found: PlanDiff) -> Line | None:
    """Where the change was made, else where the texts part."""
    places = (change, found.first_break)
    named = ((each.path, each.line) for each in places if each is not None)
    return next((Line(path, line or 1) for path, line in named if path), None)
