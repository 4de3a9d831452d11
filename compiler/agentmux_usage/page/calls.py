"""The picture of one session: what each call read, wrote and sent anew, and where the cache broke."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_usage.page.marks import Mark, marks
from agentmux_usage.page.scales import Scale, Tick, box, short, step_for, ticks_to
from agentmux_usage.page.words import compact, tick

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_launcher.usage import Tokens
    from agentmux_usage.breaks import Break
    from agentmux_usage.response import Response, Session

WIDTH, HEIGHT = 960, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 940, 34, 256
LAYERS = ("read", "written", "uncached")
_APART = 28
_BUSY = 60

Numbered = tuple[int, "Response"]


@dataclass(frozen=True, slots=True)
class Bar:
    """One call, or the mean of several that follow each other; null is not known.

    `first` and `last` are numbers of the session's responses, from 1. Where a CLI tells of whole turns only, a bar is
    the mean of a turn's calls.
    """

    first: int
    last: int
    turn: int
    time: float
    read: float | None
    written: float | None
    uncached: float | None
    output: float | None

    @property
    def heights(self) -> tuple[float, float, float]:
        return (self.read or 0, self.written or 0, self.uncached or 0)


@dataclass(frozen=True, slots=True)
class CallChart:
    """What the template draws. `paths` has one path for each of `LAYERS`, one rectangle a bar that is not empty.

    `whole` says every response is one call.
    """

    bars: tuple[Bar, ...]
    per_bar: int
    whole: bool
    step: float
    paths: tuple[tuple[str, str], ...]
    marks: tuple[Mark, ...]
    turns: tuple[Tick, ...]
    calls: tuple[Tick, ...]
    tokens: tuple[Tick, ...]


def own_calls(session: Session) -> tuple[Numbered, ...]:
    """The agent's own responses, with their numbers among all of the session."""
    return tuple((number, each) for number, each in enumerate(session.responses, 1) if each.kind == "main")


def call_chart(calls: Sequence[Numbered], breaks: Sequence[tuple[Break, int]], limit: int) -> CallChart:
    """The picture of a session's own calls in at most `limit` bars; each break comes with its place among the calls."""
    per_bar = max(1, -(-len(calls) // limit))
    bars = tuple(_bar(calls[first : first + per_bar]) for first in range(0, len(calls), per_bar))
    values = ticks_to(max([sum(bar.heights) for bar in bars] + [found.expected for found, _ in breaks] + [0]))
    scale = Scale(0, values[-1], BOTTOM, TOP)
    step = (RIGHT - LEFT) / max(len(bars), 12)
    at = [(found, short(LEFT + place // per_bar * step)) for found, place in breaks]
    return CallChart(
        bars,
        per_bar,
        all(response.calls == 1 for _, response in calls),
        step,
        _paths(bars, scale, step),
        marks(at, scale, short(_width(step))),
        _turn_ticks(bars, step),
        _call_ticks(bars, step),
        tuple(Tick(scale.at(value), tick(compact(value))) for value in values),
    )


def _bar(some: Sequence[Numbered]) -> Bar:
    first = some[0][1]
    known = [(response, response.calls or 1) for _, response in some if response.tokens.input is not None]
    return Bar(
        some[0][0],
        some[-1][0],
        first.turn,
        first.time,
        _mean([_each(response.tokens.cache_read, calls) for response, calls in known]),
        _mean([_each(_written(response.tokens), calls) for response, calls in known]),
        _mean([_each(response.tokens.input, calls) for response, calls in known]),
        _mean([_each(response.tokens.output, response.calls or 1) for _, response in some]),
    )


def _written(tokens: Tokens) -> int | None:
    known = [count for count in (tokens.cache_write, tokens.cache_write_1h) if count is not None]
    return sum(known) if known else None


def _each(count: int | None, calls: int) -> float | None:
    return None if count is None else count / calls


def _mean(figures: Sequence[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) / len(known) if known else None


def _paths(bars: Sequence[Bar], scale: Scale, step: float) -> tuple[tuple[str, str], ...]:
    pieces: dict[str, list[str]] = {layer: [] for layer in LAYERS}
    for index, bar in enumerate(bars):
        below = 0.0
        for layer, height in zip(LAYERS, bar.heights, strict=True):
            piece = box(LEFT + index * step, scale.at(below), _width(step), scale.at(below + height))
            pieces[layer].append(piece)
            below += height
    return tuple((layer, "".join(pieces[layer])) for layer in LAYERS)


def _width(step: float) -> float:
    return max(1.0, step - min(3.0, step * 0.2))


def _turn_ticks(bars: Sequence[Bar], step: float) -> tuple[Tick, ...]:
    """Where a turn of the person begins; its number only where there is room, and nothing else where it is busy."""
    ticks: list[Tick] = []
    written = -float(_APART)
    for index, bar in enumerate(bars):
        if bar.turn > 0 and (index == 0 or bars[index - 1].turn != bar.turn):
            at = short(LEFT + index * step)
            room = at - written >= _APART
            ticks.append(Tick(at, str(bar.turn) if room else ""))
            written = at if room else written
    return tuple(tick for tick in ticks if tick.text or len(ticks) <= _BUSY)


def _call_ticks(bars: Sequence[Bar], step: float) -> tuple[Tick, ...]:
    if not bars:
        return ()
    apart = max(1, round(step_for(len(bars), 8)))
    shown = [0, *range(apart - 1, len(bars), apart)]
    return tuple(
        Tick(short(LEFT + index * step + _width(step) / 2), f"{bars[index].first:,}") for index in dict.fromkeys(shown)
    )
