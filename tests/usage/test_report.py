"""Reports: what is counted, under which key, in which order, and what is said of what is missing."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from agentmux_launcher.usage import Tokens
from agentmux_usage.breaks import Break, Reason
from agentmux_usage.grouping import GROUPINGS
from agentmux_usage.measure import Rates, measure
from agentmux_usage.report import Asked, build, build_each
from agentmux_usage.response import Response, Session
from agentmux_usage.zone import Zone

HOUR, DAY = 3600.0, 86_400.0
BERLIN = Zone("Europe/Berlin", dt.timezone(dt.timedelta(hours=1)))


def response(time, message, **more):
    given = {"provider": "claude", "session_id": "s1", "tokens": Tokens(10, 90, 0, 0, 5), "model": "claude-opus-5"}
    return Response(**{**given, "time": time, "message_id": message, "turn": 1, "agent": "reviewer", **more})


ONE = Session(
    "claude",
    "s1",
    (
        response(10 * DAY + 22 * HOUR, "m1"),
        response(10 * DAY + 23 * HOUR, "m2", turn=2),
        response(11 * DAY + 1 * HOUR, "m3", turn=2, model="claude-haiku-4-5"),
    ),
)
TWO = Session(
    "codex",
    "s2",
    (response(10 * DAY, None, provider="codex", session_id="s2", agent=None, model="gpt-5.5", calls=None),),
)
BREAK = Break("s1", "claude", 2, 2, 10 * DAY + 23 * HOUR, 900, 90, 810, Reason.EFFORT, "because", message_id="m2")


def breaks_of(session):
    return [BREAK] if session.session_id == "s1" else []


def keys(report):
    return [(row.key, row.measures.cumulative_prefill, row.measures.sessions) for row in report.rows]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("session", [("s1", 300, 1), ("s2", 100, 1)]),
        ("turn", [("s1#2", 200, 1), ("s1#1", 100, 1), ("s2#1", 100, 1)]),
        ("agent", [("reviewer", 300, 1), ("-", 100, 1)]),
        ("provider", [("claude", 300, 1), ("codex", 100, 1)]),
        ("model", [("claude-opus-5", 200, 1), ("claude-haiku-4-5", 100, 1), ("gpt-5.5", 100, 1)]),
        ("day", [("1970-01-12", 100, 1), ("1970-01-11", 300, 2)]),
    ],
)
def test_rows_by_what_is_asked_for(by, expected):
    assert keys(build([ONE, TWO], Asked(by=by))) == expected


def test_days_are_those_of_the_zone():
    assert keys(build([ONE, TWO], Asked(by="day", zone=BERLIN))) == [("1970-01-12", 200, 1), ("1970-01-11", 200, 2)]


def test_a_row_has_what_all_of_it_have_in_common():
    first, second = build([ONE, TWO], Asked()).rows

    assert (first.agent, first.provider, first.model) == ("reviewer", "claude", None)
    assert (first.started, first.ended) == (10 * DAY + 22 * HOUR, 11 * DAY + HOUR)
    assert (second.agent, second.provider, second.model) == (None, "codex", "gpt-5.5")


def test_side_calls_do_not_make_a_session_one_of_two_models():
    aside = replace(ONE, responses=(ONE.responses[0], replace(ONE.responses[2], kind="side")))

    assert build([aside], Asked()).rows[0].model == "claude-opus-5"


def test_a_range_cuts_a_session_and_its_end_is_no_part_of_it():
    cut = Asked(since=10 * DAY + 23 * HOUR, until=11 * DAY + HOUR)
    report = build([ONE, TWO], cut)

    assert keys(report) == [("s1", 100, 1)]
    assert report.total == measure([ONE.responses[1:2]], Rates())


@pytest.mark.parametrize(
    ("asked", "sessions"),
    [
        (Asked(providers=frozenset({"codex"})), ["s2"]),
        (Asked(agents=frozenset({"reviewer"})), ["s1"]),
        (Asked(agents=frozenset({"nobody"})), []),
    ],
)
def test_names_select(asked, sessions):
    assert [row.key for row in build([ONE, TWO], asked).rows] == sessions


@pytest.mark.parametrize("by", GROUPINGS)
def test_a_break_stands_in_the_one_row_that_has_its_call(by):
    rows = build([ONE, TWO], Asked(by=by), breaks_of).rows

    assert [each for row in rows for each in row.breaks] == [BREAK]
    (row,) = (row for row in rows if row.breaks)
    assert row.started <= BREAK.time <= row.ended


def test_a_break_beyond_the_range_is_left_out():
    assert not any(row.breaks for row in build([ONE], Asked(since=11 * DAY), breaks_of).rows)


def test_several_groupings_of_one_look_are_what_each_is_alone():
    asked = Asked(by="day")

    assert build_each([ONE, TWO], asked, GROUPINGS, breaks_of) == tuple(
        build([ONE, TWO], replace(asked, by=by), breaks_of) for by in GROUPINGS
    )


def test_what_the_figures_leave_out_is_said():
    odd = replace(ONE, responses=(replace(ONE.responses[0], model="my-model"), replace(ONE.responses[1], model=None)))
    report = build([odd, TWO], Asked())

    assert report.notes == (
        "codex: only whole turns are known, not their calls, so no context and no session size",
        "no price is known for a model without a name, my-model",
    )
    assert report.price_as_of == build([TWO], Asked()).price_as_of is not None
    assert build([odd], Asked()).price_as_of is None


def test_nothing_is_a_report_too():
    report = build([], Asked())

    assert (report.rows, report.total, report.notes) == ((), measure([], Rates()), ())


@pytest.mark.parametrize("by", GROUPINGS)
def test_two_answers_of_one_id_have_each_its_own_break(by):
    calls = [response(HOUR * number, "m1", request_id=f"r{number}") for number in range(3)]
    unnamed = [response(DAY, None) for _ in range(2)]
    session = Session("claude", "s1", (*calls, *unnamed))
    breaks = [
        Break("s1", "claude", 1, call, each.time, 900, 90, 810, Reason.EFFORT, "because", message_id=each.message_id)
        for call, each in enumerate(session.responses, 1)
        if call in {2, 4, 5}
    ]

    report = build([session], Asked(by=by), lambda _: breaks)

    assert sorted(each.call for row in report.rows for each in row.breaks) == [2, 4, 5]


def test_of_many_models_without_a_price_some_are_named():
    calls = [response(HOUR * number, f"m{number}", model=f"my-{number:02}" + "x" * 100) for number in range(12)]
    report = build([Session("claude", "s1", tuple(calls))], Asked())

    names = [f"my-{number:02}" + "x" * 55 for number in range(10)]
    assert report.notes == (f"no price is known for {', '.join(names)} and 2 more",)
