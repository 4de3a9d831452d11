"""The tables of responses, sessions and breaks: their columns with types, and what stands in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_launcher.usage import NAMES as TOKENS
from agentmux_usage.priced import usd

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from agentmux_usage.breaks import Break
    from agentmux_usage.response import Response, Session

Value = str | int | float | bool | None
Record = dict[str, Value]

TEXT, COUNT, NUMBER, FLAG, TIME = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP WITH TIME ZONE"
_SUMS = dict.fromkeys(TOKENS, COUNT)

# Each column with its type in DuckDB. Times are given in seconds since 1970, UTC; null is not known.
TABLES: Mapping[str, Mapping[str, str]] = {
    "responses": {
        "provider": TEXT,
        "session_id": TEXT,
        "number": COUNT,
        "turn": COUNT,
        "time": TIME,
        "kind": TEXT,
        "thread": TEXT,
        "agent": TEXT,
        "model": TEXT,
        "vendor": TEXT,
        "effort": TEXT,
        "cli_version": TEXT,
        **_SUMS,
        "calls": COUNT,
        "usd": NUMBER,
        "usd_reported": NUMBER,
        "after_compaction": FLAG,
        "message_id": TEXT,
        "request_id": TEXT,
        "run_id": TEXT,
        "plan": TEXT,
        "prefix": TEXT,
        "cwd": TEXT,
        "source": TEXT,
    },
    "sessions": {
        "provider": TEXT,
        "session_id": TEXT,
        "agent": TEXT,
        "model": TEXT,
        "started": TIME,
        "ended": TIME,
        "turns": COUNT,
        "responses": COUNT,
        "subagent_responses": COUNT,
        **_SUMS,
        "usd": NUMBER,
        "breaks": COUNT,
        "lost": COUNT,
    },
    "breaks": {
        "provider": TEXT,
        "session_id": TEXT,
        "turn": COUNT,
        "call": COUNT,
        "time": TIME,
        "reason": TEXT,
        "expected": COUNT,
        "observed": COUNT,
        "lost": COUNT,
        "predicted": COUNT,
        "usd": NUMBER,
        "path": TEXT,
        "line": COUNT,
        "evidence": TEXT,
        "message_id": TEXT,
    },
}


def records(session: Session, breaks: Sequence[Break]) -> Iterator[tuple[str, Record]]:
    """The rows of a session, each with the table that it belongs to; none for a session without a response."""
    if not session.responses:
        return
    prices = [usd(response) for response in session.responses]
    for number, (response, price) in enumerate(zip(session.responses, prices, strict=True), 1):
        yield "responses", _response(number, response, price)
    yield "sessions", _session(session, breaks, prices)
    for found in breaks:
        yield "breaks", _break(found)


def _response(number: int, response: Response, price: float | None) -> Record:
    known = {name: getattr(response, name) for name in TABLES["responses"] if hasattr(response, name)}
    tokens = {name: getattr(response.tokens, name) for name in TOKENS}
    return known | tokens | {"number": number, "usd": price, "usd_reported": response.usd}


def _session(session: Session, breaks: Sequence[Break], prices: Iterable[float | None]) -> Record:
    responses = session.responses
    sums = {name: sum_known(getattr(response.tokens, name) for response in responses) for name in TOKENS}
    own = session.main or responses
    return {
        "provider": session.provider,
        "session_id": session.session_id,
        "agent": next((response.agent for response in own if response.agent), None),
        "model": next((response.model for response in reversed(own) if response.model), None),
        "started": min(response.time for response in responses),
        "ended": max(response.time for response in responses),
        "turns": len({response.turn for response in own if response.turn > 0}),
        "responses": len(responses),
        "subagent_responses": sum(response.kind == "subagent" for response in responses),
        **sums,
        "usd": sum_known(prices),
        "breaks": len(breaks),
        "lost": sum(found.lost for found in breaks),
    }


def _break(found: Break) -> Record:
    known = {name: getattr(found, name) for name in TABLES["breaks"] if hasattr(found, name)}
    line = found.line
    return known | {
        "reason": found.reason.value,
        "path": line.path if line else None,
        "line": line.line if line else None,
    }


def sum_known(figures: Iterable[float | None]) -> float | None:
    """The sum of what is known; null where nothing is."""
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known else None
