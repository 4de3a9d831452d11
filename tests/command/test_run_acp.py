"""`agentmux run` with agents of the Agent Client Protocol: a scripted stand-in, and one made with the official SDK."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")

TESTS = Path(__file__).parents[1]
OPTIONS = [
    {"optionId": "yes", "kind": "allow_once", "name": "Once"},
    {"optionId": "no", "kind": "reject_once", "name": "No"},
]
ASK = {"ask": [{"toolCall": {"toolCallId": "c", "title": "rm -r /", "kind": "execute"}, "options": OPTIONS}]}


class Shell:
    """A project with one agent, and a stand-in under the name of its CLI."""

    def __init__(self, root: Path, repository: Path) -> None:
        self.project, self.fake, self.bin = root / "project", root / "fake", root / "bin"
        for folder in (self.project / "agents.d", self.fake, self.bin):
            folder.mkdir(parents=True)
        self.env = {
            "PATH": os.pathsep.join([str(self.bin), os.defpath]),
            "PYTHONPATH": os.pathsep.join(str(repository / name) for name in ("compiler", "launcher")),
            "HOME": str(root / "home"),
            "FAKE_ACP": str(self.fake),
            "LANG": "C.UTF-8",
        }

    def agent(self, spec: str, program: str = "fake_acp.py", cli: str = "opencode") -> None:
        (self.project / "agents.d" / "tester.yaml").write_text(spec, encoding="utf-8")
        executable = self.bin / cli
        text = (TESTS / program).read_text(encoding="utf-8")
        executable.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
        executable.chmod(0o755)

    def script(self, *turns, **more) -> None:
        (self.fake / "script.json").write_text(json.dumps({"turns": turns, **more}), encoding="utf-8")

    def start(self, *words: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "agentmux", *words],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )

    def run(self, *words: str) -> tuple[int, str, str]:
        child = self.start("run", "tester", *words)
        out, err = child.communicate()
        return child.returncode, out, err

    def received(self, number=0):
        lines = (self.fake / f"received-{number}.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["frame"] for line in lines]

    def methods(self, number=0):
        return [frame["method"] for frame in self.received(number) if "method" in frame]


@pytest.fixture
def shell(tmp_path, repository):
    return Shell(tmp_path, repository)


OPENCODE = "providers: {opencode: {model: openai/gpt-5.5, effort: high}}\npermission: plan\nstartup: Read first.\n"


def test_a_plan_becomes_a_session_with_its_model_effort_and_permission(shell):
    shell.agent(OPENCODE)
    shell.script([{"text": "Hello."}])

    code, out, _ = shell.run("Say hello")

    assert (code, out) == (0, "Hello.\n")
    asked = [frame for frame in shell.received() if frame["method"].startswith("session/set")]
    assert [frame["params"] for frame in asked] == [
        {"sessionId": "session-1", "configId": "model", "value": "openai/gpt-5.5"},
        {"sessionId": "session-1", "configId": "effort", "value": "high"},
        {"sessionId": "session-1", "modeId": "plan"},
    ]
    prompt = shell.received()[-1]["params"]["prompt"][0]["text"]
    assert prompt.startswith("# Session Context\n\n## Startup Instructions\n\nRead first.\n")
    assert prompt.endswith("Say hello")


def test_servers_of_the_spec_are_named_in_the_session(shell):
    shell.agent('providers: {opencode: {}}\nmcp:\n  probe: {command: probe, env: {TOKEN: "${NO_SUCH_TOKEN}"}}\n')
    shell.script([{"text": "Hello."}])

    code, _, err = shell.run("Hello")

    assert code == 0
    (made,) = [frame["params"] for frame in shell.received() if frame["method"] == "session/new"]
    assert made["mcpServers"] == [
        {"name": "probe", "command": "probe", "args": [], "env": [{"name": "TOKEN", "value": ""}]}
    ]
    assert "`NO_SUCH_TOKEN` has no value here" in err


@pytest.mark.parametrize(("permission", "code", "chosen"), [("ask", 5, "no"), ("bypass", 0, "yes")])
def test_without_a_terminal_what_is_asked_is_denied(permission, code, chosen, shell):
    shell.agent("providers: {opencode: {}}\n")
    shell.script([ASK, {"text": "So be it."}])

    ran, out, _ = shell.run("Hello", "--permission", permission, "--output", "json")

    assert ran == code
    asked = [event for event in map(json.loads, out.splitlines()) if event["event"] == "permission"]
    assert [event["chosen"] for event in asked] == [None, chosen]


def test_the_last_session_goes_on_and_a_copy_of_it(shell):
    shell.agent("providers: {opencode: {}}\n")
    shell.script([{"text": "Hello."}])
    assert shell.run("One")[0] == 0

    again, copy = shell.run("--resume", "Two"), shell.run("--fork", "Three")

    assert (again[0], copy[0]) == (0, 0)
    opened = [[frame for frame in shell.received(number) if frame["id"] == 2] for number in (1, 2)]
    assert [(frame["method"], frame["params"]["sessionId"]) for (frame,) in opened] == [
        ("session/resume", "session-1"),
        ("session/fork", "session-1"),
    ]
    assert [shell.received(number)[-1]["params"]["prompt"][0]["text"] for number in (1, 2)] == ["Two", "Three"]


@pytest.mark.parametrize(("permission", "code"), [("ask", 125), ("bypass", 0)])
def test_a_provider_that_never_asks_starts_for_bypass_only(permission, code, shell):
    shell.agent(f"providers: {{pi: {{controller: acp}}}}\npermission: {permission}\n", cli="pi-acp")
    shell.script([{"text": "Hello."}])

    ran, _, err = shell.run("Hello")

    assert ran == code
    assert ("cannot enforce the permission `ask`" in err) == (code == 125)


def test_a_dry_run_starts_nothing(shell):
    shell.agent("providers: {opencode: {}}\n")

    code, out, _ = shell.run("Hello", "--dry-run")

    assert code == 0
    assert out.splitlines()[0] == f"{shell.bin / 'opencode'} acp"
    assert not list(shell.fake.iterdir())


def test_what_a_run_kept_is_read_again(shell):
    shell.agent("providers: {opencode: {}}\n")
    shell.script([{"thought": "Hm."}, {"text": "Hello."}])
    _, out, _ = shell.run("Hello", "--output", "json")
    (run,) = (path.name for path in (shell.project / ".agentmux" / "runs").iterdir() if path.is_dir())

    told, _ = shell.start("tail", run, "--output", "json").communicate()

    assert told == out


@pytest.mark.parametrize("fault", [[{"text": "Half"}, {"exit": 0}], [{"exit": 3}], [{"die": "SIGKILL"}]])
def test_an_agent_that_goes_in_mid_turn_is_a_failure(fault, shell):
    shell.agent("providers: {opencode: {}}\n")
    shell.script([{"stderr": "out of luck\n"}, *fault])

    code, _, err = shell.run("Hello")

    assert code == (137 if "die" in fault[-1] else 1)
    assert "while `session/prompt` waited for its answer" in err
    assert "out of luck" in err


def test_an_interrupt_is_told_to_the_agent(shell):
    shell.agent("providers: {opencode: {}}\n")
    shell.script([{"text": "Begun."}, {"till_cancelled": True}])
    running = shell.start("run", "tester", "Hello", "--output", "json")
    while '"text"' not in running.stdout.readline():
        pass

    os.kill(running.pid, signal.SIGINT)
    running.communicate()

    assert running.returncode == 130
    assert shell.methods()[-1] == "session/cancel"


def test_lending_needs_the_protocol(shell):
    shell.agent("providers: {claude: {lend: [files]}}\n", cli="claude")

    code, _, err = shell.run("Hello")

    assert code == 125
    assert "`claude` is lent nothing by the controller `persistent`" in err
    assert "write `controller: acp` under `providers.claude`, or remove `lend`" in err


@pytest.mark.parametrize(
    ("prompt", "permission", "code", "text"),
    [
        ("hello", "bypass", 0, "In build. Done."),
        ("ask", "bypass", 0, "In build. yes. Done."),
        ("ask", "ask", 5, "In build. no. Done."),
        ("lend", "bypass", 0, "In build. noted noted 0. Done."),
    ],
)
def test_an_agent_of_the_sdk_is_driven(prompt, permission, code, text, shell):
    shell.agent("providers: {opencode: {lend: [files, terminals]}}\n", "sdk_agent.py")

    ran, out, err = shell.run(prompt, "--permission", permission, "--output", "json")

    events = [json.loads(line) for line in out.splitlines()]
    assert ran == code, err
    assert "".join(event["text"] for event in events if event["event"] == "text") == text
    assert [event["text"] for event in events if event["event"] == "notice"] == []


def test_an_agent_of_the_sdk_is_cancelled_and_its_session_gone_on_with(shell):
    shell.agent("providers: {opencode: {}}\n", "sdk_agent.py")
    running = shell.start("run", "tester", "wait", "--output", "json")
    while '"Done."' not in running.stdout.readline():
        pass
    os.kill(running.pid, signal.SIGINT)
    out, _ = running.communicate()

    again = shell.run("--resume", "hello", "--output", "json")

    assert running.returncode == 130
    assert '"stop_reason":"interrupted"' in out
    assert again[0] == 0, again[2]
    assert [json.loads(line)["session_id"] for line in again[1].splitlines() if '"session"' in line] == ["made"]
