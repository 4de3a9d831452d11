"""Figures and times as the page writes them."""

from __future__ import annotations

import math
import re

from agentmux_usage.zone import Zone, named

UNKNOWN = "\N{EN DASH}"
_TIMES = "\N{MULTIPLICATION SIGN}"
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def compact(count: float | None) -> str:
    """A count in three significant digits: `950`, `50.2k`, `7.98M`."""
    if count is None:
        return UNKNOWN
    for size, unit in _UNITS:
        if abs(count) >= size * 0.9995:
            return f"{_three_digits(count / size)}{unit}"
    return f"{round(count)}"


def _three_digits(value: float) -> str:
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value) * 1.0005)))}f}"


def tick(text: str) -> str:
    """A figure as an axis has it, without zeros to spare: `50k` for `50.0k`, `2.5M` for `2.50M`, `$8` for `$8.00`."""
    if text.startswith("$"):
        return text.removesuffix(".00")
    return re.sub(r"\.(\d*?)0+(?!\d)", lambda found: f".{found[1]}" if found[1] else "", text)


def exact(count: float | None) -> str:
    """A count in full: `7,983,112`."""
    return UNKNOWN if count is None else f"{round(count):,}"


def dollars(usd: float | None) -> str:
    """Cents from one cent up, two significant digits below."""
    if usd is None:
        return UNKNOWN
    if abs(usd) >= 1000:  # noqa: PLR2004  from here on nobody counts cents
        return f"${usd:,.0f}"
    if usd == 0 or abs(usd) >= 0.01:  # noqa: PLR2004
        return f"${usd:,.2f}"
    return f"${usd:.{1 - math.floor(math.log10(abs(usd)))}f}"


def percent(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f}%"


def times(value: float | None) -> str:
    """How often a session was read: `52` and a multiplication sign."""
    return UNKNOWN if value is None else f"{_three_digits(value) if 0 < value < 10 else f'{round(value):,}'}{_TIMES}"  # noqa: PLR2004


def duration(seconds: float | None) -> str:
    """Two units at most: `42 s`, `21 min 04 s`, `3 h 05 min`."""
    if seconds is None:
        return UNKNOWN
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004
        return f"{whole} s"
    if whole < 3600:  # noqa: PLR2004
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60:02} min"


def zone_of(name: str) -> Zone:
    """The zone of a report's `zone`: one with a name, or the one that the system's clock keeps."""
    return named(name) or Zone(name, None)


def moment(time: float, zone: Zone) -> str:
    return f"{zone.local(time):%Y-%m-%d %H:%M}"


def clock(time: float, zone: Zone) -> str:
    return f"{zone.local(time):%H:%M:%S}"


def pieces(text: str) -> tuple[tuple[str, bool], ...]:
    """A sentence in pieces, each with whether it is a name that stood between backticks; a lone backtick stays."""
    found = re.split(r"`([^`]+)`", text)
    return tuple((piece, index % 2 == 1) for index, piece in enumerate(found) if piece)
