"""`agentmux run`, `ps`, `stop` and `tail RUN` with a scripted stand-in, each as a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentmux_launcher import processes

termios = pytest.importorskip("termios")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")

FAKE = Path(__file__).parents[1] / "fake_cli.py"
SPEC = (
    "providers:\n"
    "  claude: {model: opus}\n"
    "  codex: {model: gpt-5.5, effort: low}\n"
    "permission: ask\n"
    "instructions: Review the diff.\n"
    "bundles: [style]\n"
    "startup: Read CONTRIBUTING.md first.\n"
)
FILES = {
    "agents.d/reviewer.yaml": SPEC,
    "agents.d/tester.yaml": "providers: {codex: {}}\nenv: {TOKEN: '${NO_SUCH_TOKEN}'}\n",
    "agents.d/screen.yaml": "providers: {claude: {controller: terminal}}\n",
    "bundles/style.md": "Be brief.\n",
}
ALL = {"read": "all"}
CLAUDE = [{"read": "line"}]
VERSIONS = {"claude": "2.1.332", "codex": "0.171.0"}


def answer(dialect, text, **more):
    return {"answer": {"dialect": dialect, "text": text, **more}}


class Shell:
    """A project, a home, and stand-ins of two CLIs on the PATH."""

    def __init__(self, root: Path, repository: Path) -> None:
        self.project = root / "project"
        self.fake = root / "fake"
        self.fake.mkdir()
        for path, text in FILES.items():
            (self.project / path).parent.mkdir(parents=True, exist_ok=True)
            (self.project / path).write_text(text, encoding="utf-8")
        for name, version in VERSIONS.items():
            self.cli(name, version)
        path = os.pathsep.join([str(root / "bin"), os.defpath])
        folders = [str(repository / name) for name in ("compiler", "launcher")]
        self.env = {
            "PATH": path,
            "PYTHONPATH": os.pathsep.join(folders),
            "HOME": str(root / "home"),
            "FAKE_CLI": str(self.fake),
            "LANG": "C.UTF-8",
        }

    def cli(self, name, version):
        folder = self.project.parent / "bin"
        folder.mkdir(exist_ok=True)
        text = f'#!/bin/sh\nFAKE_VERSION={version} exec {sys.executable} {FAKE} "$@"\n'
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)

    def script(self, *of_processes):
        (self.fake / "script.json").write_text(json.dumps(of_processes), encoding="utf-8")
        for note in self.fake.glob("*taken-*"):
            note.unlink()
        for note in self.fake.glob("note-*"):
            note.unlink()

    def notes(self, number=0):
        return json.loads((self.fake / f"note-{number}.json").read_text(encoding="utf-8"))

    @property
    def started(self):
        return len(list(self.fake.glob("note-*")))

    def start(self, *words, **more):
        command = [sys.executable, "-m", "agentmux", *words]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            command, cwd=self.project, env=self.env, start_new_session=True, encoding="utf-8", **{**pipes, **more}
        )

    def __call__(self, *words, stdin=None):
        child = self.start(*words, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE)
        out, err = child.communicate(stdin, timeout=60)
        return child.returncode, out, err

    def runs(self):
        _, out, _ = self("ps", "--all", "--format", "json")
        return json.loads(out)["runs"]


@pytest.fixture
def shell(tmp_path, repository):
    return Shell(tmp_path, repository)


def until(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_answer_goes_to_standard_output_and_all_else_to_standard_error(shell):
    shell.script([*CLAUDE, answer("claude", "An answer, ☃.", usage={"read": 1000}), ALL])

    code, out, err = shell("run", "reviewer", "Hello")

    assert (code, out) == (0, "An answer, ☃.\n")
    assert err == "tokens: 10 uncached, 1,000 from the cache, 0 written for 5 min, 5 out, 1,010 in the context\n"
    turn = json.loads(shell.notes()["stdin"][0])["message"]["content"][0]["text"]
    assert turn.startswith("# Session Context\n\n## Startup Instructions\n\nRead CONTRIBUTING.md first.\n")
    assert turn.endswith("\n\nHello")
    assert "- **Tester** (codex)" in turn
    assert "Reviewer** (" not in turn


def test_the_child_has_what_the_plan_and_the_run_give_it(shell):
    shell.script([*CLAUDE, answer("claude", "ok"), ALL])
    shell.env |= {"CLAUDECODE": "1", "TERM": "dumb", "AGENTMUX_RUN_ID": "outer", "MINE": "kept"}

    shell("run", "reviewer", "Hello")

    (run,) = shell.runs()
    seen = shell.notes()
    expected = {
        "AGENTMUX_AGENT_ID": "reviewer",
        "AGENTMUX_RUN_ID": run["run_id"],
        "AGENTMUX_BLOCKID": run["run_id"],
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "TERM_PROGRAM": "agentmux",
        "MINE": "kept",
    }
    assert {name: seen["env"].get(name) for name in expected} == expected
    assert "CLAUDECODE" not in seen["env"]
    assert (seen["cwd"], seen["size"], seen["tty"]) == (str(shell.project), [25, 200], [False, True, False])
    assert (run["state"], run["exit_code"], run["session_id"]) == ("ended", 0, "claude-session")


def test_events_and_frames_for_programs(shell):
    frames = [answer("codex", "ok", session="t")]
    shell.script([ALL, *frames])

    code, out, err = shell("run", "reviewer", "--provider", "codex", "Hello", "--output", "json")
    events = [json.loads(line) for line in out.splitlines()]
    assert (code, err, [event["event"] for event in events]) == (0, "", ["session", "text", "usage", "end"])

    shell.script([ALL, *frames])
    code, out, err = shell("run", "reviewer", "--provider", "codex", "Hello", "--output", "raw")
    assert (code, err, json.loads(out.splitlines()[0])) == (0, "", {"type": "thread.started", "thread_id": "t"})


def test_a_second_launch_compiles_only_what_has_changed_and_says_what_it_pays(shell):
    shell.script([ALL, answer("codex", "ok")])
    shell("run", "reviewer", "--provider", "codex", "one")
    (prepared,) = (shell.project / ".agentmux" / "launch").glob("reviewer-*.json")
    before = prepared.stat().st_mtime_ns

    _, _, quiet = shell("run", "reviewer", "--provider", "codex", "two")
    assert prepared.stat().st_mtime_ns == before
    assert quiet == "tokens: 10 uncached, 0 from the cache, 0 written for 5 min, 5 out\n"

    (shell.project / "bundles" / "style.md").write_text("Be very brief.\n", encoding="utf-8")
    _, _, loud = shell("run", "reviewer", "--provider", "codex", "three")
    assert prepared.stat().st_mtime_ns != before
    first, second, *_ = loud.splitlines()
    assert first.startswith("`reviewer` begins otherwise than at its last run: ")
    assert "paid again" in first
    assert second == "  `bundles/style.md` was edited (bundles/style.md:1)"
    assert "Be very brief." in " ".join(shell.notes(2)["argv"])


def later(shell, minutes):
    """All that the ledger knows is so many minutes older."""
    path = Path(shell.env["HOME"]) / ".agentmux" / "ledger.sqlite3"
    with contextlib.closing(sqlite3.connect(path)) as ledger:
        for table, column in (("runs", "started"), ("runs", "ended"), ("turns", "ended"), ("sessions", "updated")):
            ledger.execute(f"UPDATE {table} SET {column} = {column} - ?", (60 * minutes,))  # noqa: S608  names of ours
        ledger.commit()


def test_what_the_cache_has_forgotten_has_no_price(shell):
    shell.script([*CLAUDE, answer("claude", "ok", usage={"input": 20, "read": 980}), ALL])
    shell("run", "reviewer", "Hello")
    later(shell, 28)
    quiet = shell("run", "reviewer", "Hello")[2]
    (shell.project / "bundles" / "style.md").write_text("Be very brief.\n", encoding="utf-8")
    later(shell, 28)

    loud = shell("run", "reviewer", "Hello")[2]

    figures = "tokens: 20 uncached, 980 from the cache, 0 written for 5 min, 5 out, 1,000 in the context\n"
    assert quiet == figures
    assert loud == (
        "`reviewer` begins otherwise than at its last run, and the cache has forgotten that anyway: "
        f"the last call was 28 min ago, and what nobody uses is kept for 5 min\n{figures}"
    )


@pytest.mark.parametrize("words", [["--resume", "Hello"], ["--fork", "Hello"]])
def test_a_session_that_the_cache_has_forgotten_is_paid_for_whole(shell, words):
    shell.script([*CLAUDE, answer("claude", "ok", usage={"input": 20, "read": 980}), ALL])
    shell("run", "reviewer", "Hello")
    later(shell, 8)

    _, second, third, *_ = shell("run", "reviewer", *words)[2].splitlines()

    assert second == (
        "the cache has forgotten the session: all of its 1,000 tokens are paid again, $0.0048; "
        "the last call was 8 min ago, and what nobody uses is kept for 5 min"
    )
    assert third.startswith("tokens: ")


def test_another_effort_is_paid_for_by_the_size_that_the_session_has(shell):
    shell.script([*CLAUDE, answer("claude", "ok", usage={"input": 20, "read": 980}), ALL])
    shell("run", "reviewer", "Hello")

    lines = shell("run", "reviewer", "--resume", "--effort", "low", "Hello")[2].splitlines()

    assert lines[1:4] == [
        "  other effort: default, now low",
        "the session begins otherwise than at its last run: all of its 1,000 tokens are paid again, $0.0048",
        "  another effort (agents.d/reviewer.yaml:1)",
    ]


def test_nothing_is_said_of_a_cache_that_no_run_has_filled(shell):
    shell("build", "--accept")
    (shell.project / "bundles" / "style.md").write_text("Be very brief.\n", encoding="utf-8")
    shell.script([ALL, {"stderr": "401 Unauthorized\n"}, {"exit": 1}])
    assert "begins otherwise" not in shell("run", "reviewer", "--provider", "codex", "Hello")[2]
    (shell.project / "bundles" / "style.md").write_text("Be brief.\n", encoding="utf-8")
    assert "begins otherwise" not in shell("run", "reviewer", "--provider", "codex", "Hello")[2]


@pytest.mark.parametrize(
    "words",
    [["--resume", "s-1", "And now?"], ["--resume", "And now?"], ["And now?", "--resume"], ["--resume", "More"]],
)
def test_a_session_goes_on(shell, words):
    shell.script([ALL, answer("codex", "one", session="s-1")], [ALL, answer("codex", "two", session="s-1")])
    shell("run", "reviewer", "--provider", "codex", "Hello")

    code, out, err = shell("run", "reviewer", "--provider", "codex", *words)

    assert (code, out) == (0, "two\n")
    assert shell.notes(1)["stdin"] == [f"{next(word for word in words if word[:2] not in {'--', 's-'})}\n"]
    assert shell.notes(1)["argv"][-3:] == ["resume", "s-1", "-"]
    assert err.startswith("going on with the session `s-1`")


def test_what_is_other_in_a_session_that_goes_on_is_said(shell):
    shell.script([ALL, answer("codex", "one")])
    shell("run", "reviewer", "--provider", "codex", "Hello")

    _, _, err = shell("run", "reviewer", "--provider", "codex", "--effort", "high", "--resume", "And now?")

    assert "  other effort: low, now high\n" in err
    assert "model_reasoning_effort=high" in " ".join(shell.notes(1)["argv"])


def test_an_edit_that_a_session_will_not_see_is_said(shell):
    shell.script([ALL, answer("codex", "one")])
    shell("run", "reviewer", "--provider", "codex", "Hello")
    (shell.project / "bundles" / "style.md").write_text("Be very brief.\n", encoding="utf-8")

    shell("run", "reviewer", "--provider", "codex", "--resume", "And now?")
    _, _, err = shell("run", "reviewer", "--provider", "codex", "--resume", "And now?")

    assert "  `bundles/style.md` was edited (bundles/style.md:1)\n" in err
    assert "  the session keeps the text it began with: the edit reaches new sessions only\n" in err


@pytest.mark.parametrize("provider", ["claude", "codex"])
def test_a_session_that_went_on_with_its_old_text_leaves_an_edit_to_the_next_new_one(shell, provider):
    shell.script([{"read": "line" if provider == "claude" else "all"}, answer(provider, "ok"), ALL])
    shell("run", "reviewer", "--provider", provider, "One")
    (shell.project / "bundles" / "style.md").write_text("Be very brief.\n", encoding="utf-8")
    shell("run", "reviewer", "--provider", provider, "--resume", "And now?")

    first, second = (shell("run", "reviewer", "--provider", provider, "Two")[2].splitlines() for _ in range(2))

    assert first[0].startswith("`reviewer` begins otherwise than at its last run: ")
    assert first[1] == "  `bundles/style.md` was edited (bundles/style.md:1)"
    assert second[0].startswith("tokens: ")


def test_a_session_that_went_on_with_another_effort_has_that_and_its_old_text(shell):
    shell.script([*CLAUDE, answer("claude", "ok", usage={"input": 20, "read": 980}), ALL])
    shell("run", "reviewer", "One")
    (shell.project / "bundles" / "style.md").write_text("Be very brief.\n", encoding="utf-8")

    said = [shell("run", "reviewer", "--resume", "--effort", "low", "And now?")[2] for _ in range(2)]

    assert ["other effort: default, now low" in each for each in said] == [True, False]
    assert ["another effort" in each for each in said] == [True, False]
    assert ["`bundles/style.md` was edited" in each for each in said] == [False, True]
    assert "paid again" in said[0]
    assert "nothing is paid again" in said[1]


def test_a_copy_of_a_session(shell):
    shell.script([ALL, answer("codex", "one", session="s-1")], [ALL, answer("codex", "two", session="s-2")])
    shell("run", "reviewer", "--provider", "codex", "Hello")

    shell("run", "reviewer", "--provider", "codex", "--fork", "And now?")

    assert shell.notes(1)["argv"][-3:] == ["fork", "s-1", "-"]
    assert [run["session_id"] for run in shell.runs()] == ["s-1", "s-2"]


def test_a_session_that_nobody_knows_is_the_clis_affair_and_none_is_an_error(shell):
    shell.script([ALL, answer("codex", "ok", session="far")])

    assert shell("run", "reviewer", "--provider", "codex", "--resume", "far", "Hello")[0] == 0
    assert shell.notes()["argv"][-3:] == ["resume", "far", "-"]
    code, _, err = shell("run", "tester", "--resume", "And now?")
    assert (code, err) == (125, "error: no session of `tester` on `codex` is known to go on with\n")


def test_a_cli_that_is_not_there(shell):
    shell.script([*CLAUDE, answer("claude", "ok"), ALL])
    shell("run", "reviewer", "Hello")
    (shell.project / "bundles" / "style.md").write_text("Be very brief.\n", encoding="utf-8")
    for name in VERSIONS:
        (shell.project.parent / "bin" / name).unlink()

    code, out, err = shell("run", "reviewer", "Hello")

    assert (code, out) == (127, "")
    assert err.startswith("error: `claude` is not installed\n")
    assert "agentmux install claude" in err


def test_a_cli_of_another_version_is_named_and_a_value_that_is_missing_too(shell):
    shell.cli("codex", "0.170.0")
    shell.script([ALL, answer("codex", "ok")])

    _, _, err = shell("run", "tester", "Hello")

    assert err.splitlines()[:2] == [
        "codex 0.170.0 is not the verified version, 0.171.0",
        "`NO_SUCH_TOKEN` has no value here, and the plan passes it on",
    ]


def test_a_gate_is_named_where_it_matters_and_opened_only_when_allowed(shell):
    shell.script([ALL, answer("codex", "ok")])
    assert "--trust" not in shell("run", "tester", "Hello")[2]
    (shell.project / ".codex").mkdir()
    (shell.project / ".codex" / "config.toml").write_text("", encoding="utf-8")

    said = "unless it trusts this folder, `codex` leaves out .codex/config.toml; `--trust` lets it for this run\n"
    assert said in shell("run", "tester", "Hello")[2]
    assert said not in shell("run", "tester", "--trust", "Hello")[2]

    opened = f'projects={{"{shell.project}"={{trust_level="trusted"}}}}'
    assert [opened in shell.notes(number)["argv"] for number in range(3)] == [False, False, True]


def test_sources_with_an_error_start_nothing(shell):
    (shell.project / "agents.d" / "reviewer.yaml").write_text(SPEC.replace("style", "stile"), encoding="utf-8")

    code, out, err = shell("run", "reviewer", "Hello")

    assert (code, out, shell.started) == (125, "", 0)
    assert err.startswith("error[AMX201]: there is no bundle `stile`")
    assert err.endswith("error: nothing was started\n")


def test_a_value_that_the_provider_does_not_take_starts_nothing(shell):
    code, _, err = shell("run", "reviewer", "--provider", "codex", "--effort", "hgh", "Hello")

    assert (code, shell.started) == (125, 0)
    assert "did you mean `high`?" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "reviewer"], "error: no prompt"),
        (["run", "reviewr", "Hello"], "error: no agent `reviewr`"),
        (["run", "reviewer", "--provider", "codx", "Hello"], "error: no provider `codx`"),
        (["run", "reviewer", "--timeout", "soon", "Hello"], "error: `--timeout` takes a number of seconds"),
        (["run", "screen", "Hello"], "error: `claude` has a screen of its own, where the prompt is typed"),
        (["stop", "nobody"], "error: no run `nobody`"),
        (["stop", ""], "error: no run ``"),
    ],
)
def test_what_cannot_be_done_is_refused(shell, words, message):
    shell("run", "tester", "Hello")
    code, out, err = shell(*words)

    assert (code, out) == (2, "")
    assert err.startswith(message)


def test_a_provider_the_agent_does_not_run_on(shell):
    code, _, err = shell("run", "tester", "--provider", "claude", "Hello")

    assert code == 125
    assert err.startswith("error: `tester` does not run on `claude`\n  = note: it runs on codex\n")


def test_a_prompt_from_standard_input(shell):
    shell.script([ALL, answer("codex", "ok")])

    assert shell("run", "tester", "-", stdin="first line\nsecond ☃")[0] == 0
    assert shell.notes()["stdin"][0].endswith("first line\nsecond ☃\n")


def test_a_dry_run_starts_and_writes_nothing(shell):
    code, out, err = shell("run", "reviewer", "--provider", "codex", "--dry-run", "Hello")

    lines = out.splitlines()
    assert (code, err, shell.started) == (0, "", 0)
    assert lines[0].startswith(f"{shell.project.parent}/bin/codex exec --json ")
    assert "developer_instructions=<" in lines[0]
    assert {"in     .", "set    AGENTMUX_AGENT_ID", "set    AGENTMUX_RUN_ID", "set    TERM"} <= set(lines)
    assert [line for line in lines if line.startswith("file")] == [
        "file   .agentmux/agents/reviewer/codex/instructions.md"
    ]
    assert not (shell.project / ".agentmux").exists()

    code, out, _ = shell("run", "reviewer", "--dry-run", "Hello", "--output", "json")
    assert (code, json.loads(out)["cwd"]) == (0, ".")


def test_the_time_runs_out(shell):
    beside = {"stderr": "Ignoring 1 permissions.allow entry\n"}
    shell.script([ALL, {"frames": [{"type": "thread.started", "thread_id": "t"}]}, beside, {"wait": True}])

    code, _, err = shell("run", "tester", "Hello", "--timeout", "1")

    assert code == 124
    assert err.endswith("failed (timeout): the time ran out: after 1 second\n")


def test_a_run_is_listed_followed_and_stopped_from_another_shell(shell):
    said = {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "half"}}
    frames = {"frames": [{"type": "thread.started", "thread_id": "t"}, said]}
    shell.script([ALL, frames, {"spawn": {"seconds": 90, "detach": True}}, {"wait": True}])
    running = shell.start("run", "tester", "Hello")
    until(lambda: shell.started and shell.notes()["children"])
    (run,) = json.loads(shell("ps", "--format", "json")[1])["runs"]
    following = shell.start("tail", "latest")
    listed = shell("ps")[1].splitlines()

    code, out, err = shell("stop", run["run_id"])

    assert (code, out, err) == (0, "", "")
    assert (len(listed), listed[1].split()[0]) == (2, run["run_id"])
    assert running.wait(20) == 143
    assert following.communicate(timeout=20)[0] == "half\n"
    assert processes.of_run(run["run_id"]) == []
    assert shell("ps")[2] == "nothing runs\n"
    assert shell("stop", run["run_id"])[2] == f"`{run['run_id']}` has ended before\n"
    running.communicate()


def test_what_is_left_of_a_run_whose_launcher_was_killed_is_ended_by_stop_too(shell):
    shell.script([ALL, {"ignore": "SIGTERM"}, {"ignore": "SIGHUP"}, {"frames": [{"type": "x"}]}, {"wait": True}])
    running = shell.start("run", "tester", "Hello")
    until(lambda: shell.started)
    (run,) = shell.runs()
    guard = next(
        seen for seen in processes.everything() if seen.parent == running.pid and seen.known.pid != run["child_pid"]
    )
    os.kill(guard.known.pid, signal.SIGKILL)
    running.kill()
    running.communicate()
    assert [each["state"] for each in shell.runs()] == ["lost"]

    code, _, err = shell("stop", run["run_id"])

    assert code == 0
    assert f"(process {run['child_pid']})" in err
    assert processes.of_run(run["run_id"]) == []
    assert shell("stop", run["run_id"])[2] == f"`{run['run_id']}` has ended before\n"


def test_many_at_once_lose_nothing(shell):
    count = 12
    shell.script([ALL, answer("codex", "one"), {"exit": 0}])
    shell("run", "tester", "warm up")
    running = [shell.start("run", "tester", f"Hello {number}") for number in range(count)]

    assert [child.communicate(timeout=120)[0] for child in running] == ["one\n"] * count
    runs = shell.runs()
    assert len(runs) == count + 1
    assert {run["exit_code"] for run in runs} == {0}


def test_without_a_ledger_a_run_works_and_says_what_it_loses(shell, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    shell.env["AGENTMUX_HOME"] = str(tmp_path / "file")
    shell.script([ALL, answer("codex", "ok")])

    code, out, err = shell("run", "tester", "Hello")

    assert (code, out) == (0, "ok\n")
    assert err.startswith("no ledger, so this run cannot be gone on with")


class Terminal:
    """A person at a terminal in which `agentmux` runs."""

    # A session of its own, whose terminal is the one on stdin.
    START = (
        "import fcntl, os, sys, termios\n"
        "os.setsid()\n"
        "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'agentmux', *sys.argv[1:]])\n"
    )

    def __init__(self, shell: Shell, *words: str) -> None:
        self.master, slave = os.openpty()
        termios.tcsetwinsize(slave, (40, 120))
        self.child = subprocess.Popen(
            [sys.executable, "-c", self.START, *words],
            cwd=shell.project,
            env=shell.env,
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)
        self.seen = ""

    def sees(self, text, seconds=20):
        """Wait for a text; everything up to it is taken as read."""
        deadline = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < deadline, self.seen
            if select.select([self.master], [], [], 0.1)[0]:
                data = self._read()
                assert data, self.seen
                self.seen += data
        before, _, self.seen = self.seen.partition(text)
        return before

    def types(self, text):
        os.write(self.master, text.encode())

    def ends(self, seconds=20):
        """Its exit code, and all that it said to the end."""
        deadline = time.monotonic() + seconds
        while data := self._read():
            self.seen += data
            assert time.monotonic() < deadline
        return self.child.wait(seconds)

    def _read(self):
        try:
            return os.read(self.master, 65536).decode("utf-8", "replace")
        except OSError:
            return ""


@pytest.fixture
def terminal(shell):
    """A function that runs `agentmux` in a terminal."""
    opened = []

    def run(*words):
        opened.append(Terminal(shell, *words))
        return opened[-1]

    yield run
    for each in opened:
        each.child.kill()
        each.child.wait()
        os.close(each.master)


def ask(request):
    asked = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "touch x\x1b[2J"}, "tool_use_id": "t"}
    return {"frames": [{"type": "control_request", "request_id": request, "request": asked}]}


def test_a_chat_goes_on_until_there_is_nothing_more_to_say(shell, terminal):
    turn = {"read": "line"}
    shell.script([turn, answer("claude", "one", id="m1"), turn, answer("claude", "two", id="m2"), ALL])
    here = terminal("run", "reviewer")

    here.sees("> ")
    here.types("first\n")
    here.sees("one\r\n")
    here.sees("> ")
    here.types("second\n")
    here.sees("two\r\n")
    here.sees("> ")
    here.types("\x04")

    assert here.ends() == 0
    assert shell.started == 1
    assert shell.notes()["size"] == [40, 120]


def test_ctrl_c_at_the_prompt_of_a_chat_ends_it(shell, terminal):
    shell.script([{"read": "line"}, answer("claude", "one"), ALL])
    here = terminal("run", "reviewer")
    here.sees("> ")
    here.types("first\n")
    here.sees("one\r\n")
    here.sees("> ")

    here.types("\x03")

    assert here.ends() == 130


@pytest.mark.parametrize(("typed", "behavior"), [("y\n", "allow"), ("n too risky\n", "deny")])
def test_a_person_is_asked_whatever_is_on_standard_output(shell, terminal, typed, behavior):
    shell.script([{"read": "line"}, ask("r1"), {"read": "line"}, answer("claude", "ok"), ALL])
    here = terminal("run", "reviewer", "--output", "json", "Hello")

    here.sees("Bash wants to run: touch x\\x1b[2J\r\n")
    here.sees("> ")
    here.types(typed)

    assert here.ends() == 0
    response = json.loads(shell.notes()["stdin"][1])["response"]["response"]
    assert response["behavior"] == behavior


def test_a_screen_is_passed_through_with_its_size_and_its_exit_code(shell, terminal):
    steps = [{"text": "\x1b[31mname?\x1b[0m "}, {"read": "line"}, {"text": "bye\n"}, {"exit": 7}]
    shell.script(steps)
    here = terminal("run", "screen")

    here.sees("\x1b[31mname?\x1b[0m ")
    here.types("me\r")
    here.sees("bye\r\n")

    assert here.ends() == 7
    seen = shell.notes()
    assert (seen["tty"], seen["size"], seen["controlling"]) == ([True] * 3, [40, 120], True)
    assert seen["stdin"] == ["me\n"]
    assert [run["exit_code"] for run in shell.runs()] == [7]


def test_the_keys_and_the_size_of_the_terminal_reach_the_screen(shell, terminal):
    shell.script([{"catch": {"signal": "SIGWINCH", "exit": 41}}, {"text": "ready\n"}, {"wait": True}])
    here = terminal("run", "screen")
    here.sees("ready\r\n")
    termios.tcsetwinsize(here.master, (50, 132))
    assert here.ends() == 41

    shell.script([{"catch": {"signal": "SIGINT", "exit": 42}}, {"text": "ready\n"}, {"wait": True}])
    here = terminal("run", "screen")
    here.sees("ready\r\n")
    here.types("\x03")
    assert here.ends() == 42


def test_a_screen_that_dies_of_a_signal_says_so_and_the_terminal_is_as_before(shell, terminal):
    shell.script([{"text": "ready\n"}, {"die": "SIGKILL"}])
    here = terminal("run", "screen")
    before = termios.tcgetattr(here.master)
    here.sees("ready\r\n")

    assert here.ends() == 128 + signal.SIGKILL
    assert termios.tcgetattr(here.master) == before


def test_a_gate_that_only_a_file_opens_is_opened_for_good_where_that_is_allowed(shell):
    shell.cli("kimi", "2.1.0")
    (shell.project / "agents.d" / "k.yaml").write_text("providers: {kimi: {}}\npermission: bypass\n", encoding="utf-8")
    (shell.project / ".mcp.json").write_text("{}", encoding="utf-8")
    shell.script([ALL, answer("kimi", "ok")])
    trusted = Path(shell.env["HOME"]) / ".kimi-code" / "workspace-trust"

    first = shell("run", "k", "Hello")[2]
    assert "unless it trusts this folder, `kimi` leaves out MCP servers" in first
    assert not trusted.exists()
    planned = shell("run", "k", "--trust", "--dry-run")[1].splitlines()
    assert not trusted.exists()
    assert not [row for row in shell("run", "k", "--dry-run")[1].splitlines() if row.startswith("entry")]

    second = shell("run", "k", "--trust", "Hello")[2]
    (entry,) = trusted.iterdir()
    assert [row for row in planned if row.startswith("entry")] == [f"entry  {entry}"]
    assert json.loads(shell("run", "k", "--trust", "--dry-run", "--output", "json")[1])["entries"] == []
    assert f"`kimi` trusts this folder from now on, by the new file `{entry}`" in second
    assert json.loads(entry.read_bytes())["root"] == str(shell.project)
    assert "trust" not in shell("run", "k", "Hello")[2]


@pytest.mark.parametrize(("typed", "count"), [("y\r", 1), ("\r", 0)])
def test_a_person_is_asked_for_trust_once(shell, terminal, typed, count):
    shell.cli("kimi", "2.1.0")
    (shell.project / "agents.d" / "k.yaml").write_text("providers: {kimi: {}}\npermission: bypass\n", encoding="utf-8")
    (shell.project / ".mcp.json").write_text("{}", encoding="utf-8")
    shell.script([ALL, answer("kimi", "an answer")])

    here = terminal("run", "k", "Hello")
    here.sees("[y/N] ")
    here.types(typed)
    here.sees("an answer")
    assert here.ends() == 0

    assert len(list((Path(shell.env["HOME"]) / ".kimi-code").rglob("wd_project_*"))) == count
    again = terminal("run", "k", "Hello")
    seen = again.sees("an answer")
    assert again.ends() == 0
    assert "[y/N]" not in (seen or "")


def test_what_a_project_opts_out_of_is_turned_off(shell):
    (shell.project / "agents.d" / "_project.yaml").write_text("opt_out: [updates]\n", encoding="utf-8")
    shell.script([*CLAUDE, answer("claude", "ok"), ALL])

    shell("run", "reviewer", "Hello")

    env = shell.notes()["env"]
    assert (env.get("DISABLE_AUTOUPDATER"), env.get("DISABLE_TELEMETRY")) == ("1", None)


def test_old_runs_are_let_go_as_the_project_says(shell):
    (shell.project / "agents.d" / "_project.yaml").write_text(
        "retention_days: 400\nretention_runs: 1\n", encoding="utf-8"
    )
    shell.script([*CLAUDE, answer("claude", "ok"), ALL])
    runs = shell.project / ".agentmux" / "runs"
    for name in ("20200101-000000-00000001", "20990101-000000-00000001"):
        (runs / name).mkdir(parents=True)

    shell("run", "reviewer", "Hello")

    (run,) = shell.runs()
    assert sorted(path.name for path in runs.iterdir()) == [".gitignore", run["run_id"], "20990101-000000-00000001"]
    assert run["kept"] is True
    shutil.rmtree(runs / run["run_id"])
    assert [each["kept"] for each in shell.runs()] == [False]
    assert shell("ps", "--all")[1].splitlines()[0].split()[5:7] == ["PROCESS", "KEPT"]


@pytest.mark.parametrize("stdin", ["", " \n"])
def test_a_prompt_without_words_is_refused(shell, stdin):
    code, out, err = shell("run", "reviewer", "-", stdin=stdin)

    assert (code, out, shell.started) == (2, "", 0)
    assert err.startswith("error: standard input holds no prompt\n")
    assert shell("run", "reviewer", stdin)[2].startswith("error: the prompt is empty\n")


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("a\0b", "the prompt has a NUL in it, and `kimi` takes it as an argument"),
        ("x" * 40_000, "the prompt is too long for `kimi`, which takes it as an argument"),
    ],
)
def test_a_prompt_that_no_command_line_can_hold_is_refused(shell, prompt, message):
    shell.cli("kimi", "2.1.0")
    (shell.project / "agents.d" / "k.yaml").write_text("providers: {kimi: {}}\npermission: bypass\n", encoding="utf-8")

    code, out, err = shell("run", "k", "-", stdin=prompt)

    assert (code, out, shell.started) == (2, "", 0)
    assert f"error: {message}\n  = help: " in err


def test_a_prompt_that_begins_with_a_dash_stands_behind_two(shell):
    shell.script([ALL, answer("codex", "ok")])

    code, _, err = shell("run", "tester", "-v")

    assert (code, shell.started) == (2, 0)
    assert "  = help: a prompt that begins with `-` stands behind `--`\n" in err
    assert shell("run", "tester", "--", "-v")[0] == 0
    assert shell.notes()["stdin"][0].endswith("\n-v\n")


@pytest.mark.parametrize("words", [["\udcff"], ["--model", "\udcff", "Hello"], ["--resume", "0123456789\udcff", "x"]])
@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_words_that_are_not_utf_8_are_refused(shell, words, more):
    code, out, err = shell("run", "tester", *more, *words)

    assert (code, out, shell.started) == (2, "", 0)
    assert err.partition("\n")[0].endswith(" is not UTF-8")


@pytest.mark.parametrize(("closed", "shown"), [(0, "ok\n"), (1, ""), (2, "ok\n")])
def test_a_stream_that_was_closed_before_the_start_hinders_nothing(shell, closed, shown):
    shell.script([ALL, answer("codex", "ok")])
    command = f'exec "$@" {closed}>&-' if closed else 'exec "$@" <&-'

    child = subprocess.run(
        ["/bin/sh", "-c", command, "sh", sys.executable, "-m", "agentmux", "run", "tester", "Hello"],
        cwd=shell.project,
        env=shell.env,
        capture_output=True,
        encoding="utf-8",
        start_new_session=True,
        check=False,
    )

    assert (child.returncode, child.stdout) == (0, shown)


@pytest.mark.parametrize("word", [[], ["-"]])
def test_a_standard_input_that_is_closed_holds_no_prompt(shell, word):
    child = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "agentmux", "run", "tester", *word],
        cwd=shell.project,
        env=shell.env,
        capture_output=True,
        encoding="utf-8",
        start_new_session=True,
        check=False,
    )

    assert (child.returncode, child.stdout, shell.started) == (2, "", 0)
    assert " no prompt\n" in child.stderr


def spoiled(shell, change):
    """A ledger with one run in it, changed."""
    shell.script([ALL, answer("codex", "ok")])
    shell("run", "tester", "Hello")
    path = Path(shell.env["HOME"]) / ".agentmux" / "ledger.sqlite3"
    with contextlib.closing(sqlite3.connect(path)) as ledger:
        ledger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        change(ledger)
        ledger.commit()
    return path


def without_runs(ledger):
    ledger.execute("DROP TABLE runs")


def without_versions(ledger):
    ledger.execute("DROP TABLE executables")


@pytest.mark.parametrize("words", [["ps"], ["stop", "x"], ["tail", "x"]])
def test_a_ledger_that_is_broken_is_said_with_a_way_out(shell, words):
    path = spoiled(shell, without_runs)

    code, out, err = shell(*words)

    assert (code, out) == (2, "")
    assert err == (
        f"error: the ledger cannot be read: `{path}`: no such table: runs\n"
        "  = help: if it is broken beyond repair, move it away: the next run makes a new one\n"
    )


@pytest.mark.parametrize("change", [without_runs, without_versions])
def test_a_broken_ledger_starts_nothing_and_says_why(shell, change):
    spoiled(shell, change)
    shell.script([ALL, answer("codex", "ok")])

    code, out, err = shell("run", "tester", "Hello")

    assert (code, out, shell.started) == (125, "", 0)
    assert "error: the ledger cannot be read: " in err
    assert "move it away" in err


def test_a_ledger_that_takes_nothing_hinders_no_run(shell):
    def closed(ledger):
        for table in ("plans", "runs", "executables"):
            ledger.execute(f"CREATE TRIGGER no_{table} BEFORE INSERT ON {table} BEGIN SELECT RAISE(FAIL, 'full'); END")
        ledger.execute("DELETE FROM executables")

    spoiled(shell, closed)
    shell.script([ALL, answer("codex", "ok")])

    code, out, err = shell("run", "tester", "Hello")

    assert (code, out) == (0, "ok\n")
    assert "this run cannot be kept: the ledger fails: full\n" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("output", ["text", "json", "raw"])
def test_an_output_that_takes_no_more_ends_no_turn_and_is_told_of(shell, output):
    shell.script([*CLAUDE, answer("claude", "ok"), ALL])

    with Path("/dev/full").open("wb") as full:
        child = shell.start("run", "reviewer", "--output", output, "Hello", stdout=full)
        _, err = child.communicate(timeout=60)

    (run,) = shell.runs()
    assert (child.returncode, run["exit_code"], run["session_id"]) == (1, 1, "claude-session")
    assert err.endswith(
        f"standard output took no more: no space left on device\n  `agentmux tail {run['run_id']}` shows all of it\n"
    )
    assert shell("tail", run["run_id"])[:2] == (0, "ok\n")


def test_no_run_is_kept_behind_a_link(shell):
    elsewhere = shell.project.parent / "elsewhere"
    elsewhere.mkdir()
    (shell.project / ".agentmux").mkdir()
    (shell.project / ".agentmux" / "runs").symlink_to(elsewhere)

    code, out, err = shell("run", "tester", "Hello")

    assert (code, out, shell.started, list(elsewhere.iterdir())) == (125, "", 0, [])
    assert err.endswith(
        f"error: `{shell.project}/.agentmux/runs` is a link, and nothing is written through one\n"
        "  = help: put a folder in its place\n"
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [("plan.json", "{"), ("plan.json", "{}"), ("processes.jsonl", "[]\n"), ("processes.jsonl", "x\n")],
)
def test_a_folder_that_was_spoiled_is_said_and_how_to_read_its_frames(shell, name, content):
    shell.script([ALL, answer("codex", "ok")])
    shell("run", "tester", "Hello")
    (run,) = shell.runs()
    folder = shell.project / ".agentmux" / "runs" / run["run_id"]
    (folder / name).write_text(content, encoding="utf-8")

    code, out, err = shell("tail", run["run_id"])

    assert (code, out) == (2, "")
    assert err == (
        f"error: what is kept of `{run['run_id']}` cannot be read\n"
        f"  = help: `agentmux tail --provider codex {folder}/frames.jsonl` reads what the CLI wrote\n"
    )
    assert shell("tail", "--provider", "codex", str(folder / "frames.jsonl"))[:2] == (0, "ok\n")


def test_a_session_of_another_provider_is_named_as_such(shell):
    shell.script([ALL, answer("codex", "ok", session="thread-0123")])
    shell("run", "tester", "Hello")

    code, out, err = shell("run", "reviewer", "--resume", "thread-0123", "And now?")

    assert (code, out) == (125, "")
    assert "error: `thread-0123` is a session of `codex`\n  = help: add `--provider codex`\n" in err


def test_a_session_is_in_use_before_its_first_answer(shell):
    shell.script([*CLAUDE, answer("claude", "ok"), ALL], [*CLAUDE, {"wait": True}])
    shell("run", "reviewer", "Hello")
    running = shell.start("run", "reviewer", "--resume", "And now?")
    until(lambda: shell.started == 2)
    run = next(run for run in shell.runs() if run["state"] == "running")

    code, _, err = shell("run", "reviewer", "--resume", "Me too")

    assert code == 125
    assert f"error: the session is in use by the run `{run['run_id']}`\n" in err
    shell("stop", run["run_id"])
    running.communicate()
