"""What real CLIs write down of their sessions, read by our readers, against what the recorder served."""

from __future__ import annotations

import pytest

from agentmux_launcher.recorder import Answer, Recorder
from agentmux_launcher.recorder.cache import BlockCache, BreakpointCache
from agentmux_launcher.recorder.script import of
from agentmux_usage.gather import gather
from agentmux_usage.places import own_sources

from .sandbox import prepare
from .turns import TURNS, take_turn

pytestmark = pytest.mark.real


@pytest.mark.parametrize("provider", ["claude", "codex", "gemini", "qwen"])
def test_two_turns_with_a_tool_are_read_as_they_were_served(provider, real_cli, tmp_path):
    call = Answer(text="Looking.", thinking="Let me look.", tool_calls=(TURNS[provider].tool,))
    cache = BreakpointCache() if provider == "claude" else BlockCache()
    with Recorder(of(call, "FIRST answer", "SECOND answer"), folder=tmp_path / "recorded", cache=cache) as recorder:
        cli = real_cli(provider)
        sandbox = prepare(provider, recorder.url, tmp_path, cli)
        first = take_turn(provider, cli.executable, sandbox, "Say hello.")
        session = first.last(TURNS[provider].session)
        take_turn(provider, cli.executable, sandbox, "And again?", session)
        served = [turn.usage for turn in recorder.turns]
    notes = []

    (found,) = gather(own_sources(sandbox.env), None, notes)

    assert (notes, found.provider, found.session_id) == ([], provider, session)
    assert [each.turn for each in found.main] == [1, 1, 2]
    assert [
        (each.tokens.input, each.tokens.cache_read, each.tokens.cache_write or 0, each.tokens.output)
        for each in found.main
    ] == [
        (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens) for usage in served
    ]
