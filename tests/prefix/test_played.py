from __future__ import annotations

import pytest

from agentmux_compiler.prefix.played import player_of
from agentmux_launcher.recorder import ServedUsage
from agentmux_launcher.recorder.cache import KEYS, BlockCache, BreakpointCache, MovableClock
from agentmux_launcher.recorder.wire import render

BIG = "x" * 2_000
CALL_KEYS = ("model", "speed")


def chat(*texts, effort=None):
    messages = [{"role": "user", "content": text} for text in texts]
    return render({"model": "m", "messages": messages, "reasoning_effort": effort})


def marked(*texts):
    mark = {"cache_control": {"type": "ephemeral"}}
    blocks = [{"type": "text", "text": text.rstrip("*"), **(mark if text.endswith("*") else {})} for text in texts]
    return render({"model": "m", "messages": [{"role": "user", "content": blocks}]}, "/v1/messages")


@pytest.mark.parametrize(
    ("name", "vendor", "model", "expected"),
    [
        ("anthropic", "anthropic", "claude-opus-5", BreakpointCache(minimum=512, look_back=20)),
        ("anthropic", "anthropic", "claude-opus-4-6", BreakpointCache(minimum=4096, look_back=20)),
        ("openai-5.6", "openai", "gpt-5.6", BreakpointCache(minimum=1024, look_back=None, implicit="30m")),
        ("openai", "openai", "gpt-4.1", BlockCache(block=128, minimum=1024, lifetime=300)),
        ("openai", "openai", "gpt-5.5", BlockCache(block=128, minimum=1024, lifetime=86_400)),
        ("vllm", "custom", "qwen3", BlockCache(block=16, minimum=16)),
        ("moonshot", "moonshot", "kimi-k3", None),
        ("deepseek", "deepseek", "deepseek-v4", None),
        ("unknown", "custom", None, None),
    ],
)
def test_a_backend_is_played_by_its_data(name, vendor, model, expected):
    player = player_of(name, vendor, model, count=len)

    if name == "moonshot":
        assert isinstance(player, BlockCache)
        assert player.keys == CALL_KEYS
    elif expected is None:
        assert player is None
    else:
        assert type(player) is type(expected)
        fields = {"block", "minimum", "lifetime", "look_back", "implicit"} & set(type(expected).__slots__)
        assert {key: getattr(player, key) for key in fields} == {key: getattr(expected, key) for key in fields}
        assert player.keys == KEYS


def test_an_older_openai_serves_whole_steps_for_five_minutes():
    clock = MovableClock()
    player = player_of("openai", "openai", "gpt-4.1", clock=clock, count=len)

    assert player.play(chat(BIG)) == ServedUsage(2_000)
    assert player.play(chat(BIG, "more")) == ServedUsage(84, 1_920)
    clock.advance(300)
    assert player.play(chat(BIG, "more")) == ServedUsage(2_004)


def test_a_newer_openai_reports_what_it_writes_and_keeps_it_for_half_an_hour():
    clock = MovableClock()
    player = player_of("openai-5.6", "openai", "gpt-5.6", clock=clock, count=len)

    assert player.play(chat(BIG)) == ServedUsage(0, 0, 2_000)
    clock.advance(1_799)
    assert player.play(chat(BIG, "more")) == ServedUsage(0, 2_000, 4)
    clock.advance(1_800)
    assert player.play(chat(BIG, "more")) == ServedUsage(0, 0, 2_004)


def test_anthropic_serves_entries_at_marks_from_a_minimum_on():
    clock = MovableClock()
    player = player_of("anthropic", "anthropic", "claude-opus-5", clock=clock, count=len)

    assert player.play(marked("y" * 511 + "*")) == ServedUsage(511)
    assert player.play(marked(BIG + "*", "tail")) == ServedUsage(4, 0, 2_000)
    clock.advance(299)
    assert player.play(marked(BIG + "*", "other")) == ServedUsage(5, 2_000)
    clock.advance(300)
    assert player.play(marked(BIG + "*", "other")) == ServedUsage(5, 0, 2_000)


def test_another_effort_is_another_entry_where_the_data_says_so():
    kept, lost = player_of("moonshot", "moonshot", "kimi-k3"), player_of("openai", "openai", "gpt-5.5", count=len)
    for player in (kept, lost):
        player.play(chat(BIG * 3, effort="low"))

    assert kept.play(chat(BIG * 3, effort="high")).cache_read_tokens > 1_000
    assert lost.play(chat(BIG * 3, effort="high")).cache_read_tokens == 0
