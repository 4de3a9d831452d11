"""The recorder against each real CLI: a plain turn, a tool call, a second turn, a refusal."""

from __future__ import annotations

import itertools

import pytest

from agentmux_launcher.manifest import Environment, FromFile, LaunchPlan, Literal, Slot
from agentmux_launcher.recorder import Answer, Failure, Recorder, Script
from agentmux_launcher.recorder.cache import BlockCache, BreakpointCache
from agentmux_launcher.recorder.script import of
from agentmux_launcher.recorder.wire import first_difference

from .run import plan_argv, plan_env, run_plan
from .sandbox import prepare
from .turns import TURNS, take_turn

pytestmark = pytest.mark.real

PROMPT = "Say hello to PROMPT-SENTINEL."
RULE = "INSTRUCTION-SENTINEL: answer in one line."
ANSWER = Answer(text="Hello from the recorder, ☃ included.", deltas=1)


@pytest.fixture
def started(request, real_cli, tmp_path):
    """A function that starts a recorder with a script and makes the sandbox of a CLI that talks to it."""

    def start(provider, script, cache=None):
        cli = real_cli(provider)
        recorder = Recorder(script, folder=tmp_path / "recorded", cache=cache)
        recorder.__enter__()
        request.addfinalizer(lambda: recorder.__exit__(None, None, None))
        sandbox = prepare(provider, recorder.url, tmp_path, cli)
        (sandbox.project / TURNS[provider].instructions).write_text(f"# Rules\n\n{RULE}\n", encoding="utf-8")
        return recorder, sandbox, cli.executable

    return start


@pytest.mark.parametrize("provider", sorted(TURNS))
def test_a_prompt_is_answered_and_the_instructions_arrive_once(provider, started):
    recorder, sandbox, executable = started(provider, of(ANSWER))

    ran = take_turn(provider, executable, sandbox, PROMPT)

    (turn,) = recorder.turns
    parts = turn.prompt.parts
    assert (ran.exit_code, ran.timed_out) == (0, False), ran.stderr.decode("utf-8", "replace")
    assert ANSWER.text in ran.stdout.decode("utf-8")
    assert [part.name for part in parts if RULE in part.text] == [TURNS[provider].place]
    assert sum(part.text.count(RULE) for part in parts) == 1
    assert sum(part.text.count(PROMPT) for part in parts) == 1
    assert [exchange for exchange in recorder.exchanges if exchange.kind == "unknown"] == []
    assert (turn.status, turn.outcome) == (200, "whole")


@pytest.mark.parametrize("provider", sorted(TURNS))
def test_a_tool_runs_and_a_second_turn_remembers(provider, started):
    call = Answer(text="Looking.", thinking="Let me look.", tool_calls=(TURNS[provider].tool,))
    cache = BreakpointCache() if provider == "claude" else BlockCache()
    recorder, sandbox, executable = started(provider, of(call, "FIRST answer", "SECOND answer"), cache)

    first = take_turn(provider, executable, sandbox, PROMPT)
    session = first.last(TURNS[provider].session)
    second = take_turn(provider, executable, sandbox, "And again?", session)

    assert (first.exit_code, second.exit_code) == (0, 0)
    prompts = [turn.prompt for turn in recorder.turns]
    assert len(prompts) == 3
    result = "".join(part.text for part in prompts[1].parts[len(prompts[0].parts) :])
    assert "TOOL-42" in result or TURNS[provider].instructions in result
    said = "".join(part.text for part in prompts[2].parts)
    assert [said.count(text) for text in ("Looking.", "FIRST answer", "And again?", "SECOND answer")] == [1, 1, 1, 0]
    for earlier, later in itertools.pairwise(prompts):
        difference = first_difference(earlier, later)
        assert difference is not None
        assert difference.kept > 0
    assert all(turn.usage.cache_read_tokens > 0 for turn in recorder.turns[1:])


@pytest.mark.parametrize("provider", ["claude", "codex", "gemini", "kimi", "qwen"])
def test_a_refused_key_ends_the_turn_with_an_error(provider, started):
    recorder, sandbox, executable = started(provider, Script(default=Answer(failure=Failure("unauthorized"))))

    ran = take_turn(provider, executable, sandbox, PROMPT)

    assert ran.exit_code not in {0, None}
    assert not ran.timed_out
    assert {turn.status for turn in recorder.turns} == {401}
    assert {turn.usage for turn in recorder.turns} == {None}


def test_a_launch_plan_runs_as_it_stands(started):
    recorder, sandbox, executable = started("codex", of(ANSWER))
    (sandbox.project / "rules.md").write_text('Say "yes" — always.\n', encoding="utf-8")
    plan = LaunchPlan(
        agent="tester",
        provider="codex",
        display="Tester",
        executable="codex",
        controller="subprocess",
        model="gpt-5.5",
        effort=None,
        permission="bypass",
        delivery="flag",
        cwd=".",
        argv=(
            *map(Literal, TURNS["codex"].argv),
            Literal("-c"),
            FromFile("developer_instructions={}", "rules.md", json_string=True),
            Slot("resume", ("resume", "{}")),
            Literal("-"),
        ),
        env=Environment(set={"AGENTMUX_AGENT_ID": "tester"}, unset=("TERM",)),
        files=("rules.md",),
        startup=None,
        prompt_delivery="stdin",
        frames="codex",
        session_id_field="thread_id",
        cli_version="0.171.0",
        stdio={"stdin": "pipe", "stdout": "raw-pty", "stderr": "pipe"},
    )
    env = plan_env(plan, sandbox.env)

    first = run_plan(plan_argv(plan, sandbox.project, executable), env=env, cwd=sandbox.project, prompt=PROMPT)
    again = plan_argv(plan, sandbox.project, executable, resume=first.last("thread_id"))
    second = run_plan(again, env=env, cwd=sandbox.project, prompt="And again?")

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert ("TERM" in env, env["AGENTMUX_AGENT_ID"]) == (False, "tester")
    texts = [part.text for part in recorder.turns[-1].prompt.parts]
    assert texts.count('Say "yes" — always.\n') == 1
    assert (texts.count(PROMPT), texts.count("And again?")) == (1, 1)
