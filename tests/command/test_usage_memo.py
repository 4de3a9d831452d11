"""A report that was made before is shown again only as long as nothing has changed that it rests on."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import replace

import pytest

from agentmux.cli import main
from agentmux.usage import memo as usage_memo
from agentmux.usage.memo import KEPT, keep, mark_of, recall
from agentmux_launcher import processes
from agentmux_launcher.ledger import Ledger, Run, Turn
from agentmux_launcher.usage import Tokens
from agentmux_usage.breaks import Break, Line, Reason
from agentmux_usage.report import Asked, build
from agentmux_usage.response import Response, Session

LIKE = {"provider": "claude", "session_id": "s1", "model": "claude-opus-5", "agent": "reviewer"}
SESSION = Session(
    "claude", "s1", (Response(**LIKE, time=1.0, tokens=Tokens(10, 0, 20_000, 0, 300), turn=1, message_id="m1"),)
)
BREAK = Break("s1", "claude", 1, 1, 1.0, 9, 0, 9, Reason.TOOLS, "why", 0.5, Line("a.md", 3), 8, "m1")
REPORT = replace(build([SESSION], Asked(), lambda _: [BREAK]), sources=("~/x",), notes=("a note",))


def test_reports_come_back_as_they_were(tmp_path):
    empty = build([], Asked(by="day"))
    keep(tmp_path / "deep", "m", [REPORT, empty])

    assert recall(tmp_path / "deep", "m") == (REPORT, empty)
    assert recall(tmp_path / "deep", "other") == ()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"[{}]", b'[{"by": 7}]', b"\xff", b"null"])
def test_what_is_none_is_none(tmp_path, data):
    (tmp_path / "report-m.json").write_bytes(data)

    assert recall(tmp_path, "m") == ()


def test_only_the_newest_are_kept(tmp_path):
    for number in range(KEPT + 3):
        keep(tmp_path, f"m{number}", [REPORT])
        os.utime(tmp_path / f"report-m{number}.json", ns=(number, number))

    kept = [number for number in range(KEPT + 3) if recall(tmp_path, f"m{number}")]
    assert kept == list(range(3, KEPT + 3))


def test_one_that_is_too_large_is_made_anew_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(usage_memo, "LARGEST", 100)
    keep(tmp_path, "m", [REPORT])

    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_kept_nothing_is(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    keep(tmp_path / "file" / "deep", "m", [REPORT])

    assert recall(tmp_path / "file" / "deep", "m") == ()


def test_a_mark_is_that_of_the_files_and_the_question(tmp_path):
    path = tmp_path / "a"
    path.write_text("one", encoding="utf-8")
    first = mark_of([path], "question")

    assert mark_of([path], "question") == first
    changed = [mark_of([path], "another"), mark_of([path, tmp_path / "b"], "question"), mark_of([], "question")]
    path.write_text("longer", encoding="utf-8")
    changed.append(mark_of([path], "question"))
    os.utime(path, ns=(1, 1))
    changed.append(mark_of([path], "question"))
    path.unlink()
    changed.append(mark_of([path], "question"))
    assert len({first, *changed}) == 7


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_file_that_can_be_read_again_has_another_mark(tmp_path):
    path = tmp_path / "a"
    path.touch(mode=0)
    first = mark_of([path], "question")

    time.sleep(0.02)
    path.chmod(0o600)
    assert mark_of([path], "question") != first


def line(message, output):
    figures = {"input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": output}
    said = {"id": message, "role": "assistant", "model": "claude-opus-5", "usage": figures}
    told = {"type": "assistant", "sessionId": "s1", "timestamp": "2026-11-30T12:00:00Z", "requestId": message}
    return json.dumps({**told, "message": said}) + "\n"


@pytest.fixture
def usage(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("AGENTMUX_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    def call(*words):
        assert main(["usage", "--format", "json", *words]) == 0
        return json.loads(capsys.readouterr().out)

    return call


def test_a_transcript_that_grows_is_read_on(usage, tmp_path):
    path = tmp_path / ".claude" / "projects" / "p" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(line("m1", 7), encoding="utf-8")
    first, again = usage(), usage()
    with path.open("a", encoding="utf-8") as file:
        file.write(line("m2", 8))

    assert again == first
    assert [usage()["totals"]["output"] for _ in range(2)] == [15, 15]
    assert first["totals"]["output"] == 7
    path.unlink()
    assert usage()["sessions"] == []


def test_a_ledger_that_grows_is_read_again(usage, tmp_path):
    owner = {"project": "/p", "agent": "a", "provider": "claude", "controller": "persistent", "model": "claude-opus-5"}
    state = {"effort": None, "permission": "ask", "cli_version": None, "plan": None, "prefix": None, "folder": "/p/r"}
    with Ledger(tmp_path / ".agentmux" / "ledger.sqlite3") as ledger:
        for number in (1, 2):
            run = Run(run_id=f"r{number}", pid=1, pid_started="never", started=1.0, ended=2.0, **owner, **state)
            ledger.begin(run)
            ledger.turn(Turn(f"r{number}", 1, "s1", None, 1.0, 2.0, "end_turn", 0, 10, 0, 0, 0, number))
            assert [usage()["totals"]["output"] for _ in range(3)] == [number * (number + 1) // 2] * 3


def test_another_question_has_another_answer(usage, tmp_path):
    path = tmp_path / ".claude" / "projects" / "p" / "s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(line("m1", 7), encoding="utf-8")
    words = [(), ("--by", "day"), ("--prefill-rate", "1"), ("--agent", "x"), ("--provider", "codex")]

    assert [usage(*each) for each in words] == [usage(*each) for each in words]
    assert len({json.dumps(usage(*each)) for each in words}) == 5


def test_of_a_run_that_goes_on_nothing_is_kept(usage, tmp_path):
    me = processes.me()
    owner = {"project": "/p", "agent": "a", "provider": "claude", "controller": "persistent", "model": "claude-opus-5"}
    state = {"effort": None, "permission": "ask", "cli_version": None, "plan": None, "prefix": None, "folder": "/p/r"}
    with Ledger(tmp_path / ".agentmux" / "ledger.sqlite3") as ledger:
        ledger.begin(Run(run_id="r1", pid=me.pid, pid_started=me.started, started=1.0, **owner, **state))
        ledger.turn(Turn("r1", 1, "s1", None, 1.0, 2.0, "end_turn", 0, 10, 0, 0, 0, 5))

    assert usage()["totals"]["output"] == 5
    assert list((tmp_path / ".agentmux" / "usage").glob("report-*")) == []
