"""`agentmux run` with real agents of the Agent Client Protocol and the recorder: an answer, a tool, a session again."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

import pytest

from agentmux_launcher import processes
from agentmux_launcher.ledger import Ledger
from agentmux_launcher.recorder import Answer, Match, Recorder, Script, ToolCall, Turn

from .sandbox import prepare

pytestmark = pytest.mark.real

PROMPT = "PROMPT-SENTINEL"
CALLS = {
    "grok": ToolCall("run_terminal_command", {"command": "echo made > made.txt", "description": "make a file"}),
    "opencode": ToolCall("bash", {"command": "echo made > made.txt", "description": "make a file"}),
}


@dataclass(frozen=True, slots=True)
class Ran:
    """One `agentmux run`: its exit code, its events, what it said besides."""

    code: int
    events: list[dict]
    err: str

    def all(self, name):
        return [event for event in self.events if event["event"] == name]

    @property
    def text(self):
        return "".join(event["text"] for event in self.all("text"))


@pytest.fixture
def launched(request, real_cli, tmp_path):
    """A function that makes a project of one agent on a provider, whose model answers by a script."""

    def make(provider, permission, *answers):
        cli = real_cli(provider)
        turns = tuple(Turn(answer, Match(body=PROMPT)) for answer in answers)
        recorder = Recorder(Script(turns, Answer(text="A title.")))
        recorder.__enter__()
        request.addfinalizer(lambda: recorder.__exit__(None, None, None))
        sandbox = prepare(provider, recorder.url, tmp_path, cli)
        request.addfinalizer(sandbox.end)
        (sandbox.project / "agents.d").mkdir()
        spec = f"providers: {{{provider}: {{controller: acp}}}}\npermission: {permission}\ninstructions: Be brief.\n"
        (sandbox.project / "agents.d" / "tester.yaml").write_text(spec, encoding="utf-8")
        env = {**sandbox.env, "AGENTMUX_HOME": str(sandbox.home / "agentmux")}

        def run(*words):
            command = [
                sys.executable,
                "-m",
                "agentmux",
                "run",
                "tester",
                *words,
                "--output",
                "json",
                "--timeout",
                "200",
            ]
            done = subprocess.run(
                command, cwd=sandbox.project, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
            events = [json.loads(line) for line in done.stdout.splitlines()]
            with Ledger(sandbox.home / "agentmux" / "ledger.sqlite3") as ledger:
                assert [seen for each in ledger.runs() for seen in processes.of_run(each.run_id)] == []
            return Ran(done.returncode, events, done.stderr.decode())

        return run, recorder, sandbox

    return make


@pytest.mark.parametrize("provider", sorted(CALLS))
def test_a_prompt_is_answered_and_its_session_gone_on_with(provider, launched):
    run, recorder, _ = launched(provider, "bypass", Answer(text="FIRST answer."), Answer(text="SECOND answer."))

    first = run(f"{PROMPT} one")
    second = run("--resume", f"{PROMPT} two")

    assert (first.code, first.text) == (0, "FIRST answer."), first.err
    assert (second.code, second.text) == (0, "SECOND answer."), second.err
    whole = ["".join(part.text for part in turn.prompt.parts) for turn in recorder.turns]
    again = next(text for text in whole if f"{PROMPT} two" in text)
    assert [again.count(text) for text in (f"{PROMPT} one", "FIRST answer.", "# Session Context")] == [1, 1, 1]


@pytest.mark.parametrize("provider", sorted(CALLS))
@pytest.mark.parametrize(("permission", "code"), [("bypass", 0), ("ask", 5)])
def test_a_tool_runs_where_it_may(provider, permission, code, launched):
    call = Answer(text="Making.", tool_calls=(CALLS[provider],))
    run, _, sandbox = launched(provider, permission, call, Answer(text="Done."))

    ran = run(f"{PROMPT} make it")

    assert ran.code == code, ran.err
    assert (sandbox.project / "made.txt").exists() == (permission == "bypass")
    assert len(ran.all("tool_call")) == 1
    chosen = [event["chosen"] for event in ran.all("permission") if event["chosen"]]
    assert bool(chosen) == (permission == "ask")
