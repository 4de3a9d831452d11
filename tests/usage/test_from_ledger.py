"""Responses out of the ledger: each call once, and whole turns where no calls are known."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from dataclasses import replace

import pytest

from agentmux_launcher.ledger import Ledger, LedgerError, Run, Turn, UsageRow
from agentmux_launcher.usage import Tokens
from agentmux_usage.from_ledger import Kept, read
from agentmux_usage.response import Response

RUN = Run(
    run_id="r1",
    project="/p",
    agent="reviewer",
    provider="claude",
    controller="persistent",
    model="opus",
    effort="high",
    permission="ask",
    cli_version="2.1.332",
    plan="plan-1",
    prefix="prefix-1",
    folder="/p/run",
    pid=1,
    pid_started="never",
    started=10.0,
)
LIKE = Response(
    provider="claude",
    session_id="s1",
    time=10.0,
    tokens=Tokens(),
    model="claude-opus-5",
    turn=1,
    agent="reviewer",
    effort="high",
    cli_version="2.1.332",
    run_id="r1",
    plan="plan-1",
    prefix="prefix-1",
    cwd="/p",
)


def turn(run, number, tokens=(), session="s1", **more):
    names = ("input", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning")
    counts = {f"{name}_tokens": count for name, count in zip(names, tokens, strict=False)}
    return Turn(
        run, number, session, "claude-opus-5", 10.0 * number, 10.0 * number + 5, "end_turn", 0, **counts, **more
    )


def call(run, number, message, tokens, order=0, **more):
    return UsageRow(run, number, order, "call", *tokens, model="claude-opus-5", message_id=message, **more)


def response(time, *tokens, **more):
    return replace(LIKE, time=time, tokens=Tokens(*tokens), **more)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite3"


@pytest.fixture
def ledger(path):
    with Ledger(path) as opened:
        opened.begin(RUN)
        yield opened


def responses(path):
    return list(read(path).responses)


def test_without_a_ledger_there_is_nothing_and_none_is_made(path):
    assert read(path) == Kept()
    assert not path.exists()


def test_each_call_is_a_response_with_what_its_run_was(path, ledger):
    rows = [
        call("r1", 1, "m1", (5, 0, 20_000, 0, 30), time=11.5),
        call("r1", 1, "m2", (1, 0, 900, 0, 10), 1, time=12.0, parent="tool-1"),
        call("r1", 1, "m3", (7, 20_000, 50, 0, 40), 2, time=13.0, after_compaction=True),
    ]
    ledger.turn(turn("r1", 1, (13, 20_000, 20_950, 0, 80), usd=0.25), rows)

    assert responses(path) == [
        response(11.5, 5, 0, 20_000, 0, 30, message_id="m1"),
        response(12.0, 1, 0, 900, 0, 10, message_id="m2", kind="subagent", thread="tool-1"),
        response(13.0, 7, 20_000, 50, 0, 40, message_id="m3", after_compaction=True, usd=0.25),
    ]
    assert read(path).runs == tuple(ledger.runs())


def test_a_call_of_an_older_ledger_has_the_time_of_its_turn(path, ledger):
    ledger.turn(turn("r1", 1), [call("r1", 1, "m1", (5, 0, 0, 0, 30))])

    assert [each.time for each in responses(path)] == [10.0]


def test_the_turns_of_a_session_are_counted_over_its_runs(path, ledger):
    ledger.begin(replace(RUN, run_id="r2", started=50.0))
    ledger.begin(replace(RUN, run_id="r3", started=60.0))
    for run, session in (("r1", "s1"), ("r2", "s1"), ("r3", "s2")):
        for number in (1, 2):
            ledger.turn(turn(run, number, session=session), [call(run, number, f"{run}-{number}", (5, 0, 0, 0, 1))])

    found = [(each.session_id, each.turn) for each in responses(path)]
    assert found == [("s1", 1), ("s1", 2), ("s1", 3), ("s1", 4), ("s2", 1), ("s2", 2)]


def test_a_turn_whose_calls_are_not_known_is_one_response_that_says_so(path, ledger):
    ledger.turn(turn("r1", 1, (900, 5_000, 0, None, 77, 7), usd=0.5), [UsageRow("r1", 1, 0, "turn", 900)])

    assert responses(path) == [response(10.0, 900, 5_000, 0, None, 77, 7, calls=None, usd=0.5)]
    assert responses(path)[0].context is None


def test_a_turn_of_which_nothing_is_known_is_none(path, ledger):
    ledger.turn(turn("r1", 1))

    assert responses(path) == []


def test_what_a_turn_used_beyond_its_calls_is_beside_the_conversation(path, ledger):
    ledger.turn(turn("r1", 1, (105, 1_000, 0, 0, 50)), [call("r1", 1, "m1", (5, 1_000, 0, 0, 30), time=11.0)])

    own, beside = responses(path)
    assert own == response(11.0, 5, 1_000, 0, 0, 30, message_id="m1")
    assert beside == response(15.0, 100, 0, 0, 0, 20, kind="side", calls=None, model=None)


@pytest.mark.parametrize("total", [(4, 1_000, 0, 0, 30), (105, 1_000, 0, 0, 29), (5, 1_000, 0, 0, 30), (5, 1_000)])
def test_a_turn_that_says_less_than_its_calls_or_as_much_adds_nothing(path, ledger, total):
    ledger.turn(turn("r1", 1, total), [call("r1", 1, "m1", (5, 1_000, 0, 0, 30), time=11.0)])

    assert responses(path) == [response(11.0, 5, 1_000, 0, 0, 30, message_id="m1")]


def test_one_call_without_its_output_has_what_is_left_of_the_turns(path, ledger):
    rows = [call("r1", 1, "m1", (5, 0, 9, 0, 30), time=11.0), call("r1", 1, "m2", (5, 9, 0, 0, None), 1, time=12.0)]
    ledger.turn(turn("r1", 1, (10, 9, 9, 0, 50)), rows)

    assert [each.tokens.output for each in responses(path)] == [30, 20]


def test_several_calls_without_their_output_do_not_share_what_nobody_knows(path, ledger):
    rows = [call("r1", 1, f"m{number}", (5, 0, 9, 0, None), number, time=11.0) for number in (0, 1)]
    ledger.turn(turn("r1", 1, (10, 0, 18, 0, 50)), rows)

    assert [each.tokens.output for each in responses(path)] == [None, None]


def test_a_response_that_a_later_run_repeats_is_there_once(path, ledger):
    ledger.begin(replace(RUN, run_id="r2", started=50.0))
    for run in ("r1", "r2"):
        ledger.turn(turn(run, 1), [call(run, 1, "m1", (5, 0, 0, 0, 30))])

    assert [each.run_id for each in responses(path)] == ["r1"]


def test_a_run_that_never_said_its_session_is_one_by_itself(path, ledger):
    ledger.turn(turn("r1", 1, (5, 0, 0, 0, 1), session=None))

    assert [each.session_id for each in responses(path)] == ["r1"]


def test_a_response_has_the_prefix_that_its_launch_sent_and_who_serves_it(path, ledger):
    old, new = ({"vendor": vendor, "segments": []} for vendor in ("anthropic", "custom"))
    held, sent = ledger.keep_prefix(old), ledger.keep_prefix(new)
    ledger.begin(replace(RUN, prefix=sent, held=held))
    ledger.turn(turn("r1", 1, (5, 0, 0, 0, 1)))

    assert [(each.prefix, each.vendor) for each in responses(path)] == [(sent, "custom")]


def test_what_is_no_ledger_is_said(path):
    path.write_bytes(b"my notes, not a database at all\n" * 100)

    with pytest.raises(LedgerError, match="not a database"):
        read(path)


@pytest.mark.usefixtures("ledger")
def test_a_ledger_without_its_tables_is_said(path):
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.execute("DROP TABLE usage")

    with pytest.raises(LedgerError, match="no such table: usage"):
        read(path)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_ledger_that_may_only_be_read_is_read_and_stays_as_it_is(tmp_path):
    path = tmp_path / "home" / "ledger.sqlite3"
    with Ledger(path) as made:
        made.begin(RUN)
        made.turn(turn("r1", 1, (5, 0, 0, 0, 7)))
    told, data = read(path), path.read_bytes()
    assert len(told.responses) == 1
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        if os.access(path, os.W_OK):
            pytest.skip("needs a user who may not write all")
        assert read(path) == told
        assert [each.name for each in path.parent.iterdir()] == [path.name]
        assert path.read_bytes() == data
    finally:
        path.parent.chmod(0o700)
