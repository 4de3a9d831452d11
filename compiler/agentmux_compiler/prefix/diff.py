"""What a change does to a plan's prefix: where it breaks first, why, and how much of its text stays equal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.costs import NOTHING_STATED, costed
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.divergence import diverge
from agentmux_compiler.prefix.events import asked, compare, events
from agentmux_compiler.prefix.measure import measure_own, measure_text
from agentmux_compiler.prefix.reasons import REASONS
from agentmux_compiler.prefix.rendered import render
from agentmux_compiler.report import Break, Change, DiffReport, PlanDiff, summarise
from agentmux_compiler.tree import byte_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentmux_compiler.diagnostics import Span
    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.prefix.costs import Stated
    from agentmux_compiler.prefix.divergence import Divergence
    from agentmux_compiler.prefix.events import Comparison, Event
    from agentmux_compiler.report import TextKept

SCENARIOS = ("relaunch", "new_prompt", "resume")
# Which of several changes at one byte is held to be the first.
PRECEDENCE = ("edited", "whitespace", "volatile", "reordered", "inserted", "removed")


def diff_all(
    baseline: Mapping[str, PlanPrefix],
    plans: Sequence[PlanPrefix],
    baseline_name: str,
    stated: Stated = NOTHING_STATED,
) -> DiffReport:
    """All plans against a baseline (`AGENT/PROVIDER` to plan), in byte order of these keys."""
    current = {plan.key: plan for plan in plans}
    keys = sorted({*baseline, *current}, key=byte_order)
    found = tuple(diff(baseline.get(key), current.get(key), stated) for key in keys)
    return DiffReport(baseline_name, found, summarise(found))


def diff(before: PlanPrefix | None, after: PlanPrefix | None, stated: Stated = NOTHING_STATED) -> PlanDiff:
    """One plan against its baseline; either may be missing.

    Raises:
        ValueError: both are missing.
    """
    if before and after:
        return _compared(compare(before, after), stated)
    only = after or before
    if only is None:
        raise ValueError("a diff needs a plan")
    rendered, counter = render(only.segments), counter_for(only.vendor, only.served_model)
    text, own = measure_text(rendered, 0, 0, counter), measure_own(rendered, "", counter)
    return _plan_diff(only, "new" if after else "removed", text, own)


def _compared(pair: Comparison, stated: Stated) -> PlanDiff:
    counter = counter_for(pair.after.vendor, pair.after.served_model)
    parted = diverge(pair.left, pair.right, pair.same)
    cause, found = _cause(events(pair), parted)
    verdict = "broken" if cause else "kept" if found else "unchanged"
    byte, own = (parted.byte, parted.own) if parted else (pair.right.size, len(pair.right.own))
    text, own_text = measure_text(pair.right, byte, own, counter), measure_own(pair.right, pair.left.own, counter)
    compared = replace(
        _plan_diff(pair.after, verdict, text, own_text),
        first_break=_break(cause, parted, pair) if cause else None,
        changes=tuple(_change(event, cause, byte) for event in sorted(found, key=lambda each: _order(each, cause))),
    )
    return costed(compared, pair.before, pair.after, stated)


def _cause(found: list[Event], parted: Divergence | None) -> tuple[Event | None, list[Event]]:
    """The change that the first break is due to, and all of them: a key of the cache comes before any text."""
    text_cause = _text_cause(found, parted)
    keys = [event for event in found if event.key]
    if not keys or text_cause in keys:
        return text_cause, found
    cause = replace(keys[0], layer="key", segment=keys[0].axis or "")
    return cause, [cause if event is keys[0] else event for event in found]


def _text_cause(found: Sequence[Event], parted: Divergence | None) -> Event | None:
    """The last change that begins to act at or before the byte at which the texts part."""
    if parted is None:
        return None
    acting = [event for event in found if event.shows and event.position is not None and event.position <= parted.byte]
    return max(acting, key=lambda event: (event.position or 0, -_precedence(event)))


def _precedence(event: Event) -> int:
    return PRECEDENCE.index(event.reason) if event.axis is None else -1


def _order(event: Event, cause: Event | None) -> tuple[bool, bool, bool, int, str, str]:
    """First the cause, then keys, then by place in the prompt; last what shows nowhere."""
    nowhere = event.position is None
    return (event is not cause, not event.key, nowhere, event.position or 0, event.reason, event.segment)


def _change(event: Event, cause: Event | None, byte: int) -> Change:
    behind = event.shows or event.key or (event.position or 0) > byte
    span = event.span
    return Change(
        reason=event.reason,
        layer=event.layer,
        segment=event.segment,
        path=span.path if span else None,
        line=span.line if span else None,
        masked=cause is not None and event is not cause and behind,
        code=REASONS[event.reason].code,
        column=span.column if span else None,
        detail=event.detail,
    )


def _break(cause: Event, parted: Divergence | None, pair: Comparison) -> Break:
    if parted is None or cause.layer == "key":
        return _key_break(cause, pair)
    before, after = (side.excerpt(signs=cause.reason == "whitespace") for side in (parted.before, parted.after))
    segment, span = cause.segment, cause.span
    if cause.reason == "reordered":
        segment, span = _standing(parted.byte, pair) or (segment, span)
    return Break(
        cause.layer, segment, span.path if span else None, span.line if span else None, parted.byte, before, after
    )


def _standing(byte: int, pair: Comparison) -> tuple[str, Span | None] | None:
    """The segment of ours that now stands where the texts part, and the place that lists it."""
    for piece in pair.right.pieces:
        if piece.start <= byte < piece.end and not piece.segment.opaque:
            return piece.segment.name, asked(piece.segment)
    return None


def _key_break(cause: Event, pair: Comparison) -> Break:
    """No text parts: the values of the key stand for it, at the beginning of the prompt."""
    before, after = (getattr(plan, cause.axis or "") or "" for plan in (pair.before, pair.after))
    span = cause.span
    return Break("key", cause.axis or "", span.path if span else None, span.line if span else None, 0, before, after)


def _plan_diff(plan: PlanPrefix, verdict: str, text: TextKept, own: TextKept) -> PlanDiff:
    return PlanDiff(
        agent=plan.agent,
        provider=plan.provider,
        vendor=plan.vendor,
        backend=plan.backend,
        model=plan.model,
        effort=plan.effort,
        cli_version=plan.cli_version,
        verdict=verdict,
        text=text,
        scenarios=dict.fromkeys(SCENARIOS),
        own=own,
    )
