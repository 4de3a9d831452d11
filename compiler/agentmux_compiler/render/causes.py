"""Broken plans grouped by what broke them: one edit of a shared bundle is one cause, however many plans it reaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.render.costs import advice_lines, paid_again
from agentmux_compiler.render.words import count
from agentmux_compiler.report import Change, PlanDiff
from agentmux_compiler.rules import CACHE_KEY_CHANGED, PREFIX_BROKEN, RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_compiler.diagnostics import Rule
    from agentmux_compiler.report import Break

PHRASES = {
    "edited": "{} was edited",
    "inserted": "{} was inserted",
    "removed": "{} was removed",
    "reordered": "{} stands in another place",
    "renamed": "{} has another name",
    "model": "another model",
    "effort": "another effort",
    "tools": "other tools",
    "permission": "another permission",
    "environment": "another environment",
    "delivery": "another delivery",
    "cli-version": "another version of the CLI",
    "volatile": "{} changes by itself",
    "whitespace": "nothing but white space changed in {}",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """Plans that broke for the same reason at the same place; `changes` are the ones not masked."""

    changes: tuple[Change, ...]
    plans: tuple[PlanDiff, ...]

    @property
    def rule(self) -> Rule:
        return RULES.get(self.changes[0].code, PREFIX_BROKEN) if self.changes else PREFIX_BROKEN

    @property
    def reason(self) -> str:
        return self.changes[0].reason if self.changes else ""

    @property
    def what(self) -> str:
        return phrase(self.changes[0]) if self.changes else "the prefix changed"

    @property
    def span(self) -> Span | None:
        return place(self.changes[0]) if self.changes else None


def told(cause: Cause) -> str:
    """A cause as lines of one text: what happened, then a line per plan with what it costs."""
    rows = (f"{plan.agent}/{plan.provider}: {paid_again(plan) or _lost_text(plan)}" for plan in cause.plans)
    advice = (f"help: {line}" for line in advice_lines(cause.plans))
    return "\n".join([f"{cause.what}, which breaks the prefix", *rows, *advice])


def _lost_text(plan: PlanDiff) -> str:
    return f"{count(lost_tokens(plan), 'token')} lost"


def causes(plans: Iterable[PlanDiff]) -> list[Cause]:
    """The broken plans by cause, in the order in which each cause first appears."""
    groups: dict[tuple[object, ...], list[PlanDiff]] = {}
    for plan in plans:
        if plan.verdict == "broken":
            groups.setdefault(tuple(_identity(change) for change in unmasked(plan)), []).append(plan)
    return [Cause(unmasked(group[0]), tuple(group)) for group in groups.values()]


def unmasked(plan: PlanDiff) -> tuple[Change, ...]:
    return tuple(change for change in plan.changes if not change.masked)


def place(change: Change) -> Span | None:
    """Where a change was made; the end of the span is not known."""
    return Span(change.path, change.line or 1, change.column or 1) if change.path else None


def phrase(change: Change) -> str:
    """A change in words: `` `bundles/style.md` was edited ``."""
    return PHRASES.get(change.reason, f"{{}}: {change.reason}").format(f"`{change.segment}`")


def lost_tokens(plan: PlanDiff) -> int:
    """Tokens a change costs: the largest loss of a scenario, else of our own text (all text under another key)."""
    losses = [each.lost for each in plan.scenarios.values() if each and each.lost is not None]
    if losses:
        return max(losses)
    if under_another_key(plan):
        return plan.text.tokens_total
    text = plan.own or plan.text
    return text.tokens_total - text.tokens_kept


def under_another_key(plan: PlanDiff) -> bool:
    """Whether the cache is asked under another key, so that equal text is not found in it either."""
    return any(change.code == CACHE_KEY_CHANGED.code for change in unmasked(plan))


def quoted(cause: Cause) -> Break | None:
    """The first break whose text stands for the whole cause; None where a field showed otherwise in each plan."""
    breaks = [plan.first_break for plan in cause.plans if plan.first_break]
    if not breaks or under_another_key(cause.plans[0]) or breaks[0].before == breaks[0].after:
        return None
    texts = {(each.before, each.after) for each in breaks}
    return breaks[0] if len(texts) == 1 or _names_segment(cause.reason) else None


def _names_segment(reason: str) -> bool:
    return "{}" in PHRASES.get(reason, "{}")


def _identity(change: Change) -> tuple[object, ...]:
    """What is one cause: of a field of the launch, the first part of the CLI's own that showed it says nothing."""
    segment = change.segment if _names_segment(change.reason) else None
    return (change.reason, segment, change.path, change.line, change.column, change.code)
