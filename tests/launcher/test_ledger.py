"""The ledger: what is put in comes out, from any number of processes at once."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest

from agentmux_launcher import ledger_schema, processes
from agentmux_launcher.ledger import FailureRow, Ledger, LedgerError, Run, Session, Turn, UsageRow, path_of
from agentmux_launcher.manifest import Environment, LaunchPlan, Literal

RUN = Run(
    run_id="r1",
    project="/p",
    agent="reviewer",
    provider="claude",
    controller="persistent",
    model="opus",
    effort=None,
    permission="ask",
    cli_version="2.1.332",
    plan="d1",
    prefix=None,
    folder="/p/.agentmux/runs/r1",
    pid=1,
    pid_started="never",
    started=10.0,
)
SESSION = Session("claude", "s1", "/p", "reviewer", "opus", None, "ask", "2.1.332", "d1", None, "r1", 1200, "{}", 11.0)
TURN = Turn("r1", 1, "s1", "opus", 10.0, 11.0, "end_turn", 2, 10, 1000, 200, 0, 30, None, 1200, 200_000, 2300, 0.5)
PLAN = LaunchPlan(
    agent="reviewer",
    provider="codex",
    display="Reviewer",
    executable="codex",
    controller="subprocess",
    model=None,
    effort=None,
    permission="ask",
    delivery="flag",
    cwd=".",
    argv=(Literal("exec"),),
    env=Environment(),
    files=(),
    startup=None,
    prompt_delivery="stdin",
    frames="codex-json",
    session_id_field="thread_id",
    cli_version="0.171.0",
    stdio={"stdin": "pipe", "stdout": "raw-pty", "stderr": "pipe"},
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "ledger.sqlite3"


@pytest.fixture
def ledger(path):
    with Ledger(path) as opened:
        yield opened


def count(path, table):
    with contextlib.closing(sqlite3.connect(path)) as raw:
        return raw.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608  a name of this file


def test_a_run_and_its_turns_come_back_as_they_were(ledger, path):
    usage = [UsageRow("r1", 1, 0, "call", 5, 500, 100, None, 10, None, 605, None, "opus", "m1")]
    failure = FailureRow("r1", 1, "auth", "the credentials were refused", "401", 1, None, False, None)
    ledger.begin(RUN)
    ledger.started("r1", processes.Known(7, "then"))
    ledger.turn(TURN, usage, failure, SESSION)
    ledger.ended("r1", 1)

    with Ledger(path) as again:
        (run,) = again.runs()
        assert (run.child, run.session_id, run.exit_code, run.running) == (processes.Known(7, "then"), "s1", 1, False)
        assert (again.turns("r1"), again.usage("r1"), again.failures("r1")) == ([TURN], usage, [failure])
        assert again.session("claude", "s1") == again.last_session("/p", "reviewer", "claude") == SESSION
        assert again.run("r1") == run
        assert again.last_used("/p", "reviewer", "claude") == [(run, TURN.ended)]


def test_when_the_turns_of_new_sessions_began(ledger):
    ledger.begin(RUN)
    ledger.begin(replace(RUN, run_id="r2", resumed="s1"))
    for run_id, began in (("r1", 10.0), ("r1", 30.0), ("r2", 50.0)):
        ledger.turn(replace(TURN, run_id=run_id, turn=int(began), started=began))

    assert ledger.beginnings() == {"r1": (10.0, 30.0)}


def test_a_run_was_used_when_its_last_call_was_over(ledger):
    def ran(name, started, ended=None, **more):
        ledger.begin(Run(**{**_fields(RUN), "run_id": name, "started": started, "ended": ended, **more}))

    def turned(name, number, ended, prefill=None, *, failed=False):
        turn = Turn(name, number, None, None, 0.0, ended, None, 0, prefill_tokens=prefill)
        failure = FailureRow(name, number, "auth", "", "", 1, None, False, None)
        ledger.turn(turn, failure=failure if failed else None)

    def last():
        return [(run.run_id, used) for run, used in ledger.last_used("/p", "reviewer", "claude")]

    ran("refused", 10.0, prefix="d0")
    turned("refused", 1, 11.0, failed=True)
    assert last() == []
    ran("chat", 20.0, prefix="d1")
    turned("chat", 1, 21.0)
    ran("short", 30.0, prefix="d2")
    turned("short", 1, 31.0)
    assert last() == [("short", 31.0), ("chat", 21.0)]
    turned("chat", 2, 41.0, 500, failed=True)
    turned("chat", 3, 42.0, 0, failed=True)
    assert last() == [("chat", 41.0), ("short", 31.0)]
    ran("resumed", 50.0, prefix="d3", held="d2")
    turned("resumed", 1, 51.0)
    assert last() == [("resumed", 51.0), ("chat", 41.0)]
    ran("screen", 60.0, controller="terminal", prefix="d4")
    assert last() == [("resumed", 51.0), ("chat", 41.0)]
    ran("screen", 60.0, 70.0, controller="terminal", prefix="d4")
    assert last() == [("screen", 70.0), ("resumed", 51.0), ("chat", 41.0)]
    assert ledger.last_used("/q", "reviewer", "claude") == []


def test_the_last_session_is_that_of_the_agent_on_the_provider_in_the_project(ledger):
    others = [("codex", "/p", "reviewer"), ("claude", "/q", "reviewer"), ("claude", "/p", "tester")]
    ledger.turn(TURN, session=SESSION)
    for number, (provider, project, agent) in enumerate(others):
        other = Session(provider, f"o{number}", project, agent, None, None, "ask", None, None, None, "r9", updated=99.0)
        ledger.turn(Turn("r9", number, None, None, 1, 2, None, 0), session=other)

    assert ledger.last_session("/p", "reviewer", "claude") == SESSION
    assert ledger.last_session("/p", "nobody", "claude") is None


def test_a_run_runs_while_the_very_process_does_that_began_it(ledger):
    me = processes.me()
    for name, pid, started in (("mine", me.pid, me.started), ("older", me.pid, "another start"), ("gone", 2**22, "x")):
        ledger.begin(Run(**{**_fields(RUN), "run_id": name, "pid": pid, "pid_started": started}))

    assert {run.run_id: run.running for run in ledger.runs()} == {"mine": True, "older": False, "gone": False}


def _fields(run):
    return {name: getattr(run, name) for name in run.__dataclass_fields__}


def test_a_plan_is_kept_once(ledger, path):
    first, second = ledger.keep_plan(PLAN), ledger.keep_plan(PLAN)

    assert first == second
    assert count(path, "plans") == 1


def test_the_texts_of_a_prefix_are_kept_once_and_outlast_the_project(ledger, path):
    shared = {"layer": "instructions", "body": {"text": "Brief.\n", "path": "bundles/style.md", "lines": [1]}}
    startup = {"layer": "startup", "body": {"text": "Go.\n", "path": "agents.d/a.yaml", "lines": [9]}}
    prefixes = [
        {"agent": "a", "segments": [{"layer": "tools", "body": None, "size": 5000}, shared]},
        {"agent": "b", "segments": [shared, startup]},
    ]

    digests = [ledger.keep_prefix(prefix) for prefix in prefixes]

    assert [ledger.prefix(digest) for digest in digests] == prefixes
    assert ledger.prefix("unknown") is None
    assert count(path, "texts") == 2


def test_a_version_holds_for_the_file_that_said_it(ledger):
    ledger.keep_version("/usr/bin/codex", "1 2", "0.171.0")

    assert ledger.version("/usr/bin/codex", "1 2") == "0.171.0"
    assert ledger.version("/usr/bin/codex", "3 4") is None


def test_a_block_that_fails_leaves_nothing(ledger):
    with pytest.raises(sqlite3.Error):
        ledger.turn(TURN, [UsageRow("r1", 1, 0, None)])

    assert ledger.turns("r1") == []


def test_a_ledger_of_a_newer_agentmux_is_left_alone(path):
    Ledger(path).close()
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 99")

    with pytest.raises(LedgerError, match="newer"):
        Ledger(path)


def test_what_is_no_ledger_is_left_alone(path):
    path.parent.mkdir()
    path.write_bytes(b"my notes, not a database at all\n" * 100)

    with pytest.raises(LedgerError, match="not a database"):
        Ledger(path)
    assert path.read_bytes().startswith(b"my notes")


def test_a_folder_that_cannot_be_made_is_an_error_of_its_own(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(LedgerError):
        Ledger(tmp_path / "file" / "ledger.sqlite3")


WRITER = """
import sys
from pathlib import Path
from agentmux_launcher.ledger import Ledger, Turn, UsageRow
with Ledger(Path(sys.argv[1])) as ledger:
    for turn in range(20):
        ledger.turn(Turn(sys.argv[2], turn, None, None, 1, 2, None, 1), [UsageRow(sys.argv[2], turn, 0, "call", turn)])
"""


def test_many_processes_at_once_make_it_and_lose_nothing(path):
    command = [sys.executable, "-c", WRITER, str(path)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [subprocess.Popen([*command, f"run-{number}"], env=environ) for number in range(20)]

    assert [writer.wait(120) for writer in writers] == [0] * 20
    with Ledger(path) as ledger:
        counts = [len(ledger.usage(f"run-{number}")) for number in range(20)]
    assert counts == [20] * 20


def test_the_ledger_is_the_users_own():
    assert path_of({"HOME": "/home/a"}).as_posix() == "/home/a/.agentmux/ledger.sqlite3"
    assert path_of({"HOME": "/home/a", "AGENTMUX_HOME": "/x"}).as_posix() == "/x/ledger.sqlite3"


FIRST_VERSION = """
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, project TEXT NOT NULL, agent TEXT NOT NULL, provider TEXT NOT NULL,
    controller TEXT NOT NULL, model TEXT, effort TEXT, permission TEXT NOT NULL, cli_version TEXT,
    plan TEXT, prefix TEXT, folder TEXT NOT NULL, pid INTEGER NOT NULL, pid_started TEXT NOT NULL,
    child_pid INTEGER, child_started TEXT, session_id TEXT, resumed TEXT, forked INTEGER NOT NULL,
    started REAL NOT NULL, ended REAL, exit_code INTEGER
);
CREATE TABLE turns (
    run_id TEXT NOT NULL, turn INTEGER NOT NULL, session_id TEXT, model TEXT,
    started REAL NOT NULL, ended REAL NOT NULL, stop_reason TEXT, calls INTEGER NOT NULL,
    input_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, cache_write_1h_tokens INTEGER,
    output_tokens INTEGER, reasoning_tokens INTEGER,
    context_tokens INTEGER, context_window INTEGER, prefill_tokens INTEGER, usd REAL,
    PRIMARY KEY (run_id, turn)
);
CREATE TABLE usage (
    run_id TEXT NOT NULL, turn INTEGER NOT NULL, number INTEGER NOT NULL, scope TEXT NOT NULL,
    input_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, cache_write_1h_tokens INTEGER,
    output_tokens INTEGER, reasoning_tokens INTEGER,
    context_tokens INTEGER, context_window INTEGER, model TEXT, message_id TEXT, parent TEXT,
    PRIMARY KEY (run_id, turn, number)
);
INSERT INTO runs VALUES ('r1', '/p', 'reviewer', 'claude', 'persistent', 'opus', NULL, 'ask', '2.1.332', 'd1', NULL,
    '/p/.agentmux/runs/r1', 1, 'never', NULL, NULL, NULL, NULL, 0, 10.0, NULL, NULL);
INSERT INTO usage VALUES ('r1', 1, 0, 'call', 5, 500, 100, NULL, 10, NULL, 605, NULL, 'opus', 'm1', NULL);
PRAGMA user_version = 1;
"""


@pytest.fixture
def of_first_version(path):
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path)) as raw:
        raw.executescript(FIRST_VERSION)
    return path


def columns(path, table):
    with contextlib.closing(sqlite3.connect(path)) as raw:
        return [row[1:] for row in raw.execute(f"PRAGMA table_info({table})")]


def test_a_ledger_of_the_first_version_keeps_its_rows_and_takes_those_of_today(of_first_version):
    old = UsageRow("r1", 1, 0, "call", 5, 500, 100, None, 10, None, 605, None, "opus", "m1")
    new = UsageRow("r1", 1, 1, "call", 6, time=12.5, after_compaction=True)
    with Ledger(of_first_version) as ledger:
        ledger.turn(TURN, [new])
        ledger.begin(Run(**{**_fields(RUN), "run_id": "r2", "held": "d2"}))

        assert ledger.usage("r1") == [old, new]
        assert [(run.run_id, run.held) for run in ledger.runs()] == [("r1", None), ("r2", "d2")]


def test_a_ledger_of_the_first_version_becomes_what_a_new_one_is(of_first_version, tmp_path):
    Ledger(of_first_version).close()
    Ledger(tmp_path / "new").close()

    for table in ("runs", "turns", "usage"):
        assert columns(of_first_version, table) == columns(tmp_path / "new", table)


def test_many_processes_at_once_renew_it_and_lose_nothing(of_first_version):
    command = [sys.executable, "-c", WRITER, str(of_first_version)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [subprocess.Popen([*command, f"run-{number}"], env=environ) for number in range(4)]

    assert [writer.wait(120) for writer in writers] == [0] * 4
    assert count(of_first_version, "usage") == 1 + 4 * 20


def test_the_rows_of_all_runs_stand_by_run_and_turn(ledger):
    for run_id in ("r2", "r1"):
        for turn in (2, 1):
            ledger.turn(Turn(run_id, turn, None, None, 1, 2, None, 1), [UsageRow(run_id, turn, 0, "call", turn)])

    order = [("r1", 1), ("r1", 2), ("r2", 1), ("r2", 2)]
    assert [(turn.run_id, turn.turn) for turn in ledger.turns()] == order
    assert [(row.run_id, row.input_tokens) for row in ledger.usage()] == order


class Full:
    """A connection to a file on a disk that is full."""

    def __init__(self, code):
        self.code = code
        self.asked = 0

    def execute(self, _):
        self.asked += 1
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = self.code
        raise error


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_READONLY_DBMOVED])
def test_what_waiting_does_not_mend_is_not_waited_for(code):
    full = Full(code)
    with pytest.raises(sqlite3.OperationalError):
        ledger_schema._use_wal(full)

    assert full.asked == 1


def test_a_ledger_that_somebody_holds_is_waited_for_once(path, monkeypatch):
    monkeypatch.setattr(ledger_schema, "_BUSY", 0.05)
    with Ledger(path) as ledger, contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        before = ledger._connection.execute("PRAGMA busy_timeout").fetchone()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            ledger.ended("run", 0)
        after = ledger._connection.execute("PRAGMA busy_timeout").fetchone()

        assert (before, after) == ((50,), (0,))
