"""What the ledger knows of that which a cache may hold."""

from __future__ import annotations

import dataclasses

import pytest

from agentmux.launch.cached import Before, before
from agentmux.launch.preparation import Task, Wanted
from agentmux_launcher import processes
from agentmux_launcher.ledger import Ledger, Run, Session, Turn

RUN = Run("r1", "/p", "reviewer", "claude", "persistent", "opus", None, "ask", None, None, "d1", "/f", 1, "never")
RUN = dataclasses.replace(RUN, session_id="s1", started=10.0, ended=12.0)
TURN = Turn("r1", 1, "s1", "opus", 10.0, 11.0, "end_turn", 1)
SESSION = Session("claude", "s1", "/p", "reviewer", "opus", None, "ask", None, None, "held", "r1", 1200, None, 11.0)
FRESH = Task("/p", Wanted("reviewer"), "2026-11-30")
LAST = dataclasses.replace(FRESH, session="")


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite3") as opened:
        yield opened


def ran(ledger, turn=TURN, session=None, **more):
    """A run with one turn."""
    ledger.begin(dataclasses.replace(RUN, **more))
    ledger.turn(dataclasses.replace(turn, run_id=more.get("run_id", "r1")), session=session)


def running():
    me = processes.me()
    return {"ended": None, "pid": me.pid, "pid_started": me.started}


@pytest.mark.parametrize("task", [FRESH, LAST])
def test_of_an_agent_that_never_called_a_model_nothing_is_known(ledger, task):
    assert before(ledger, task, "claude") == ()
    ledger.begin(RUN)
    assert before(ledger, task, "claude") == ()
    ran(ledger, session=SESSION)
    assert before(ledger, task, "codex") == ()


def test_a_new_session_comes_after_the_last_call(ledger):
    ran(ledger, dataclasses.replace(TURN, cache_write_1h_tokens=5))
    first = Before("d1", "relaunch", 11.0, hour=True)
    assert before(ledger, FRESH, "claude") == (first,)
    ran(ledger, dataclasses.replace(TURN, ended=21.0), run_id="r2", prefix="d3", held="d2")
    assert before(ledger, FRESH, "claude") == (Before("d2", "relaunch", 21.0), first)
    ledger.begin(dataclasses.replace(RUN, run_id="r3", prefix="d3", **running()))
    assert before(ledger, FRESH, "claude") == (Before("d2", "relaunch", 21.0), first)
    ledger.begin(dataclasses.replace(RUN, run_id="r3", prefix="d2", **running()))
    assert before(ledger, FRESH, "claude") == (Before("d2", "relaunch", None), first)


def test_a_session_has_its_own_prefix_size_and_time(ledger):
    ran(ledger, session=SESSION)
    mine = Before("held", "resume", 11.0, 1200)
    assert before(ledger, LAST, "claude") == (mine,)
    ran(ledger, dataclasses.replace(TURN, session_id="s2", ended=21.0), run_id="r2", session_id="s2")
    assert before(ledger, LAST, "claude") == (dataclasses.replace(mine, beside=21.0),)
    assert before(ledger, dataclasses.replace(LAST, session="nobody"), "claude") == ()
    ledger.begin(dataclasses.replace(RUN, **running()))
    assert before(ledger, LAST, "claude") == (dataclasses.replace(mine, used=None, beside=21.0),)


@pytest.mark.parametrize(("used", "age"), [(11.0, 4.0), (None, 0.0)])
def test_the_time_without_use(used, age):
    assert Before("d", "relaunch", used).age(15.0) == age
