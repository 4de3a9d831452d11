"""`agentmux run` with each real CLI and the recorder: answers, tools, sessions, failures, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import termios
import time
from dataclasses import dataclass

import pytest

from agentmux_launcher import processes
from agentmux_launcher.ledger import Ledger
from agentmux_launcher.recorder import Answer, Failure, Recorder, Script, ToolCall
from agentmux_launcher.recorder.cache import BlockCache, BreakpointCache
from agentmux_launcher.recorder.script import of

from .sandbox import Sandbox, prepare
from .turns import TURNS

pytestmark = pytest.mark.real

PROVIDERS = {
    "aider": "{}",
    "claude": "{model: sonnet}",
    "codex": "{model: gpt-5.5}",
    "gemini": "{model: gemini-2.5-pro}",
    "kimi": "{}",
    "qwen": "{model: qwen3-coder-plus}",
}
# Kimi Code has no figures in its frames.
FRAMED = sorted(PROVIDERS.keys() - {"aider"})
COUNTED = sorted({*FRAMED} - {"kimi"})
LIMITED_SOON = ["claude", "codex", "gemini"]
LONG = Answer(text="Word by word it goes on.", size=4000, deltas=400, delay=0.2)
FIGURES = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")


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


class Project:
    """A project with one agent, in a sandbox in which its CLI knows no other address than the recorder's."""

    def __init__(self, provider: str, recorder: Recorder, sandbox: Sandbox) -> None:
        self.provider = provider
        self.recorder = recorder
        self.folder = sandbox.project
        self.env = {**sandbox.env, "AGENTMUX_HOME": str(sandbox.home / "agentmux")}
        (self.folder / "agents.d").mkdir()
        (self.folder / "agents.d" / "tester.yaml").write_text(
            f"providers: {{{provider}: {PROVIDERS[provider]}}}\npermission: bypass\n"
            "instructions: 'INSTRUCTION-SENTINEL: be brief.'\n",
            encoding="utf-8",
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "agentmux", *words],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )

    def run(self, *words: str) -> Ran:
        child = self.start("run", "tester", *words, "--output", "json", "--timeout", "200")
        out, err = child.communicate(timeout=240)
        return Ran(child.returncode, [json.loads(line) for line in out.splitlines()], err)

    @property
    def left(self) -> list[processes.Seen]:
        """Everything that any run of this project has left running."""
        with Ledger(self.folder.parent / "home" / "agentmux" / "ledger.sqlite3") as ledger:
            return [seen for run in ledger.runs() for seen in processes.of_run(run.run_id)]


@pytest.fixture
def project(request, real_cli, tmp_path):
    """A function that starts a recorder with a script, and makes a project of one agent on a provider."""

    def make(provider, script):
        cli = real_cli(provider)
        recorder = Recorder(script, cache=BreakpointCache() if provider == "claude" else BlockCache())
        recorder.__enter__()
        request.addfinalizer(lambda: recorder.__exit__(None, None, None))
        return Project(provider, recorder, prepare(provider, recorder.url, tmp_path, cli))

    return make


def used(ran: Ran) -> dict[str, int]:
    """What the closing frames of a run say was used."""
    turns = [event for event in ran.all("usage") if event["scope"] == "turn"]
    return {name: sum(turn[name] or 0 for turn in turns) for name in FIGURES}


def served(exchanges) -> dict[str, int]:
    usages = [exchange.usage for exchange in exchanges if exchange.usage]
    return {name: sum(getattr(usage, name) for usage in usages) for name in FIGURES}


@pytest.mark.parametrize("provider", FRAMED)
def test_a_turn_is_answered_and_a_second_one_remembers(provider, project):
    here = project(provider, of("FIRST answer, ☃.", "SECOND answer."))

    first = here.run("PROMPT-SENTINEL one")
    before = len(here.recorder.exchanges)
    second = here.run("--resume", "PROMPT-SENTINEL two")

    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert (first.text, second.text) == ("FIRST answer, ☃.", "SECOND answer.")
    prompts = [turn.prompt for turn in here.recorder.turns]
    whole = ["".join(part.text for part in prompt.parts) for prompt in prompts]
    assert [text.count("INSTRUCTION-SENTINEL") for text in whole] == [1, 1]
    assert [text.count("# Session Context") for text in whole] == [1, 1]
    assert [whole[1].count(text) for text in ("PROMPT-SENTINEL one", "FIRST answer", "PROMPT-SENTINEL two")] == [
        1,
        1,
        1,
    ]
    ids = {event["session_id"] for event in (*first.all("session"), *second.all("session"))} - {None}
    assert len(ids) == 1
    if provider in COUNTED:
        exchanges = here.recorder.exchanges
        assert (used(first), used(second)) == (served(exchanges[:before]), served(exchanges[before:]))
    assert here.left == []


@pytest.mark.parametrize("provider", FRAMED)
def test_a_tool_runs(provider, project):
    call = Answer(text="Looking.", tool_calls=(TURNS[provider].tool,))
    here = project(provider, of(call, "Done looking."))

    ran = here.run("PROMPT-SENTINEL look")

    assert ran.code == 0, ran.err
    (called,), (result,) = ran.all("tool_call"), ran.all("tool_result")
    assert called["id"] == result["id"]
    assert result["ok"] is not False
    told = "".join(part.text for part in here.recorder.turns[1].prompt.parts)
    assert "TOOL-42" in told or "agents.d" in told
    assert ran.text.endswith("Done looking.")
    if provider in COUNTED:
        assert used(ran) == served(here.recorder.exchanges)
    assert here.left == []


@pytest.mark.parametrize("provider", FRAMED)
def test_a_refused_key_is_a_failure_of_its_own(provider, project):
    here = project(provider, Script(default=Answer(failure=Failure("unauthorized"))))

    ran = here.run("PROMPT-SENTINEL")

    (failure,) = ran.all("failure")
    assert (ran.code, failure["class"], failure["retryable"]) == (1, "auth", False)


@pytest.mark.parametrize("provider", LIMITED_SOON)
def test_a_limit_is_a_failure_that_may_be_tried_again(provider, project):
    here = project(provider, Script(default=Answer(failure=Failure("rate_limited"))))

    ran = here.run("PROMPT-SENTINEL")

    (failure,) = ran.all("failure")
    assert (ran.code, failure["class"], failure["retryable"]) == (1, "rate_limited", True)


@pytest.mark.parametrize(("provider", "failed", "told"), [("kimi", "rate_limited", True), ("qwen", "timeout", False)])
def test_who_tries_again_for_minutes_is_ended_by_a_timeout(provider, failed, told, project):
    here = project(provider, Script(default=Answer(failure=Failure("rate_limited"))))

    out, err = (child := here.start("run", "tester", "Hi", "--output", "json", "--timeout", "20")).communicate()
    ran = Ran(child.returncode, [json.loads(line) for line in out.splitlines()], err)

    (failure,) = ran.all("failure")
    assert (ran.code, failure["class"]) == (124, failed)
    retries = [(event["attempt"], event["status"]) for event in ran.all("retry")]
    assert retries == ([(number, 429) for number in range(1, len(retries) + 1)] if told else [])
    assert bool(retries) == told
    assert len(here.recorder.exchanges) > 1
    assert here.left == []


@pytest.mark.parametrize("provider", FRAMED)
@pytest.mark.parametrize("how", ["stop", "interrupt", "kill"])
def test_a_stop_in_the_middle_leaves_no_process(provider, how, project):
    here = project(provider, Script(default=LONG))
    running = here.start("run", "tester", "PROMPT-SENTINEL", "--output", "json")
    assert here.recorder.wait(1, 60)
    time.sleep(1)
    assert len(here.left) >= 1

    if how == "stop":
        (run_id,) = (run["run_id"] for run in json.loads(here.start("ps", "--format", "json").communicate()[0])["runs"])
        stopping = here.start("stop", run_id)
        stopping.communicate(timeout=60)
        assert stopping.returncode == 0
    else:
        os.kill(running.pid, signal.SIGINT if how == "interrupt" else signal.SIGKILL)
    running.communicate(timeout=60)

    assert running.returncode == {"stop": 143, "interrupt": 130, "kill": -9}[how]
    deadline = time.monotonic() + (10 if how == "kill" else 0)
    while here.left and time.monotonic() < deadline:
        time.sleep(0.1)
    assert here.left == []


@pytest.mark.parametrize("provider", ["claude", "codex", "gemini", "qwen"])
def test_a_megabyte_in_one_frame_arrives_whole_however_slowly_it_is_read(provider, project):
    answer = Answer(text="BEGIN ", size=1_000_000, deltas=1)
    here = project(provider, of(answer))
    running = here.start("run", "tester", "PROMPT-SENTINEL", "--output", "json")
    out = b""
    while chunk := os.read(running.stdout.fileno(), 16_384):
        out += chunk
        time.sleep(0.002)
    running.communicate(timeout=60)

    events = [json.loads(line) for line in out.decode().splitlines()]
    assert running.returncode == 0
    assert "".join(event["text"] for event in events if event["event"] == "text") == answer.full_text


def test_without_a_terminal_a_tool_that_needs_to_ask_is_denied(project):
    tool = ToolCall("Bash", {"command": "touch made", "description": "make a file"})
    call = Answer(text="Making.", tool_calls=(tool,))
    here = project("claude", of(call, "It was denied."))

    ran = here.run("PROMPT-SENTINEL", "--permission", "ask")

    assert (ran.code, ran.text) == (5, "Making.It was denied.")
    assert [event["chosen"] for event in ran.all("permission")] == [None, "reject_once"]
    assert not (here.folder / "made").exists()


def test_a_copy_of_a_session_leaves_it_as_it_was(project):
    here = project("claude", of("FIRST answer", "SECOND answer"))
    first = here.run("PROMPT-SENTINEL one")

    second = here.run("--fork", "PROMPT-SENTINEL two")

    ids = [ran.all("session")[-1]["session_id"] for ran in (first, second)]
    assert (first.code, second.code) == (0, 0)
    assert len(set(ids)) == 2
    assert here.recorder.turns[1].usage.cache_read_tokens > 0


def test_a_screen_is_the_clis_own(project):
    here = project("aider", of("An answer on the screen."))
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (30, 100))
    command = [sys.executable, "-m", "agentmux", "run", "tester"]
    env = {**here.env, "TERM": "xterm"}
    with subprocess.Popen(command, cwd=here.folder, env=env, stdin=slave, stdout=slave, stderr=slave) as child:
        os.close(slave)
        seen = b""
        for wanted, typed in (
            (b"> ", b"PROMPT-SENTINEL hello\r"),
            (b"An answer on the screen.", b"/exit\r"),
            (None, b""),
        ):
            while wanted is None or wanted not in seen:
                try:
                    seen += os.read(master, 65536)
                except OSError:
                    break
            if typed:
                seen = b""
                time.sleep(1)
                os.write(master, typed)
        assert child.wait(30) == 0
    os.close(master)

    (turn,) = here.recorder.turns
    assert "PROMPT-SENTINEL hello" in "".join(part.text for part in turn.prompt.parts)
    assert here.left == []


def test_what_claude_does_itself_at_ones_word_is_no_failure(project):
    here = project("claude", of("hello", "a summary"))
    here.run("Hello")

    compacted, cleared = here.run("--resume", "/compact"), here.run("--resume", "/clear")

    assert [(ran.code, [event["trigger"] for event in ran.all("compaction")]) for ran in (compacted, cleared)] == [
        (0, ["manual"]),
        (0, ["clear"]),
    ]
    assert compacted.all("failure") == cleared.all("failure") == cleared.all("unknown") == []
