"""From sessions to the report that `agentmux usage` shows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agentmux_usage.grouping import By, Grouping, mark
from agentmux_usage.measure import Measuring, Rates, part_of
from agentmux_usage.measures import Report
from agentmux_usage.priced import price_of
from agentmux_usage.zone import UTC, Zone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from agentmux_usage.breaks import Break
    from agentmux_usage.response import Response, Session

# So many models are named that no price is known for, with so much of their names.
NAMED, LONGEST_NAME = 10, 60


@dataclass(frozen=True, slots=True)
class Asked:
    """What a report is to be of. `since` and `until` are seconds, UTC, the second no part of it; none is open.

    `providers` and `agents` are those that count; without any, all do.
    """

    by: By = "session"
    zone: Zone = UTC
    since: float | None = None
    until: float | None = None
    rates: Rates = field(default_factory=Rates)
    providers: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()

    def takes(self, response: Response) -> bool:
        return (
            (self.since is None or response.time >= self.since)
            and (self.until is None or response.time < self.until)
            and self.asks(response.provider)
            and (not self.agents or response.agent in self.agents)
        )

    def asks(self, provider: str) -> bool:
        return not self.providers or provider in self.providers

    def of(self, session: Session) -> Session:
        """As much of the session as was asked for."""
        return replace(session, responses=tuple(filter(self.takes, session.responses)))


def _unbroken(_session: Session) -> Sequence[Break]:
    return ()


def build(
    sessions: Iterable[Session],
    asked: Asked,
    breaks_of: Callable[[Session], Iterable[Break]] = _unbroken,
) -> Report:
    """The report of the sessions, as far as they were asked for. A session that goes beyond the range is cut at it.

    `breaks_of` gives the breaks of a whole session.
    """
    (report,) = build_each(sessions, asked, (asked.by,), breaks_of)
    return report


def build_each(
    sessions: Iterable[Session],
    asked: Asked,
    groupings: Sequence[By],
    breaks_of: Callable[[Session], Iterable[Break]] = _unbroken,
) -> tuple[Report, ...]:
    """The same sessions in several groupings, looked at once."""
    total, missing = Measuring(), Missing()
    groups = [Grouping(by, asked.zone, asked.rates) for by in groupings]
    for session in sessions:
        kept = asked.of(session)
        if not kept.responses:
            continue
        breaks = tuple(breaks_of(session))
        whole = part_of(kept.responses)
        total.add(whole)
        missing.add(kept.responses)
        for group in groups:
            group.add(kept, whole, breaks)
    measured = total.measures(asked.rates)
    return tuple(
        Report(
            by=group.by,
            rows=group.rows(),
            total=measured,
            zone=asked.zone.name,
            since=asked.since,
            until=asked.until,
            prefill_rate=asked.rates.prefill,
            decode_rate=asked.rates.decode,
            price_as_of=missing.price_as_of if measured.usd else None,
            notes=tuple(missing.notes()),
        )
        for group in groups
    )


def within(session: Session, breaks: Iterable[Break]) -> tuple[Break, ...]:
    """The breaks that the responses of a session show; of one that was cut, those that are left."""
    marks = set(map(mark, session.responses))
    return tuple(each for each in breaks if mark(each) in marks)


class Missing:
    """What the figures of a report leave out, and the day of the prices that they rest on."""

    def __init__(self) -> None:
        self.price_as_of: str | None = None
        self._by_turn: set[str] = set()
        self._priceless: set[str] = set()

    def add(self, responses: Iterable[Response]) -> None:
        for response in responses:
            if response.calls != 1 and response.kind == "main":
                self._by_turn.add(response.provider)
            price = price_of(response)
            if price is not None:
                self.price_as_of = price.as_of
            elif response.tokens.prompt or response.tokens.output:
                self._priceless.add(response.model or "a model without a name")

    def notes(self) -> Iterator[str]:
        if self._by_turn:
            names = ", ".join(sorted(self._by_turn))
            yield f"{names}: only whole turns are known, not their calls, so no context and no session size"
        if self._priceless:
            shown = [name[:LONGEST_NAME] for name in sorted(self._priceless)]
            more = f" and {len(shown) - NAMED:,} more" if len(shown) > NAMED else ""
            yield f"no price is known for {', '.join(shown[:NAMED])}{more}"
