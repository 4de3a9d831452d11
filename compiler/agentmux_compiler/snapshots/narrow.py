"""What the baseline becomes when only some of its plans are accepted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler.snapshots.content import FILES, prefix_files, snapshot_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentmux_compiler.lowered import Lowered, PlanPrefix
    from agentmux_compiler.scope import Scope
    from agentmux_compiler.segment import Text
    from agentmux_compiler.snapshots.baseline import Baseline


def narrowed(plans: Sequence[Lowered], baseline: Baseline, scope: Scope) -> Mapping[str, bytes]:
    """Every file of the new baseline: plans in scope as they are now, the others as they were accepted.

    A text that both kinds share has one file, so it is accepted for both; the others' lists, argv and keys stay.
    """
    if scope.whole:
        return snapshot_files(plans)
    accepted = scope.of(plans)
    texts = {part.name: part.body for plan in accepted for part in plan.prefix.segments if part.body}
    kept = [plan for plan in baseline.plans.values() if not scope.holds(plan.agent, plan.provider)]
    anew = {file.path for plan in accepted for file in plan.files}
    files = {f"{FILES}/{path}": content for path, content in baseline.files.items() if path not in anew}
    return {**files, **prefix_files([_with(plan, texts) for plan in kept]), **snapshot_files(accepted)}


def shared_edits(plans: Sequence[Lowered], baseline: Baseline, scope: Scope) -> dict[str, list[PlanPrefix]]:
    """Segments that accepting the plans in scope would change for others too: those others, by the segment's name."""
    texts = {part.name: part.text for plan in scope.of(plans) for part in plan.prefix.segments if part.body}
    found: dict[str, list[PlanPrefix]] = {}
    for plan in baseline.plans.values():
        if scope.holds(plan.agent, plan.provider):
            continue
        names = {part.name for part in plan.segments if part.body and texts.get(part.name, part.text) != part.text}
        for name in names:
            found.setdefault(name, []).append(plan)
    return found


def _with(plan: PlanPrefix, texts: Mapping[str, Text]) -> PlanPrefix:
    parts = (replace(part, body=texts.get(part.name, part.body)) for part in plan.segments)
    return replace(plan, segments=tuple(parts))
