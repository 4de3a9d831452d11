"""Times and figures as evidence states them."""

from __future__ import annotations

from agentmux_compiler.render.words import count

EXACT = 10  # seconds below which tenths are told
MINUTE, HOUR, DAY = 60, 3_600, 86_400


def span(seconds: float) -> str:
    """A time in its two largest units: `2.5 s`, `40 s`, `12 min 5 s`, `1 h 5 min`, `2 d 3 h`."""
    whole = int(seconds)
    if whole < EXACT:
        return f"{round(seconds, 1):g} s"
    for size, name, small, part in ((DAY, "d", HOUR, "h"), (HOUR, "h", MINUTE, "min"), (MINUTE, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // small
            return f"{whole // size} {name}" + (f" {rest} {part}" if rest else "")
    return f"{whole} s"


def tokens(value: int) -> str:
    return count(value, "token")
