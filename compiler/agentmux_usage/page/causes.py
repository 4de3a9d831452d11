"""Which reasons the lost tokens have."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_usage.breaks import Break


@dataclass(frozen=True, slots=True)
class Cause:
    """All breaks of one reason. `share` is in percent of the largest, `usd` the sum of what is known."""

    reason: str
    count: int
    lost: int
    usd: float | None
    share: float


def causes(breaks: Iterable[Break]) -> tuple[Cause, ...]:
    """One for each reason that was given, the largest loss first."""
    groups: dict[str, list[Break]] = defaultdict(list)
    for found in breaks:
        groups[found.reason.value].append(found)
    lost = {reason: sum(found.lost for found in group) for reason, group in groups.items()}
    largest = max(lost.values(), default=0) or 1
    order = sorted(groups, key=lambda reason: (-lost[reason], reason))
    return tuple(
        Cause(reason, len(groups[reason]), lost[reason], sum_known(groups[reason]), 100 * lost[reason] / largest)
        for reason in order
    )


def sum_known(breaks: Iterable[Break]) -> float | None:
    """What reading would have saved, over those that have a price; None where none has."""
    known = [found.usd for found in breaks if found.usd is not None]
    return sum(known) if known else None
