"""How well the comparison of two builds foretold what a cache then lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_usage.breaks import Break
from agentmux_usage.page.scales import Scale, Tick, ticks_to
from agentmux_usage.page.words import compact, moment, tick

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentmux_usage.zone import Zone

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 60, 446, 12, 254
_WORST = 100.0


@dataclass(frozen=True, slots=True)
class Point:
    """A break whose loss was foretold. `error` is in percent of what was lost, above 0 where too much was foretold."""

    x: float
    y: float
    error: float
    error_x: float
    error_y: float
    found: Break


@dataclass(frozen=True, slots=True)
class Calibration:
    """`error` is the sum of all differences, `bias` their signed sum, in percent of all losses."""

    points: tuple[Point, ...]
    error: float
    bias: float
    tokens: tuple[Tick, ...]
    tokens_across: tuple[Tick, ...]
    errors: tuple[Tick, ...]
    moments: tuple[Tick, ...]


def calibration(breaks: Iterable[Break], zone: Zone) -> Calibration | None:
    """Predicted against observed, in the order of time; None where nothing was foretold."""
    pairs = sorted(
        ((found, found.predicted) for found in breaks if found.predicted is not None and found.lost > 0),
        key=lambda pair: (pair[0].time, pair[0].session_id, pair[0].call),
    )
    if not pairs:
        return None
    lost = sum(found.lost for found, _ in pairs)
    differences = [predicted - found.lost for found, predicted in pairs]
    values = ticks_to(max(max(found.lost, predicted) for found, predicted in pairs))
    across, up = Scale(0, values[-1], LEFT, RIGHT), Scale(0, values[-1], BOTTOM, TOP)
    worst = ticks_to(min(_WORST, max(1.0, *(abs(_error(*pair)) for pair in pairs))), 2)[-1]
    errors = Scale(-worst, worst, BOTTOM, TOP)
    return Calibration(
        tuple(_points(pairs, across, up, errors)),
        100 * sum(map(abs, differences)) / lost,
        100 * sum(differences) / lost,
        tuple(Tick(up.at(value), tick(compact(value))) for value in values),
        tuple(Tick(across.at(value), tick(compact(value))) for value in values),
        tuple(Tick(errors.at(value), f"{value:+g}%" if value else "0") for value in _both_ways(worst)),
        _moments(pairs, zone),
    )


def _error(found: Break, predicted: int) -> float:
    return 100 * (predicted - found.lost) / found.lost


def _both_ways(worst: float) -> tuple[float, ...]:
    return (-worst, -worst / 2, 0, worst / 2, worst)


def _points(pairs: Sequence[tuple[Break, int]], across: Scale, up: Scale, errors: Scale) -> Iterable[Point]:
    time = _times(pairs)
    for found, predicted in pairs:
        error = _error(found, predicted)
        shown = max(errors.low, min(errors.high, error))
        yield Point(across.at(predicted), up.at(found.lost), error, time.at(found.time), errors.at(shown), found)


def _times(pairs: Sequence[tuple[Break, int]]) -> Scale:
    first, last = pairs[0][0].time, pairs[-1][0].time
    return Scale(first, max(last, first + 1), LEFT + 8, RIGHT - 8)


def _moments(pairs: Sequence[tuple[Break, int]], zone: Zone) -> tuple[Tick, ...]:
    first, last = pairs[0][0].time, pairs[-1][0].time
    scale = _times(pairs)
    return tuple(Tick(scale.at(time), moment(time, zone)[:10]) for time in dict.fromkeys((first, last)))
