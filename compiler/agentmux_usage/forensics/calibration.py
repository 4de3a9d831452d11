"""How far what builds said would be lost was from what was lost, for each provider and over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentmux_usage.breaks import Break


@dataclass(frozen=True, slots=True)
class Point:
    """One break: its error, as a part of what was lost (0.05 is 5 %)."""

    time: float
    predicted: int
    observed: int

    @property
    def error(self) -> float:
        return abs(self.predicted - self.observed) / self.observed


@dataclass(frozen=True, slots=True)
class Calibration:
    """The errors of one provider's predictions, as parts of what was lost; `points` in the order of time."""

    provider: str
    points: tuple[Point, ...]

    @property
    def count(self) -> int:
        return len(self.points)

    @property
    def median(self) -> float:
        return self._at(0.5)

    @property
    def p90(self) -> float:
        """The error that nine of ten predictions do not pass."""
        return self._at(0.9)

    def _at(self, share: float) -> float:
        """The smallest error that so large a share of all do not pass."""
        errors = sorted(point.error for point in self.points)
        return errors[max(0, math.ceil(share * len(errors)) - 1)]


def calibration(breaks: Iterable[Break]) -> tuple[Calibration, ...]:
    """For each provider whose losses were ever predicted, in byte order of their names."""
    known = [found for found in breaks if found.predicted is not None and found.lost > 0]
    names = sorted({found.provider for found in known}, key=str.encode)
    return tuple(Calibration(name, _points([each for each in known if each.provider == name])) for name in names)


def _points(breaks: Sequence[Break]) -> tuple[Point, ...]:
    ordered = sorted(breaks, key=lambda found: (found.time, found.session_id, found.call))
    return tuple(Point(found.time, found.predicted or 0, found.lost) for found in ordered)
