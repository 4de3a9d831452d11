"""Each session as the page shows it: a line to choose it by, and the figures, the picture and the breaks behind it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_usage.breaks import Break
from agentmux_usage.measures import Measures
from agentmux_usage.page.calls import CallChart, call_chart, own_calls
from agentmux_usage.page.causes import sum_known
from agentmux_usage.page.marks import placed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentmux_usage.measures import Report, Row
    from agentmux_usage.response import Session

DRAWN = 300
LISTED = 1000
BARS = 8000
BARS_EACH = 446

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Shown:
    """One session. `number` counts from 1, newest first; `chart` is null where too many others are drawn.

    `breaks` stand in the order of the marks in the picture, those of sub-agents, without a place in it, at the end.
    """

    number: int
    session_id: str
    provider: str
    agent: str | None
    models: tuple[str, ...]
    started: float
    ended: float
    calls: int
    subagent_calls: int
    side_calls: int
    measures: Measures | None
    breaks: tuple[Break, ...]
    chart: CallChart | None

    @property
    def lost(self) -> int:
        return sum(found.lost for found in self.breaks)

    @property
    def lost_usd(self) -> float | None:
        return sum_known(self.breaks)


def shown_sessions(report: Report, sessions: Iterable[Session]) -> tuple[Shown, ...]:
    """All sessions that have a response, newest first; the ones with the longest input of all calls are drawn."""
    there = [session for session in sessions if session.responses]
    order = sorted(there, key=lambda one: (-_ended(one), one.provider, one.session_id))
    breaks = breaks_by_session(all_breaks(report))
    rows = {(row.provider or "", row.key): row for row in report.rows if report.by == "session"}
    limits = _limits(order)
    return tuple(
        _shown(number, session, rows.get(_key(session)), breaks.get(_key(session), ()), limits.get(_key(session)))
        for number, session in enumerate(order, 1)
    )


def all_breaks(report: Report) -> tuple[Break, ...]:
    """Every break of the report once, in the order of time."""
    found = {each: None for row in report.rows for each in row.breaks}
    return tuple(sorted(found, key=lambda each: (each.time, each.provider, each.session_id, each.call)))


def breaks_by_session(breaks: Iterable[Break]) -> Mapping[Key, tuple[Break, ...]]:
    groups: dict[Key, list[Break]] = defaultdict(list)
    for found in breaks:
        groups[(found.provider, found.session_id)].append(found)
    return {key: tuple(group) for key, group in groups.items()}


def _key(session: Session) -> Key:
    return (session.provider, session.session_id)


def _ended(session: Session) -> float:
    return max(response.time for response in session.responses)


def _input(session: Session) -> int:
    return sum(response.tokens.prompt or 0 for response in session.responses)


def _limits(sessions: Sequence[Session]) -> dict[Key, int]:
    """How many bars each drawn session gets: all it needs, as long as the page stays light."""
    largest = sorted(sessions, key=lambda one: (-_input(one), one.provider, one.session_id))[:DRAWN]
    wanted = {_key(session): min(len(session.main), BARS_EACH) for session in largest}
    if sum(wanted.values()) <= BARS:
        return wanted
    each = next(most for most in range(BARS_EACH, 0, -1) if sum(min(most, need) for need in wanted.values()) <= BARS)
    return {key: min(each, need) for key, need in wanted.items()}


def _shown(number: int, session: Session, row: Row | None, breaks: tuple[Break, ...], limit: int | None) -> Shown:
    main = session.main
    inside, outside = placed(breaks, session)
    kinds = Counter(response.kind for response in session.responses)
    return Shown(
        number,
        session.session_id,
        session.provider,
        row.agent if row else _first(response.agent for response in session.responses),
        tuple(dict.fromkeys(response.model for response in main if response.model)),
        min(response.time for response in session.responses),
        _ended(session),
        len(main),
        kinds["subagent"],
        kinds["side"],
        row.measures if row else None,
        (*(found for found, _ in inside), *outside),
        call_chart(own_calls(session), inside, limit) if limit else None,
    )


def _first(names: Iterable[str | None]) -> str | None:
    return next((name for name in names if name), None)
