"""What real agents of the Agent Client Protocol say they used, against what the recorder served, over two processes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from agentmux_launcher.recorder import Answer, Match, Recorder, Script, ServedUsage, Turn

from .sandbox import prepare

pytestmark = pytest.mark.real

PROMPT = "PROMPT-SENTINEL"
FIELDS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")
SERVED = {
    "FIRST answer.": ServedUsage(234, 1_000, output_tokens=56, reasoning_tokens=7),
    "SECOND answer.": ServedUsage(334, 1_100, output_tokens=66, reasoning_tokens=8),
}
# What each says of writing: nothing, or that there was none.
TOLD = {"codex": 0, "copilot": 0, "grok": 0, "kilo": None, "opencode": None, "qwen": None}
ADAPTERS = {"claude": "claude-acp", "codex": "codex-acp"}
PERMISSION = {"claude": "ask"}  # its adapter takes no bypass
UNTOLD = ["cline", "pi"]


@pytest.fixture
def two_turns(request, real_cli, tmp_path):
    """A function that says two prompts to a provider, each in a process of its own: the events of each."""

    def run(provider, *, again=True):
        cli = real_cli(ADAPTERS.get(provider, provider))
        answers = (Turn(Answer(text, usage=usage), Match(body=PROMPT)) for text, usage in SERVED.items())
        recorder = Recorder(Script(tuple(answers), Answer(text="A title.")))
        recorder.__enter__()
        request.addfinalizer(lambda: recorder.__exit__(None, None, None))
        sandbox = prepare(provider, recorder.url, tmp_path, cli)
        request.addfinalizer(sandbox.end)
        (sandbox.project / "agents.d").mkdir()
        permission = PERMISSION.get(provider, "bypass")
        spec = f"providers: {{{provider}: {{controller: acp}}}}\npermission: {permission}\ninstructions: Be brief.\n"
        (sandbox.project / "agents.d" / "tester.yaml").write_text(spec, encoding="utf-8")
        env = {**sandbox.env, "AGENTMUX_HOME": str(sandbox.home / "agentmux")}
        command = [sys.executable, "-m", "agentmux", "run", "tester", "--output", "json", "--timeout", "200"]
        heard = []
        for words in ([f"{PROMPT} one"], ["--resume", f"{PROMPT} two"])[: 1 + again]:
            done = subprocess.run(
                [*command, *words],
                cwd=sandbox.project,
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
            assert done.returncode == 0, (done.stderr.decode(), done.stdout.decode())
            heard.append([json.loads(line) for line in done.stdout.splitlines()])
        return heard

    return run


def used(events):
    """Input, read, written, output and reasoning of each turn; null where the agent does not say it."""
    told = [event for event in events if event["event"] == "usage"]
    turns = [event for event in told if event["scope"] == "turn"] or told
    return [tuple(event[name] for name in FIELDS) for event in turns]


@pytest.mark.parametrize(("provider", "writes"), TOLD.items())
def test_what_two_turns_used_is_what_was_served(provider, writes, two_turns):
    heard = two_turns(provider)
    texts = ["".join(event["text"] for event in events if event["event"] == "text") for events in heard]

    assert texts == list(SERVED)
    assert [used(events) for events in heard] == [[(234, 1_000, writes, 56, 7)], [(334, 1_100, writes, 66, 8)]]


def test_gemini_says_nothing_of_its_cache_and_leaves_thoughts_out(two_turns):
    (first,) = two_turns("gemini", again=False)

    assert used(first) == [(1_234, None, None, 49, None)]


def test_claude_says_nothing_of_thoughts(two_turns):
    first, second = two_turns("claude")

    assert [used(first), used(second)] == [[(234, 1_000, 0, 56, None)], [(334, 1_100, 0, 66, None)]]


@pytest.mark.parametrize("provider", UNTOLD)
def test_who_tells_nothing_is_not_counted_as_nothing(provider, two_turns):
    heard = two_turns(provider)

    assert {figure for events in heard for turn in used(events) for figure in turn} <= {None}
