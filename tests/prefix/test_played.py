from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

import pytest

from agentmux_compiler.prefix.played import player_of
from agentmux_launcher.recorder import Recorder, ServedUsage
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


SAID = {"role": "user", "content": BIG}
MARK = {"cache_control": {"type": "ephemeral"}}
ANTHROPIC = {
    "model": "claude-opus-5",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": [{"type": "text", "text": BIG, **MARK}]}],
}


def asked(recorder, path, body):
    connection = http.client.HTTPConnection(urlsplit(recorder.url).netloc, timeout=20)
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    answer = json.load(connection.getresponse())
    connection.close()
    return answer.get("usage") or answer["usageMetadata"]


def figures(usage, names):
    """The figures at dotted names."""
    found = []
    for name in names:
        value = usage
        for key in name.split("."):
            value = value[key]
        found.append(value)
    return tuple(found)


@pytest.mark.parametrize(
    ("cache", "path", "body", "names", "told"),
    [
        (
            ("anthropic", "anthropic", "claude-opus-5"),
            "/v1/messages",
            ANTHROPIC,
            (
                "input_tokens",
                "cache_read_input_tokens",
                "cache_creation_input_tokens",
                "cache_creation.ephemeral_5m_input_tokens",
            ),
            [(0, 0, 2_000, 2_000), (0, 2_000, 0, 0)],
        ),
        (
            ("openai", "openai", "gpt-5.5"),
            "/v1/responses",
            {"model": "gpt-5.5", "input": [SAID]},
            ("input_tokens", "input_tokens_details.cached_tokens"),
            [(2_000, 0), (2_000, 1_920)],
        ),
        (
            ("openai-5.6", "openai", "gpt-5.6"),
            "/v1/responses",
            {"model": "gpt-5.6", "input": [SAID]},
            ("input_tokens", "input_tokens_details.cached_tokens", "input_tokens_details.cache_write_tokens"),
            [(2_000, 0, 2_000), (2_000, 2_000, 0)],
        ),
        (
            ("vllm", "custom", "qwen3"),
            "/v1/chat/completions",
            {"model": "qwen3", "messages": [SAID]},
            ("prompt_tokens", "prompt_tokens_details.cached_tokens"),
            [(2_000, 0), (2_000, 1_984)],
        ),
        (
            ("gemini", "google", "gemini-2.5-pro"),
            "/v1beta/models/gemini-2.5-pro:generateContent",
            {"contents": [{"role": "user", "parts": [{"text": BIG * 2}]}]},
            ("promptTokenCount", "cachedContentTokenCount"),
            [(4_000, 0), (4_000, 3_968)],
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) and value and isinstance(value[0], str) else None,
)
def test_every_wire_says_what_was_served(cache, path, body, names, told):
    with Recorder(cache=player_of(*cache, count=len)) as recorder:
        assert [figures(asked(recorder, path, body), names) for _ in range(2)] == told
