"""Counts, money and times as people read them; `-` is not known, `+` is at least."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmux_usage.measures import Measures
    from agentmux_usage.zone import Zone

UNKNOWN = "-"
_STEPS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))
_SMALLEST = 0.0001


def tokens(count: float | None) -> str:
    """Three digits: 999, 12.3k, 1.31M."""
    if count is None:
        return UNKNOWN
    for step, letter in _STEPS:
        if abs(count) >= step * 0.9995:
            return _three(count / step) + letter
    return f"{count:.0f}"


def money(usd: float | None) -> str:
    """Cents where there are many, four digits where there are few."""
    if usd is None:
        return UNKNOWN
    if 0 < usd < _SMALLEST:
        return "<$0.0001"
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"


def ratio(value: float | None) -> str:
    if value is None:
        return UNKNOWN
    return f"{value:.1f}x" if value < 9.95 else f"{value:.0f}x"  # noqa: PLR2004  it would read 10.0


def percent(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}%"


def duration(seconds: float | None) -> str:
    """Two units at most: 30 s, 21 min, 1 h 05 min."""
    if seconds is None:
        return UNKNOWN
    whole = round(seconds)
    if whole < 120:  # noqa: PLR2004  two minutes
        return f"{whole} s" if seconds >= 1 else f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"  # noqa: PLR2004


def at_least(value: str, measures: Measures, name: str) -> str:
    """A figure, with `+` where some response does not state it."""
    return f"{value}+" if name in measures.partial and value != UNKNOWN else value


def minute(seconds: float, zone: Zone) -> str:
    """A time of day in a zone."""
    return zone.local(seconds).strftime("%Y-%m-%d %H:%M")


def _three(value: float) -> str:
    size = abs(value)
    return f"{value:.2f}" if size < 9.995 else f"{value:.1f}" if size < 99.95 else f"{value:.0f}"  # noqa: PLR2004
