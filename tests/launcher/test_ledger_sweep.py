"""Prefixes and texts that nothing refers to any more go; what a run or a session began with stays."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import replace

import pytest

from agentmux_launcher.ledger import Ledger, Run, Session, Turn

RUN = Run("r1", "/p", "a", "claude", "persistent", None, None, "ask", None, None, None, "/f", 1, "never")
SESSION = Session("claude", "s1", "/p", "a", None, None, "ask", None, None, None, "r1")
TURN = Turn("r1", 1, "s1", None, 1.0, 2.0, "end_turn", 0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite3"


@pytest.fixture
def ledger(path):
    with Ledger(path) as opened:
        yield opened


def prefix(*texts):
    segments = [{"name": text, "body": {"text": text}} for text in texts]
    return {"agent": "a", "segments": [{"name": "opaque", "body": None}, *segments]}


def texts(path):
    with contextlib.closing(sqlite3.connect(path)) as raw:
        return sorted(text for (text,) in raw.execute("SELECT text FROM texts"))


def test_what_nothing_refers_to_goes_with_the_texts_that_it_alone_held(ledger, path):
    of_run = ledger.keep_prefix(prefix("shared", "of the run"))
    of_session = ledger.keep_prefix(prefix("shared", "of the session"))
    gone_on_with = ledger.keep_prefix(prefix("shared", "gone on with"))
    nobodys = ledger.keep_prefix(prefix("shared", "nobody's"))
    ledger.begin(replace(RUN, prefix=of_run, held=gone_on_with))
    ledger.turn(TURN, session=replace(SESSION, prefix=of_session))

    assert ledger.sweep(keep=0) == 1

    assert ledger.prefix(nobodys) is None
    assert ledger.prefix(of_run) == prefix("shared", "of the run")
    assert ledger.prefix(of_session) == prefix("shared", "of the session")
    assert texts(path) == ["gone on with", "of the run", "of the session", "shared"]
    assert ledger.sweep(keep=0) == 0


def test_the_latest_stay_since_a_launch_may_be_about_to_name_them(ledger):
    kept = [ledger.keep_prefix(prefix(str(number))) for number in range(5)]

    assert ledger.sweep(keep=3) == 2
    assert [ledger.prefix(each) is not None for each in kept] == [False, False, True, True, True]
    assert ledger.sweep() == 0


def test_an_empty_ledger_has_nothing_to_drop(ledger):
    assert ledger.sweep(keep=0) == 0
