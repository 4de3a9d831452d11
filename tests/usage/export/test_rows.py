from __future__ import annotations

from agentmux_usage.export.rows import TABLES, records, sum_known
from agentmux_usage.priced import usd
from agentmux_usage.response import Session


def test_every_column_is_filled_and_nothing_else(session, breaks):
    for table, record in records(session, breaks):
        assert set(record) <= set(TABLES[table])
        assert set(TABLES[table]) == set(record)


def test_a_session_is_the_sum_of_its_responses(session, breaks):
    tables = [table for table, _ in records(session, breaks)]
    summed = next(record for table, record in records(session, breaks) if table == "sessions")

    assert tables == ["responses"] * 4 + ["sessions", "breaks"]
    assert summed == {
        "provider": "claude",
        "session_id": "it's \N{SNOWMAN}",
        "agent": "reviewer",
        "model": "claude-opus-4-5",
        "started": 1_780_315_200.0,
        "ended": 1_780_315_261.0,
        "turns": 2,
        "responses": 4,
        "subagent_responses": 1,
        "input": 2017,
        "cache_read": 5100,
        "cache_write": 5900,
        "cache_write_1h": 100,
        "output": 273,
        "reasoning": 50,
        "usd": sum(price for response in session.responses if (price := usd(response)) is not None),
        "breaks": 1,
        "lost": 10,
    }


def test_what_is_not_known_stays_unknown():
    assert sum_known([None, None]) is None
    assert sum_known([None, 2, 0]) == 2
    assert list(records(Session("claude", "empty", ()), ())) == []
