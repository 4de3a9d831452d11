"""What broke prefixes: segments and fields of the launch, over plans and over commits."""

from __future__ import annotations

import re
from collections import Counter as Tally
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.history.losses import loss_of, total
from agentmux_compiler.prefix.history.report import Culprit
from agentmux_compiler.tree import byte_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_compiler.report import Change, PlanDiff

_OF_A_PLAN = re.compile(r"[@+][a-z0-9@+~-]*\.md$")


def culprits(plans: Iterable[PlanDiff]) -> tuple[Culprit, ...]:
    """What broke the plans of one commit, the costliest first; a plan's whole loss is ascribed to its first change."""
    groups: dict[str, list[tuple[PlanDiff, Change]]] = {}
    for plan in plans:
        if plan.verdict == "broken" and plan.changes:
            groups.setdefault(source_name(plan.changes[0].segment), []).append((plan, plan.changes[0]))
    return _costliest(_culprit(segment, found) for segment, found in groups.items())


def merged(by_commit: Iterable[Iterable[Culprit]]) -> tuple[Culprit, ...]:
    """The same over many commits, oldest first; the place is the last one."""
    groups: dict[str, list[Culprit]] = {}
    for each in (each for found in by_commit for each in found):
        groups.setdefault(each.segment, []).append(each)
    return _costliest(_sum(found) for found in groups.values())


def source_name(segment: str) -> str:
    """A segment's name without the agent and the provider that it may depend on."""
    return segment if segment.startswith("native/") else _OF_A_PLAN.sub(".md", segment)


def _culprit(segment: str, found: list[tuple[PlanDiff, Change]]) -> Culprit:
    first = found[0][1]
    return Culprit(
        segment=segment,
        reasons=_often(change.reason for _, change in found),
        path=first.path,
        line=first.line,
        commits=1,
        plans=len(found),
        loss=total(loss_of(plan) for plan, _ in found),
    )


def _sum(found: list[Culprit]) -> Culprit:
    last = found[-1]
    return Culprit(
        segment=last.segment,
        reasons=_often(reason for each in found for reason in each.reasons),
        path=last.path,
        line=last.line,
        commits=sum(each.commits for each in found),
        plans=sum(each.plans for each in found),
        loss=total(each.loss for each in found),
    )


def _often(reasons: Iterable[str]) -> tuple[str, ...]:
    return tuple(reason for reason, _ in sorted(Tally(reasons).items(), key=lambda item: (-item[1], item[0])))


def _costliest(found: Iterable[Culprit]) -> tuple[Culprit, ...]:
    return tuple(
        sorted(found, key=lambda each: (-each.loss.sessions, -each.loss.tokens["text"], byte_order(each.segment)))
    )
