from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentmux_launcher.recorder import ServedUsage
from agentmux_launcher.recorder.cache import BlockCache, BreakpointCache, MovableClock, NoCache, quarter
from agentmux_launcher.recorder.wire import render


def words(text):
    """One token for every character: sizes in these tests can be read off."""
    return len(text)


def chat(*texts, model="m"):
    return render({"model": model, "messages": [{"role": "user", "content": text} for text in texts], "stop": None})


def marked(*texts, system=(), model="m", effort=None):
    """A request whose blocks end with `*` where they carry a mark (`**` for an hour's)."""

    def block(text):
        mark = {"5m": {"type": "ephemeral"}, "1h": {"type": "ephemeral", "ttl": "1h"}}
        told = {"type": "text", "text": text.rstrip("*")}
        kind = {0: None, 1: mark["5m"], 2: mark["1h"]}[len(text) - len(text.rstrip("*"))]
        return told if kind is None else {**told, "cache_control": kind}

    return render(
        {
            "model": model,
            "max_tokens": 1,
            "output_config": {"effort": effort},
            "system": [block(text) for text in system],
            "messages": [{"role": "user", "content": [block(text) for text in texts]}],
        },
        "/v1/messages",
    )


def test_without_a_cache_everything_is_paid():
    player = NoCache()

    assert player.play(chat("abcdefgh", "abc")) == ServedUsage(input_tokens=3)
    assert player.play(chat("abcdefgh", "abc")) == ServedUsage(input_tokens=3)
    assert quarter("") == 0
    assert quarter("☃☃") == 2


def test_a_block_engine_reuses_whole_blocks_of_the_longest_equal_prefix():
    player = BlockCache(block=10, minimum=20, count=words)

    assert player.play(chat("a" * 35, "b" * 20)) == ServedUsage(input_tokens=55)
    assert player.play(chat("a" * 35, "b" * 20)) == ServedUsage(5, 50)
    assert player.play(chat("a" * 35, "b" * 4 + "c" * 20)) == ServedUsage(29, 30)
    assert player.play(chat("a" * 15 + "z")) == ServedUsage(16)
    assert player.play(chat("a" * 35, "b" * 20, "c" * 10)) == ServedUsage(15, 50)


def test_a_block_engine_keeps_models_apart_and_computes_the_last_token():
    player = BlockCache(block=1, minimum=1, count=words)

    assert player.play(chat("abc")) == ServedUsage(3)
    assert player.play(chat("abc", model="other")) == ServedUsage(3)
    assert player.play(chat("abc")) == ServedUsage(1, 2)


def test_a_block_engine_forgets_what_is_not_used():
    clock = MovableClock()
    player = BlockCache(block=1, minimum=1, lifetime=60, count=words, clock=clock)

    player.play(chat("abcd"))
    clock.advance(59)
    assert player.play(chat("abcd")).cache_read_tokens == 3
    clock.advance(59)
    assert player.play(chat("abcd")).cache_read_tokens == 3
    clock.advance(60)
    assert player.play(chat("abcd")).cache_read_tokens == 0


def test_a_breakpoint_backend_keeps_prefixes_only_at_marks():
    player = BreakpointCache(minimum=1, count=words)

    first = player.play(marked("claude.md", "hello*", system=["base*"]))
    same = player.play(marked("claude.md", "hello*", system=["base*"]))
    other_prompt = player.play(marked("claude.md", "other*", system=["base*"]))
    edited = player.play(marked("CLAUDE.md", "hello*", system=["base*"]))

    assert first == ServedUsage(0, 0, 18)
    assert same == ServedUsage(0, 18)
    # The file between the marks is equal, yet no entry ends there.
    assert other_prompt == ServedUsage(0, 4, 14)
    assert edited == ServedUsage(0, 4, 14)


def test_a_breakpoint_backend_pays_in_full_what_follows_the_last_mark():
    player = BreakpointCache(minimum=1, count=words)

    assert player.play(marked("abc", "d", system=["base*"])) == ServedUsage(4, 0, 4)
    assert player.play(marked("abc", "d", system=["base*"])) == ServedUsage(4, 4)
    assert player.play(marked("abc")) == ServedUsage(3)


def test_a_mark_finds_an_entry_only_within_its_look_back():
    def turns(count):
        return marked(*["x"] * (count - 1), "x*")

    near, far = BreakpointCache(minimum=1, count=words), BreakpointCache(minimum=1, count=words)
    near.play(turns(5))
    far.play(turns(5))

    # The mark's own place is the first of the twenty.
    assert near.play(turns(24)) == ServedUsage(0, 5, 19)
    assert far.play(turns(25)) == ServedUsage(0, 0, 25)


def test_prefixes_below_the_minimum_are_not_kept():
    player = BreakpointCache(minimum=10, count=words)

    assert player.play(marked("123456789*")) == ServedUsage(9)
    assert player.play(marked("1234567890*")) == ServedUsage(0, 0, 10)
    assert player.play(marked("1234567890*")) == ServedUsage(0, 10)


def test_lifetimes_are_kept_apart_and_renewed_by_use():
    clock = MovableClock()
    player = BreakpointCache(minimum=1, count=words, clock=clock)

    assert player.play(marked("abc*", system=["base**"])) == ServedUsage(0, 0, 3, 4)
    clock.advance(299)
    assert player.play(marked("abc*", system=["base**"])) == ServedUsage(0, 7)
    clock.advance(299)
    assert player.play(marked("abc*", system=["base**"])) == ServedUsage(0, 7)
    clock.advance(300)
    assert player.play(marked("abc*", system=["base**"])) == ServedUsage(0, 4, 3)
    clock.advance(3600)
    assert player.play(marked("abc*", system=["base**"])) == ServedUsage(0, 0, 3, 4)


def test_model_and_effort_are_keys():
    player = BreakpointCache(minimum=1, count=words)
    player.play(marked("abc*"))

    assert player.play(marked("abc*", model="other")).cache_read_tokens == 0
    assert player.play(marked("abc*", effort="low")).cache_read_tokens == 0
    assert player.play(marked("abc*")).cache_read_tokens == 3


def test_an_implicit_mark_stands_at_the_newest_block():
    player = BreakpointCache(minimum=1, look_back=None, implicit="30m", count=words)

    assert player.play(chat("abc")) == ServedUsage(0, 0, 3)
    assert player.play(chat("abc", "de")) == ServedUsage(0, 3, 2)
    assert player.play(chat("abX", "de")) == ServedUsage(0, 0, 5)


def test_what_a_request_stores_can_be_read_when_its_answer_begins():
    clock = MovableClock()
    blocks = BlockCache(block=1, minimum=1, count=words, clock=clock)
    points = BreakpointCache(minimum=1, count=words, clock=clock)

    def both(wait=0.0):
        played = (blocks.play(chat("abcd"), wait), points.play(marked("abcd*"), wait))
        return [usage.cache_read_tokens for usage in played]

    assert both(wait=2) == [0, 0]
    clock.advance(1)
    assert both() == [0, 0]
    clock.advance(1)
    assert both() == [3, 4]


@given(st.lists(st.lists(st.sampled_from(["a", "bb*", "ccc", "dddd**", "e" * 9]), min_size=1), min_size=1, max_size=8))
def test_the_four_fields_add_up_to_the_prompt(prompts):
    players = [
        NoCache(words),
        BlockCache(block=3, minimum=4, count=words),
        BreakpointCache(minimum=4, count=words),
        BreakpointCache(minimum=1, implicit="5m", count=words),
    ]
    for texts in prompts:
        request = marked(*texts)
        for player in players:
            usage = player.play(request)
            assert usage.prompt_tokens == sum(words(part.text) for part in request.parts)
            assert min(usage.input_tokens, usage.cache_read_tokens) >= 0
            assert min(usage.cache_write_tokens, usage.cache_write_1h_tokens) >= 0
