"""Sessions of `agentmux run` against a recorder that plays a cache: what the forensics make of them."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agentmux_compiler.prefix.played import player_of
from agentmux_launcher.ledger import Ledger
from agentmux_launcher.recorder import Answer, Recorder, Script
from agentmux_launcher.recorder.cache import MovableClock
from agentmux_usage.breaks import Line, Reason
from agentmux_usage.forensics import find_breaks, known_of
from agentmux_usage.from_ledger import read
from agentmux_usage.response import Session

pytest.importorskip("termios")

FAKE = Path(__file__).parents[2] / "fake_cli.py"
RULES = "".join(f"Rule {number} of the house style is to be held in every file.\n" for number in range(1, 101))
VERSIONS = {"claude": "2.1.332", "qwen": "0.24.4"}
SPEC = """\
providers:
  claude: {model: claude-opus-5}
  qwen: {model: qwen3-coder-plus, backend: vllm, base_url: "http://127.0.0.1:8000/v1"}
permission: bypass
instructions: Review the diff, not the author.
bundles: [style]
"""
CACHES = {"claude": ("anthropic", "anthropic", "claude-opus-5"), "qwen": ("vllm", "custom", "qwen3-coder-plus")}


class Shell:
    """A project of one agent, stand-ins of two CLIs on the PATH, a recorder that they ask."""

    def __init__(self, root, repository, provider, resumed):
        self.root, self.provider = root, provider
        self.clock = MovableClock()
        self.recorder = Recorder(cache=player_of(*CACHES[provider], clock=self.clock), folder=root / "requests")
        for path, text in {"agents.d/reviewer.yaml": SPEC, "bundles/style.md": RULES}.items():
            self.write(path, text)
        for name, version in VERSIONS.items():
            target = root / "bin" / name
            target.parent.mkdir(exist_ok=True)
            target.write_text(
                f'#!/bin/sh\nFAKE_VERSION={version} exec {sys.executable} {FAKE} "$@"\n', encoding="utf-8"
            )
            target.chmod(0o755)
        (root / "fake").mkdir()
        self.script("s-1", resumed=resumed)
        self.env = {
            "PATH": os.pathsep.join([str(root / "bin"), os.defpath]),
            "PYTHONPATH": os.pathsep.join(str(repository / name) for name in ("compiler", "launcher")),
            "HOME": str(root / "home"),
            "AGENTMUX_HOME": str(root / "home"),
            "FAKE_CLI": str(root / "fake"),
            "LANG": "C.UTF-8",
        }

    def write(self, path, text):
        target = self.root / "project" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def script(self, *sessions, resumed="kept"):
        """The sessions of the processes that start from now on, in their order."""
        heard = {"read": "line" if self.provider == "claude" else "all"}
        turns = ({"converse": {"dialect": self.provider, "session": each, "resumed": resumed}} for each in sessions)
        for taken in (self.root / "fake").glob("taken-*"):
            taken.unlink()
        steps = [[heard, turn, {"read": "all"}] for turn in turns]
        (self.root / "fake" / "script.json").write_text(json.dumps(steps), encoding="utf-8")

    def __call__(self, *words):
        child = self._start(*words)
        out, err = child.communicate(timeout=60)
        assert child.returncode == 0, err
        return out

    def _start(self, *words):
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        env = {**self.env, "FAKE_ENDPOINT": self.recorder.url}
        return subprocess.Popen([sys.executable, "-m", "agentmux", *words], cwd=self.root / "project", env=env, **pipes)

    def start(self, prompt, *words, resume=True):
        going_on = ["--resume", "s-1"] if resume else []
        return self._start("run", "reviewer", prompt, *going_on, "--provider", self.provider, *words)

    def turn(self, *words, resume=True):
        child = self.start(*words, resume=resume)
        _, err = child.communicate(timeout=60)
        assert child.returncode == 0, err

    @property
    def ledger(self):
        return self.root / "home" / "ledger.sqlite3"

    def later(self, seconds):
        """So much time passes: for the cache, and in the ledger, where all that was lies further back."""
        self.clock.advance(seconds)
        with sqlite3.connect(self.ledger) as connection:
            for column, table in (("started", "turns"), ("ended", "turns"), ("time", "usage"), ("started", "runs")):
                connection.execute(f"UPDATE {table} SET {column} = {column} - ?", (seconds,))  # noqa: S608  ours
        connection.close()

    @property
    def breaks(self):
        return self.breaks_of("s-1")

    def breaks_of(self, name):
        responses = read(self.ledger).responses
        names = sorted({each.session_id for each in responses})
        sessions = {
            each: Session(self.provider, each, tuple(one for one in responses if one.session_id == each))
            for each in names
        }
        with Ledger(self.ledger) as ledger:
            return find_breaks(sessions[name], known_of(sessions.values(), ledger))

    @property
    def paid_again(self):
        """Tokens that the recorder's cache held after the second turn and did not serve in the third."""
        before, broken = self.recorder.turns[1:3]
        return before.usage.prompt_tokens - broken.usage.cache_read_tokens


@pytest.fixture
def launched(tmp_path, repository):
    """A function that gives a shell with a session of two turns."""
    shells = []

    def launch(provider, resumed="kept"):
        shell = Shell(tmp_path, repository, provider, resumed)
        shells.append(shell)
        shell.recorder.__enter__()
        shell.turn("Hello", resume=False)
        shell.turn("And now?")
        assert shell.breaks == ()
        return shell

    yield launch
    for shell in shells:
        shell.recorder.__exit__(None, None, None)


def test_an_edited_bundle_is_named_as_the_cause_down_to_its_line(launched):
    shell = launched("qwen", "rewritten")
    shell.write("bundles/style.md", RULES.replace("Rule 40 of the house", "Rule 40 of this house"))

    shell.turn("Go on.")
    shell.turn("Once more.")

    (found,) = shell.breaks
    assert (found.reason, found.line, found.turn, found.call) == (
        Reason.INSTRUCTIONS,
        Line("bundles/style.md", 40),
        3,
        3,
    )
    assert found.evidence == "the plan is another one: `bundles/style.md` was edited (bundles/style.md:40)"
    assert abs(found.lost - shell.paid_again) <= 0.05 * shell.paid_again
    assert found.observed == shell.recorder.turns[2].usage.cache_read_tokens
    assert found.predicted > 0
    (session,) = json.loads(shell("usage", "--format", "json"))["sessions"]
    (told,) = session["breaks"]
    assert {name: told[name] for name in ("turn", "lost_tokens", "reason", "evidence", "path", "line")} == {
        "turn": 3,
        "lost_tokens": found.lost,
        "reason": "instructions",
        "evidence": found.evidence,
        "path": "bundles/style.md",
        "line": 40,
    }


def test_a_session_that_keeps_its_text_loses_nothing_by_an_edit(launched):
    shell = launched("claude", "kept")
    shell.write("bundles/style.md", RULES.replace("Rule 40", "Rule XL"))

    shell.turn("Go on.")

    assert shell.breaks == ()
    assert shell.recorder.turns[2].usage.cache_read_tokens > 5_000


def test_a_text_that_was_to_be_kept_and_was_not_is_still_named(launched):
    shell = launched("claude", "rewritten")
    shell.write("bundles/style.md", RULES.replace("Rule 40", "Rule XL"))

    shell.turn("Go on.")

    (found,) = shell.breaks
    assert (found.reason, found.line, found.predicted) == (Reason.INSTRUCTIONS, Line("bundles/style.md", 40), 0)
    assert found.lost == shell.paid_again


@pytest.mark.parametrize(
    ("words", "reason", "evidence"),
    [
        (("--effort", "high"), Reason.EFFORT, "the effort was the CLI's default and is `high`"),
        (
            ("--model", "claude-opus-4-8"),
            Reason.MODEL,
            "the model was `claude-opus-5` and is `claude-opus-4-8`",
        ),
    ],
)
def test_another_key_of_the_cache_loses_all(launched, words, reason, evidence):
    shell = launched("claude")

    shell.turn("Go on.", *words)

    (found,) = shell.breaks
    assert (found.reason, found.evidence, found.observed) == (reason, evidence, 0)
    assert found.lost == found.predicted == shell.paid_again


def test_a_lifetime_that_has_passed(launched):
    shell = launched("claude")
    shell.later(400)

    shell.turn("Go on.")

    (found,) = shell.breaks
    assert (found.reason, found.line, found.predicted) == (Reason.LIFETIME, None, None)
    assert found.evidence.endswith("after the call before, and entries live 5 min without use")
    assert found.lost == shell.paid_again
    assert found.usd > 0


def test_sessions_that_begin_before_the_first_answer_pay_each(launched):
    shell = launched("claude")
    shell.script("s-2", "s-3")
    shell.later(400)
    slow = Answer(text="ok", wait=3)
    shell.recorder.play(Script(default=slow))

    first = shell.start("One", resume=False)
    assert shell.recorder.wait(3, 60)
    second = shell.start("Two", resume=False)
    for child in (first, second):
        child.communicate(timeout=60)

    assert [turn.usage.cache_read_tokens for turn in shell.recorder.turns[2:]] == [0, 0]
    assert shell.breaks_of("s-2") == ()
    (found,) = shell.breaks_of("s-3")
    assert (found.reason, found.call, found.observed) == (Reason.CONCURRENT, 1, 0)
