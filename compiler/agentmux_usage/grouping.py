"""Rows of a report: responses grouped by session, turn, agent, provider, model or day."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal, get_args

from agentmux_usage.measure import Measuring, Part, Rates, part_of
from agentmux_usage.measures import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentmux_usage.breaks import Break
    from agentmux_usage.response import Response, Session
    from agentmux_usage.zone import Zone

By = Literal["session", "turn", "agent", "provider", "model", "day"]
GROUPINGS: tuple[By, ...] = get_args(By)
NONE = "-"
_BY_TIME = ("session", "turn", "day")
Mark = tuple[str | None, float]
Marks = defaultdict[Mark, list["Break"]]
# Groupings whose groups are of one session each.
_OF_ONE = ("session", "turn")


class Grouping:
    """Groups to which one session after the other is added; none of their responses is kept."""

    def __init__(self, by: By, zone: Zone, rates: Rates) -> None:
        self.by = by
        self._zone = zone
        self._rates = rates
        self._groups: dict[tuple[str, ...], Group] = {}
        self._rows: list[Row] = []

    def add(self, session: Session, whole: Part, breaks: Iterable[Break] = ()) -> None:
        """A session with at least one response, and what all of it adds up to."""
        parts: defaultdict[tuple[str, ...], list[Response]] = defaultdict(list)
        for response in session.responses:
            parts[self._key(response)].append(response)
        marks: Marks = defaultdict(list)
        for each in breaks:
            marks[mark(each)].append(each)
        for key, part in parts.items():
            summed = whole if len(parts) == 1 else part_of(part)
            self._groups.setdefault(key, Group()).add(part, summed, marks)
        if self.by in _OF_ONE:
            self._finish()

    def rows(self) -> tuple[Row, ...]:
        """By time the newest first, else those that read most first."""
        self._finish()
        return tuple(sorted(self._rows, key=_latest if self.by in _BY_TIME else _largest))

    def _finish(self) -> None:
        """Make rows of the groups, to which nothing more will come."""
        self._rows += [group.row(key[0], self._rates) for key, group in self._groups.items()]
        self._groups = {}

    def _key(self, response: Response) -> tuple[str, ...]:
        if self.by == "session":
            return (response.session_id, response.provider)
        if self.by == "turn":
            return (f"{response.session_id}#{response.turn}", response.provider)
        if self.by == "day":
            return (self._zone.day(response.time),)
        found: str | None = getattr(response, self.by)
        return (found or NONE,)


class Group:
    """What becomes a row."""

    def __init__(self) -> None:
        self._measuring = Measuring()
        self._breaks: list[Break] = []
        self._agents: set[str | None] = set()
        self._providers: set[str | None] = set()
        self._models: set[str | None] = set()
        self._folders: list[str] = []
        self._started, self._ended = float("inf"), float("-inf")

    def add(self, part: Sequence[Response], summed: Part, marks: Marks) -> None:
        """Responses of one session, in the order of their time, their sums, and the breaks that they may show.

        Each break is taken out of `marks`, so that it is counted once even where two responses have one mark.
        """
        self._measuring.add(summed)
        own = [response for response in part if response.kind == "main"] or part
        self._agents |= {response.agent for response in own}
        self._providers.add(part[0].provider)
        self._models |= {response.model for response in own}
        self._folders += [response.cwd for response in own if response.cwd][:1]
        self._started = min(self._started, part[0].time)
        self._ended = max(self._ended, part[-1].time)
        if marks:
            for response in part:
                if found := marks.get(mark(response)):
                    self._breaks.append(found.pop(0))

    def row(self, key: str, rates: Rates) -> Row:
        return Row(
            key=key,
            agent=_only(self._agents),
            provider=_only(self._providers),
            model=_only(self._models),
            started=self._started,
            ended=self._ended,
            measures=self._measuring.measures(rates),
            breaks=tuple(sorted(self._breaks, key=lambda each: (each.time, each.session_id, each.call))),
            folder=self._folders[0] if len(set(self._folders)) == 1 else None,
        )


def mark(of: Response | Break) -> Mark:
    """What finds the response of a break. Two requests may have had answers of one id, but not at one time."""
    return of.message_id, of.time


def _only(found: set[str | None]) -> str | None:
    """What all have, where all have the same."""
    return next(iter(found)) if len(found) == 1 else None


def _latest(row: Row) -> tuple[float, str]:
    return (-row.ended, row.key)


def _largest(row: Row) -> tuple[float, str]:
    return (-(row.measures.cumulative_prefill or 0), row.key)
