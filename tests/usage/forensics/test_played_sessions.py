"""Sessions that a recorder's cache plays by the data of a backend: each event breaks one once, nothing else does."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.prefix.backends import load_backend
from agentmux_compiler.prefix.models import model_id
from agentmux_compiler.prefix.played import player_of
from agentmux_compiler.prefix.reuse import terms
from agentmux_launcher.recorder.cache import MovableClock
from agentmux_launcher.recorder.wire import render
from agentmux_launcher.usage import Tokens
from agentmux_usage.breaks import Reason
from agentmux_usage.forensics import NOTHING, find_breaks
from agentmux_usage.response import Response, Session


@dataclass(frozen=True, slots=True)
class Cache:
    """A backend as one CLI meets it, and another model that it serves."""

    provider: str
    backend: str
    vendor: str
    model: str
    other: str


CACHES = (
    Cache("claude", "anthropic", "anthropic", "claude-opus-5", "claude-opus-4-8"),
    Cache("codex", "openai", "openai", "gpt-4.1", "gpt-5.1"),
    Cache("codex", "openai-5.6", "openai", "gpt-5.6", "gpt-5.7"),
)
EVENTS = {"edit": Reason.SERVER, "effort": Reason.EFFORT, "model": Reason.MODEL, "wait": Reason.LIFETIME}
EFFORTS = ("low", "medium", "high", "xhigh", "max")


class Played:
    """A session that grows by a turn a minute, its calls as the cache serves them."""

    def __init__(self, cache):
        self.cache, self.clock = cache, MovableClock()
        self.player = player_of(cache.backend, cache.vendor, cache.model, clock=self.clock, count=len)
        self.system, self.said, self.efforts = "s" * 6_000, [], iter(EFFORTS)
        self.model, self.effort = cache.model, next(self.efforts)
        self.calls, self.held, self.lost = [], 0, []

    def happens(self, event):
        rows = terms(load_backend(self.cache.backend), model_id(self.cache.vendor, self.cache.model))
        self.clock.advance(60)
        if event == "edit":
            place = 3_000 - 10 * len(self.calls)
            self.system = self.system[:place] + "E" + self.system[place + 1 :]
        elif event == "effort":
            self.effort = next(self.efforts)
        elif event == "model":
            self.model = self.cache.other
        elif event == "wait":
            self.clock.advance(rows.seconds + 60)

    def turn(self, size):
        self.said.append("u" * size)
        usage = self.player.play(self.request())
        tokens = Tokens(usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, 0, 5, 0)
        said = {"model": self.model, "effort": self.effort, "turn": len(self.calls) + 1}
        self.calls.append(Response(self.cache.provider, "s", self.clock(), tokens, **said))
        self.lost.append(self.held - usage.cache_read_tokens)
        written = usage.cache_write_tokens
        self.held = usage.cache_read_tokens + written if written else usage.prompt_tokens // 128 * 128
        self.said.append("a" * 5)

    def request(self):
        mark = {"cache_control": {"type": "ephemeral"}}
        if self.cache.backend != "anthropic":
            said = [{"role": "user", "content": text} for text in (self.system, *self.said)]
            return render({"model": self.model, "messages": said, "reasoning_effort": self.effort})
        said = [{"role": "user", "content": [{"type": "text", "text": text}]} for text in self.said]
        said[-1]["content"][0].update(mark)
        system = [{"type": "text", "text": self.system, **mark}]
        body = {"model": self.model, "output_config": {"effort": self.effort}, "system": system, "messages": said}
        return render(body, "/v1/messages")

    @property
    def breaks(self):
        return find_breaks(Session(self.cache.provider, "s", tuple(self.calls)), NOTHING)


@pytest.mark.parametrize("cache", CACHES, ids=lambda cache: cache.backend)
@given(
    happened=st.lists(st.none() | st.sampled_from(sorted(EVENTS)), min_size=1, max_size=6).filter(
        lambda events: events.count("model") <= 1 and events.count("effort") < len(EFFORTS)
    ),
    sizes=st.lists(st.integers(1, 3_000), min_size=8, max_size=8),
)
def test_each_event_breaks_a_session_once_and_nothing_else_does(cache, happened, sizes):
    played = Played(cache)
    played.turn(sizes[0])
    for event, size in zip(happened, sizes[1:], strict=False):
        played.happens(event)
        played.turn(size)

    expected = [
        (number, EVENTS[event], played.lost[number - 1])
        for number, event in enumerate(happened, 2)
        if event is not None
    ]
    assert [(found.call, found.reason, found.lost) for found in played.breaks] == expected
