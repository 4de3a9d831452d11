"""What each agent cost on each day, as columns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from agentmux_usage.page.scales import Scale, Tick, box, short, ticks_to
from agentmux_usage.page.words import compact, dollars, tick

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from agentmux_usage.response import Response
    from agentmux_usage.zone import Zone

WIDTH, HEIGHT = 960, 260
LEFT, RIGHT, TOP, BOTTOM = 56, 948, 12, 216
OTHERS = "others"
_COLOURS = 7
_DAYS = 62
_LABELS = 10
_WIDEST = 48
# So much of a date is the name of a period that begins with it.
_WRITTEN = {"year": 4, "month": 7}


@dataclass(frozen=True, slots=True)
class Series:
    """One agent's columns in one path; `values` has one figure for each period, null where there is none."""

    agent: str
    colour: int
    path: str
    values: tuple[float | None, ...]

    @property
    def total(self) -> float | None:
        return sum_known(self.values)


@dataclass(frozen=True, slots=True)
class DayChart:
    """What the template draws. `priced` says dollars; else the columns count input that no cache served.

    `unpriced` is how many responses no price is known for, and so stand in no column of dollars.
    """

    priced: bool
    period: str
    periods: tuple[str, ...]
    series: tuple[Series, ...]
    unpriced: int
    labels: tuple[Tick, ...]
    values: tuple[Tick, ...]

    @property
    def totals(self) -> tuple[float | None, ...]:
        return tuple(map(sum_known, zip(*(each.values for each in self.series), strict=True)))

    def text(self, value: float | None) -> str:
        return dollars(value) if self.priced else compact(value)

    def cell(self, value: float | None) -> str:
        return "" if value is None else self.text(value)


def day_chart(responses: Iterable[Response], zone: Zone, price: Callable[[Response], float | None]) -> DayChart:
    """Dollars by agent and day of `zone`; weeks, months or years where the days are too many."""
    rows = [(zone.local(response.time).date(), _whose(response), price(response), response) for response in responses]
    priced = any(usd is not None for _, _, usd, _ in rows)
    costs = [(day, agent, usd if priced else _anew(response)) for day, agent, usd, response in rows]
    period, start = _period([day for day, _, _ in costs])
    sums: dict[str, dict[date, float | None]] = defaultdict(dict)
    for day, agent, cost in costs:
        sums[agent][start(day)] = sum_known((sums[agent].get(start(day)), cost))
    periods = _all_periods({day for agent in sums.values() for day in agent}, start)
    series = _series(_folded(sums), periods)
    unpriced = sum(usd is None for _, _, usd, _ in rows)
    return _drawn(series, periods, priced=priced, period=period, unpriced=unpriced)


def _whose(response: Response) -> str:
    return response.agent or f"{response.provider}, no agent"


def _anew(response: Response) -> float:
    tokens = response.tokens
    return sum(filter(None, (tokens.input, tokens.cache_write, tokens.cache_write_1h)))


def _period(days: Sequence[date]) -> tuple[str, Callable[[date], date]]:
    span = (max(days) - min(days)).days + 1 if days else 0
    if span <= _DAYS:
        return "day", lambda day: day
    if span <= _DAYS * 7:
        return "week", lambda day: day - timedelta(days=day.weekday())
    if span <= _DAYS * 31:
        return "month", lambda day: day.replace(day=1)
    return "year", lambda day: day.replace(month=1, day=1)


def _all_periods(seen: Iterable[date], start: Callable[[date], date]) -> tuple[date, ...]:
    """From the first to the last, those without a response too, unless clocks that were wrong have drawn them out."""
    ends = sorted(seen)
    if not ends:
        return ()
    count = (ends[-1] - ends[0]).days + 1
    if count > _DAYS * 366:
        return tuple(ends)
    return tuple(dict.fromkeys(start(ends[0] + timedelta(days=index)) for index in range(count)))


def _folded(sums: Mapping[str, Mapping[date, float | None]]) -> dict[str, Mapping[date, float | None]]:
    """The costliest agents, each with a colour of its own, and one sum of all others."""
    order = sorted(
        sums, key=lambda agent: (-(sum_known(sums[agent].values()) or 0), agent.encode("utf-8", "surrogatepass"))
    )
    shown: dict[str, Mapping[date, float | None]] = {agent: sums[agent] for agent in order[:_COLOURS]}
    rest: dict[date, float | None] = {}
    for agent in order[_COLOURS:]:
        for day, cost in sums[agent].items():
            rest[day] = sum_known((rest.get(day), cost))
    return shown | ({f"{len(order) - _COLOURS} {OTHERS}": rest} if rest else {})


def _series(sums: Mapping[str, Mapping[date, float | None]], periods: Sequence[date]) -> list[Series]:
    return [
        Series(agent, colour, "", tuple(sums[agent].get(day) for day in periods)) for colour, agent in enumerate(sums)
    ]


def _drawn(series: list[Series], periods: Sequence[date], *, priced: bool, period: str, unpriced: int) -> DayChart:
    totals = [sum_known(column) or 0 for column in zip(*(each.values for each in series), strict=True)]
    values = ticks_to(max(totals, default=0))
    scale = Scale(0, values[-1], BOTTOM, TOP)
    step = min(float(_WIDEST * 2), (RIGHT - LEFT) / max(len(periods), 1))
    write = dollars if priced else compact
    below = [0.0] * len(periods)
    drawn = []
    for each in series:
        above = [low + (value or 0) for low, value in zip(below, each.values, strict=True)]
        pieces = [
            box(LEFT + (index + 0.12) * step, scale.at(low), step * 0.76, scale.at(high))
            for index, (low, high) in enumerate(zip(below, above, strict=True))
        ]
        below = above
        drawn.append(Series(each.agent, each.colour, "".join(pieces), each.values))
    return DayChart(
        priced,
        period,
        tuple(_named(day, period) for day in periods),
        tuple(drawn),
        unpriced,
        _labels(periods, step, period),
        tuple(Tick(scale.at(value), tick(write(value))) for value in values),
    )


def sum_known(figures: Iterable[float | None]) -> float | None:
    """The sum of what is known; null where nothing is."""
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known else None


def _named(day: date, period: str) -> str:
    return day.isoformat()[: _WRITTEN.get(period, 10)]


def _labels(periods: Sequence[date], step: float, period: str) -> tuple[Tick, ...]:
    every = max(1, -(-len(periods) // _LABELS))
    return tuple(
        Tick(short(LEFT + (index + 0.5) * step), _named(day, period))
        for index, day in enumerate(periods)
        if index % every == 0
    )
