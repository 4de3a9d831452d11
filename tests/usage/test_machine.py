"""JSON and CSV, whole."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_launcher.usage import Tokens
from agentmux_usage import machine
from agentmux_usage.breaks import Break, Line, Reason
from agentmux_usage.report import Asked, build_each
from agentmux_usage.response import Response, Session
from agentmux_usage.zone import UTC, Zone

LIKE = {"provider": "claude", "session_id": "s1", "model": "claude-opus-5", "agent": "reviewer"}
SESSION = Session(
    "claude",
    "s1",
    (
        Response(**LIKE, time=1_796_000_000.0, tokens=Tokens(10, 0, 20_000, 0, 300), turn=1, message_id="m1"),
        Response(**LIKE, time=1_796_000_060.5, tokens=Tokens(20, 3_000, 18_000, 0, 200), turn=2, message_id="m2"),
    ),
)
BREAK = Break(
    session_id="s1",
    provider="claude",
    turn=2,
    call=2,
    time=1_796_000_060.5,
    expected=20_000,
    observed=3_000,
    lost=17_000,
    reason=Reason.INSTRUCTIONS,
    evidence="`bundles/style.md` was edited",
    usd=0.09775,
    line=Line("bundles/style.md", 7),
    predicted=16_500,
    message_id="m2",
)


def reports(by="session", session=SESSION):
    found = build_each([session], Asked(by=by), ("session", by), lambda _: [BREAK])
    return found[0], found[-1]


def test_json_whole(snapshot):
    assert machine.as_json(*reports("day"), UTC) == snapshot


def test_json_has_what_the_design_says_and_rows_only_for_other_groupings():
    value = json.loads(machine.as_json(*reports(), UTC))

    assert "rows" not in value
    assert value["format_version"] == 1
    (session,) = value["sessions"]
    assert session.keys() >= {"session_id", "agent", "provider", "model", "turns", "context_start", "session_size"}
    assert session.keys() >= {"added", "cumulative_prefill", "prefill_ratio", "cache_read", "cache_write", "uncached"}
    assert session.keys() >= {"cache_hit_pct", "output", "usd", "breaks"}
    (found,) = session["breaks"]
    assert found.keys() >= {"turn", "lost_tokens", "reason", "evidence"}


def test_csv_whole(snapshot):
    report, _ = reports()

    assert machine.as_csv(report, Zone("CET", dt.timezone(dt.timedelta(hours=1)))) == snapshot


def test_breaks_as_csv_whole(snapshot):
    report, _ = reports()

    assert machine.breaks_as_csv(report, UTC) == snapshot


HOSTILE = ['=HYPERLINK("x")', "+1", "-1", "@SUM(A1)", "\t=1", "\r\n=1", "a,b", 'a"b', "\x1b[31m", "a\u202eb", "'=1", ""]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_cell_is_a_formula_or_drives_a_terminal(name):
    hostile = Session(
        "claude", "s1", tuple(Response(**{**LIKE, "agent": name}, time=1.0, tokens=Tokens()) for _ in "a")
    )
    (_, row) = csv.reader(io.StringIO(machine.as_csv(reports(session=hostile)[0], UTC)))

    assert len(row) == len(machine.COLUMNS)
    assert not row[1].startswith(("=", "+", "-", "@", "\t", "\r"))
    assert row[1].isprintable()


@given(st.text())
def test_a_cell_is_one_line_and_no_formula(text):
    cell = machine._cell(text)

    assert "\n" not in cell
    assert "\r" not in cell
    assert cell[:1] not in tuple("=+-@\t")


def test_the_group_of_what_has_no_name_has_an_empty_one():
    nameless = Session("claude", "s1", (Response(**{**LIKE, "agent": None}, time=1.0, tokens=Tokens()),))
    (grouped,) = build_each([nameless], Asked(), ("agent",))
    (_, row) = csv.reader(io.StringIO(machine.as_csv(grouped, UTC)))

    assert row[:2] == ["", ""]


def test_a_limit_cuts_rows_and_nothing_that_is_of_all():
    first, second = (
        Session("claude", name, tuple(replace(each, session_id=name) for each in SESSION.responses))
        for name in ("s1", "s2")
    )
    breaks = {name: replace(BREAK, session_id=name, predicted=17_000) for name in ("s1", "s2")}
    (report,) = build_each([first, second], Asked(), ("session",), lambda session: [breaks[session.session_id]])

    whole, cut = (json.loads(machine.as_json(report, report, UTC, limit)) for limit in (0, 1))
    assert [len(each["sessions"]) for each in (whole, cut)] == [2, 1]
    assert {**cut, "sessions": whole["sessions"]} == whole
    assert whole["calibration"][0]["breaks"] == 2
    for write in (machine.as_csv, machine.breaks_as_csv):
        assert write(report, UTC, 1).splitlines() == write(report, UTC).splitlines()[:2]


def test_numbers_below_0_stay_numbers():
    shrunk = Session(
        "claude",
        "s1",
        (
            Response(**LIKE, time=1.0, tokens=Tokens(900, 0, 0, 0, 1)),
            Response(**LIKE, time=2.0, tokens=Tokens(100, 0, 0, 0, 1)),
        ),
    )
    (row,) = csv.DictReader(io.StringIO(machine.as_csv(reports(session=shrunk)[0], UTC)))

    assert row["added"] == "-799"
