"""Where breaks stand in the picture of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_usage.breaks import Break
from agentmux_usage.page.scales import Scale, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_usage.response import Response, Session

DOT, DISC = 4, 9
_LINE = 18


@dataclass(frozen=True, slots=True)
class Mark:
    """A break in the picture: its number in the session's list, and the box of what was stored and not read.

    `radius` is `DOT` where a disc with its number would lie on another.
    """

    number: int
    x: float
    y: float
    left: float
    width: float
    top: float
    height: float
    radius: int
    found: Break


def marks(breaks: Sequence[tuple[Break, float]], scale: Scale, width: float) -> tuple[Mark, ...]:
    """One for each break, which comes with the left edge of its bar; in the order of their numbers."""
    return tuple(_mark(number, *each, scale, width) for number, each in enumerate(_with_room(breaks), 1))


def _with_room(breaks: Sequence[tuple[Break, float]]) -> Iterator[tuple[Break, float, int]]:
    """A disc for each that is far enough from the disc before it and from the one behind."""
    numbered = -2.0 * DISC
    for index, (found, left) in enumerate(breaks):
        behind = breaks[index + 1][1] if index + 1 < len(breaks) else left + 4 * DISC
        room = left - numbered > 2 * DISC and behind - left > DISC + DOT
        numbered = left if room else numbered
        yield found, left, DISC if room else DOT


def _mark(number: int, found: Break, left: float, radius: int, scale: Scale, width: float) -> Mark:  # noqa: PLR0913, PLR0917
    top = scale.at(found.expected)
    height = max(0, short(scale.at(found.observed) - top))
    return Mark(number, short(left + width / 2), _LINE, left, width, top, height, radius, found)


def placed(breaks: Iterable[Break], session: Session) -> tuple[list[tuple[Break, int]], list[Break]]:
    """The breaks of the agent's own calls, each with its place among these from 0, in that order; and all others.

    A response is found by its message where that is known, else by its moment: the number of a break counts also what a
    range of days leaves out.
    """
    places = {id(response): index for index, response in enumerate(session.main)}
    known: dict[str | float, Response] = {}
    for response in session.responses:
        known.setdefault(response.time, response)
        known.setdefault(response.message_id or response.time, response)
    inside: list[tuple[Break, int]] = []
    outside: list[Break] = []
    for found in breaks:
        shown = known.get(found.message_id or found.time) or known.get(found.time)
        place = places.get(id(shown))
        if place is None:
            outside.append(found)
        else:
            inside.append((found, place))
    return sorted(inside, key=lambda each: each[1]), outside
