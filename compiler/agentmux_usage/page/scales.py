"""From values to places in a picture: linear scales with round ticks, and coordinates in few characters."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis and what is written there."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Scale:
    """`low` to `high` of a value on `start` to `end` of the picture."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return short(self.start + share * (self.end - self.start))


def short(value: float) -> float:
    """A coordinate in as few characters as the eye needs."""
    rounded = round(value, 1)
    return int(rounded) if rounded == int(rounded) else rounded


def step_for(top: float, count: int = 4) -> float:
    """A round step (1, 2, 2.5 or 5 times a power of ten) that needs at most about `count` steps to reach `top`."""
    rough = top / count
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)


def ticks_to(top: float, count: int = 4) -> tuple[float, ...]:
    """Round values from 0 to the first that is not below `top`; 0 and 1 where there is nothing to show."""
    if top <= 0:
        return (0.0, 1.0)
    step = step_for(top, count)
    return tuple(step * index for index in range(math.ceil(top / step - 1e-9) + 1))


def box(x: float, bottom: float, width: float, top: float) -> str:
    """A rectangle as a piece of an SVG path; nothing for one without height."""
    height = short(bottom - top)
    return f"M{short(x)} {short(bottom)}h{short(width)}v{short(-height)}h{short(-width)}z" if height > 0 else ""
