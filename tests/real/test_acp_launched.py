"""`agentmux run` with real agents of the Agent Client Protocol and the recorder: turns, permissions, sessions, ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import Literal

import pytest

from agentmux_launcher import processes
from agentmux_launcher.ledger import Ledger
from agentmux_launcher.recorder import Answer, Failure, Match, Recorder, Script, ToolCall, Turn
from agentmux_launcher.recorder.cache import BlockCache, BreakpointCache

from .cli_cache import PINS
from .sandbox import prepare

pytestmark = pytest.mark.real

PROMPT = "PROMPT-SENTINEL"
COMMAND = "echo made > made.txt"
TITLE = Answer(text="A title.")
LONG = Answer(text="Word by word it goes on.", size=4000, deltas=400, delay=0.2)
FIGURES = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
UNSAID = dict.fromkeys(FIGURES)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent, and what it does of its own.

    `call` is how its model runs COMMAND, under `freely` without anybody being asked; one that `asks` asks otherwise.
    `says` is what it tells of its tokens: those of every turn, these without what came from a cache, those of turns
    with one call, nothing. `by` is how it goes on with a session, `refused` the class of the failure when its key is
    refused, `leaves` the name of what outlives it every time, `hides` what its model says before it calls a tool.
    """

    provider: str
    call: ToolCall
    freely: str = "bypass"
    asks: bool = True
    says: Literal["all", "no cache", "one call", "nothing"] = "all"
    by: str = "session/resume"
    refused: str = "auth"
    leaves: str | None = None
    hides: bool = False

    @property
    def cli(self) -> str:
        return f"{self.provider}-acp" if f"{self.provider}-acp" in PINS else self.provider


def shell(name: str, **more: object) -> ToolCall:
    return ToolCall(name, {"command": COMMAND, **more})


LOAD = "session/load"
AGENTS = (
    Agent("claude", shell("Bash", description="make a file"), freely="auto"),
    Agent("cline", ToolCall("run_commands", {"commands": [COMMAND]}), says="nothing", by=LOAD, leaves="cline"),
    Agent("codex", ToolCall("exec_command", {"cmd": COMMAND}), asks=False),
    Agent("copilot", shell("bash", description="make a file"), by=LOAD),
    Agent("gemini", shell("run_shell_command", description="make a file"), says="no cache", by=LOAD),
    Agent("grok", shell("run_terminal_command", description="make a file")),
    Agent("kilo", shell("bash", description="make a file"), says="one call"),
    Agent("openclaw", shell("exec"), asks=False, says="nothing", by=LOAD, refused="no_output", hides=True),
    Agent("opencode", shell("bash", description="make a file"), says="one call"),
    Agent("pi", shell("bash"), asks=False, says="nothing", by=LOAD, refused="no_output"),
    Agent("qwen", shell("run_shell_command", is_background=False)),
)


def run_with(which):
    return pytest.mark.parametrize("agent", [pytest.param(each, id=each.provider) for each in AGENTS if which(each)])


every = run_with(bool)
asking = run_with(lambda agent: agent.asks)


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
    """A project of one agent, in a sandbox in which its CLI knows no other address than the recorder's."""

    def __init__(self, agent, permission, recorder, sandbox):
        self.recorder = recorder
        self.folder = sandbox.project
        self.env = {**sandbox.env, "AGENTMUX_HOME": str(sandbox.home / "agentmux")}
        self.ledger = sandbox.home / "agentmux" / "ledger.sqlite3"
        (self.folder / "agents.d").mkdir()
        spec = (
            f"providers: {{{agent.provider}: {{controller: acp}}}}\npermission: {permission}\ninstructions: Be brief.\n"
        )
        (self.folder / "agents.d" / "tester.yaml").write_text(spec, encoding="utf-8")

    def start(self, *words, terminal=None):
        """The command; with `terminal`, the path of one, that is where a person is asked."""
        command = [sys.executable, "-m", "agentmux", "run", "tester", *words, "--output", "json", "--timeout", "200"]
        # A session without a terminal takes the first that it opens.
        opening = ["sh", "-c", ': 3<>"$0"; exec "$@"', terminal] if terminal else []
        return subprocess.Popen(
            [*opening, *command],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, *words):
        return self.end(self.start(*words))

    def stop(self):
        """End what runs, from another shell."""
        with Ledger(self.ledger) as ledger:
            (running,) = ledger.runs()
        command = [sys.executable, "-m", "agentmux", "stop", running.run_id]
        subprocess.run(command, cwd=self.folder, env=self.env, check=True, capture_output=True, timeout=60)

    def end(self, child):
        """How it ended; nothing that it started is there any more."""
        out, err = child.communicate(timeout=300)
        assert self.left == []
        return Ran(child.returncode, [json.loads(line) for line in out.splitlines()], err.decode())

    def ask_a_person(self, *words, answer):
        """Run it with somebody at a terminal who gives the same answer to whatever is asked."""
        master, slave = os.openpty()
        answering = threading.Thread(target=_answer, args=(master, answer), daemon=True)
        answering.start()
        try:
            return self.end(self.start(*words, terminal=os.ttyname(slave)))
        finally:
            os.close(slave)
            answering.join(10)
            os.close(master)

    @property
    def left(self):
        with Ledger(self.ledger) as ledger:
            return [seen for run in ledger.runs() for seen in processes.of_run(run.run_id)]

    @property
    def made(self):
        """Whether COMMAND ran, in the project or, by OpenClaw's gateway, in a folder of its home."""
        return any(self.folder.parent.rglob("made.txt"))

    @property
    def sent(self):
        """The frames that went to the agent in the last run."""
        last = max((self.folder / ".agentmux" / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        lines = (last / "frames.jsonl").read_text(encoding="utf-8").splitlines()
        return [value["frame"] for value in map(json.loads, lines) if value.get("dir") == "in"]

    @property
    def served(self):
        """What the model's answers to the prompts used so far."""
        usages = [turn.usage for turn in self.recorder.turns if turn.usage]
        return {name: sum(getattr(usage, name) for usage in usages) for name in FIGURES}


def _answer(master, answer):
    """Give an answer to each question, of the agent or about the trust in its folder."""
    asked = b""
    with contextlib.suppress(OSError):
        while data := os.read(master, 65536):
            asked += data
            if asked.endswith((b"no\r\n> ", b"[y/N] ")):
                asked = b""
                os.write(master, answer)


@pytest.fixture
def project(request, real_cli, tmp_path):
    """A function that starts a recorder with a script, and makes a project of one agent."""

    def make(agent, permission, *answers, default=TITLE):
        cli = real_cli(agent.cli)
        turns = tuple(Turn(answer, Match(body=PROMPT)) for answer in answers)
        cache = BreakpointCache() if agent.provider == "claude" else BlockCache()
        recorder = Recorder(Script(turns, default), cache=cache)
        recorder.__enter__()
        request.addfinalizer(lambda: recorder.__exit__(None, None, None))
        sandbox = prepare(agent.provider, recorder.url, tmp_path, cli)
        request.addfinalizer(sandbox.end)
        return Project(agent, permission, recorder, sandbox)

    return make


def said(agent, served, *, calls):
    """What an agent says of what it was served."""
    if agent.says == "nothing" or (agent.says == "one call" and calls > 1):
        return UNSAID
    if agent.says == "no cache":
        cached = served["cache_read_tokens"]
        return {**served, "input_tokens": served["input_tokens"] + cached, "cache_read_tokens": None if cached else 0}
    return served


def told(ran, served):
    """What a run says it used: as its turn was reported, else its calls; a figure of 0 need not be told of."""
    usages = ran.all("usage")
    turns = [event for event in usages if event["scope"] == "turn"] or usages
    figures = {name: [turn[name] for turn in turns if turn[name] is not None] for name in FIGURES}
    zero = 0 if any(figures.values()) else None
    return {name: sum(known) if known else None if served[name] else zero for name, known in figures.items()}


@every
def test_two_processes_have_one_session_and_tell_what_each_used(agent, project):
    here = project(agent, agent.freely, Answer(text="FIRST answer, ☃."), Answer(text="SECOND answer."))

    first = here.run(f"{PROMPT} one")
    before = here.served
    second = here.run("--resume", f"{PROMPT} two")

    assert (first.code, first.text) == (0, "FIRST answer, ☃."), first.err
    assert (second.code, second.text) == (0, "SECOND answer."), second.err
    assert agent.by in [frame.get("method") for frame in here.sent]
    (session,) = {event["session_id"] for ran in (first, second) for event in ran.all("session")}
    assert session
    asked = "".join(part.text for part in here.recorder.turns[1].prompt.parts)
    once = ("# Session Context", f"{PROMPT} one", "FIRST answer, ☃.", f"{PROMPT} two")
    assert {text: asked.count(text) for text in once} == dict.fromkeys(once, 1)
    after = {name: figure - before[name] for name, figure in here.served.items()}
    assert told(first, before) == said(agent, before, calls=1)
    assert told(second, after) == said(agent, after, calls=1)


@every
def test_a_tool_runs_where_it_may(agent, project):
    here = project(agent, agent.freely, Answer(text="Making.", tool_calls=(agent.call,)), Answer(text="Made."))

    ran = here.run(f"{PROMPT} make it")

    assert (ran.code, ran.text) == (0, "Made." if agent.hides else "Making.Made."), ran.err
    assert here.made
    (called,), (result,) = ran.all("tool_call"), ran.all("tool_result")
    assert (result["id"], result["ok"]) == (called["id"], True)
    assert COMMAND in json.dumps(called["input"])
    assert told(ran, here.served) == said(agent, here.served, calls=2)
    if agent.leaves:
        assert f"ended what the CLI left running: `{agent.leaves}`" in " ".join(
            each["text"] for each in ran.all("notice")
        )


@asking
def test_a_tool_runs_when_a_person_allows_it_once(agent, project):
    here = project(agent, "ask", Answer(text="Making.", tool_calls=(agent.call,)), Answer(text="Made."))

    ran = here.ask_a_person(f"{PROMPT} make it", answer=b"y\n")

    assert (ran.code, ran.text) == (0, "Making.Made."), ran.err
    assert here.made
    assert chosen(ran) == ["allow_once"]
    assert not list(here.folder.rglob("settings.local.json"))  # where Claude keeps what is allowed for good


@asking
def test_a_tool_that_nobody_may_allow_is_denied(agent, project):
    here = project(agent, "ask", Answer(text="Making.", tool_calls=(agent.call,)), Answer(text="Not made."))

    ran = here.run(f"{PROMPT} make it")

    assert (ran.code, ran.all("failure")) == (5, []), ran.err
    assert not here.made
    assert chosen(ran) == ["reject_once"]


def test_codex_that_may_not_write_is_held_by_its_sandbox_and_asks_nobody(project):
    (agent,) = [agent for agent in AGENTS if agent.provider == "codex"]
    here = project(agent, "ask", Answer(text="Making.", tool_calls=(agent.call,)), Answer(text="Not made."))

    ran = here.run(f"{PROMPT} make it")

    assert (ran.code, ran.text, ran.all("permission")) == (0, "Making.Not made.", []), ran.err
    assert not here.made


def chosen(ran):
    """The kinds of options that answered what was asked."""
    return [
        option["kind"]
        for asked in ran.all("permission")
        for option in asked["options"]
        if option["id"] == asked["chosen"]
    ]


@pytest.mark.parametrize(
    ("agent", "how"),
    [
        pytest.param(agent, how, id=f"{agent.provider}-{how}")
        for agent in AGENTS
        for how in ("interrupt", "stop")
        if how == "interrupt" or agent.provider in {"cline", "grok"}
    ],
)
def test_an_end_in_the_middle_cancels_the_turn_and_leaves_no_process(agent, how, project):
    here = project(agent, agent.freely, default=LONG)
    running = here.start(PROMPT)
    assert here.recorder.wait(1, 120)
    time.sleep(3)
    assert here.left

    if how == "interrupt":
        running.send_signal(signal.SIGINT)
    else:
        here.stop()
    ran = here.end(running)

    assert ran.code == {"interrupt": 130, "stop": 143}[how], ran.err
    assert "session/cancel" in [frame.get("method") for frame in here.sent]
    assert ran.text.startswith("Word by word")
    assert [event["stop_reason"] for event in ran.all("end")] == ["interrupted"]
    assert {event[name] for event in ran.all("usage") for name in FIGURES} <= {None}


@every
def test_a_refused_key_is_a_failure(agent, project):
    here = project(agent, agent.freely, default=Answer(failure=Failure("unauthorized")))

    ran = here.run(PROMPT)

    (failure,) = ran.all("failure")
    assert (ran.code, failure["class"]) == (1, agent.refused)


@run_with(lambda agent: agent.provider in {"openclaw", "pi"})
def test_an_agent_that_never_asks_is_not_started_to_ask(agent, project):
    here = project(agent, "ask")

    ran = here.run(PROMPT)

    assert (ran.code, ran.events, here.recorder.exchanges) == (125, [], ())
    assert f"`{agent.provider}` cannot enforce the permission `ask`" in ran.err
