"""The closed list of reasons a prefix changes for, and what each is called when it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmux_compiler.diagnostics import Diagnostic, Rule
    from agentmux_compiler.report import Change, PlanDiff

REASONS: Mapping[str, Rule] = {
    "edited": rules.PREFIX_BROKEN,
    "inserted": rules.PREFIX_BROKEN,
    "removed": rules.PREFIX_BROKEN,
    "reordered": rules.SEGMENT_REORDERED,
    "renamed": rules.SEGMENT_RENAMED,
    "model": rules.CACHE_KEY_CHANGED,
    "effort": rules.CACHE_KEY_CHANGED,
    "tools": rules.REQUEST_CHANGED,
    "permission": rules.REQUEST_CHANGED,
    "environment": rules.REQUEST_CHANGED,
    "delivery": rules.REQUEST_CHANGED,
    "cli-version": rules.CLI_VERSION_CHANGED,
    "volatile": rules.VOLATILE_SEGMENT,
    "whitespace": rules.INVISIBLE_CHANGE,
}


def diagnostics(plan: PlanDiff) -> tuple[Diagnostic, ...]:
    """What a plan's changes have to say, for formats that know diagnostics only: none of a masked one.

    Severity is the rule's: a note where somebody meant the change, a warning where it may have slipped in.
    """
    if plan.verdict not in {"broken", "kept"}:
        return ()
    masked = sum(change.masked for change in plan.changes)
    notes = (f"{masked} more changed behind it at no further cost",) if masked else ()
    return tuple(_diagnostic(change, plan, notes) for change in plan.changes if not change.masked)


def _diagnostic(change: Change, plan: PlanDiff, notes: tuple[str, ...]) -> Diagnostic:
    span = Span(change.path, change.line or 1, change.column or 1) if change.path else None
    breaks = plan.first_break is not None and change is plan.changes[0]
    effect = (
        f"breaks the prefix of `{plan.agent}/{plan.provider}` in `{change.layer}`" if breaks else "keeps the prefix"
    )
    detail = (change.detail,) if change.detail else ()
    message = f"`{change.segment}` ({change.reason}) {effect}"
    return REASONS[change.reason].at(span, message, notes=(*detail, *(notes if breaks else ())))
