from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_launcher.usage import Tokens
from agentmux_usage.breaks import Break, Reason
from agentmux_usage.forensics import NOTHING, find_breaks
from agentmux_usage.response import Response, Session

MINUTE = 60.0


def call(time, read, written, given=10, hour=0, **more):
    """A call of Claude Code on Opus 5, whose entries live 5 minutes; `time` in minutes."""
    said = {"provider": "claude", "session_id": "s", "model": "claude-opus-5", **more}
    return Response(time=time * MINUTE, tokens=Tokens(given, read, written, hour, 5, 0), **said)


def counted(time, prompt, read, **more):
    """A call of Codex on GPT-5.5, which reports no writes and caches steps of 128 tokens."""
    said = {"provider": "codex", "session_id": "s", "model": "gpt-5.5", **more}
    return Response(time=time * MINUTE, tokens=Tokens(prompt - read, read, 0, 0, 5, 0), **said)


def breaks(*responses, known=NOTHING):
    return find_breaks(Session("claude", "s", responses), known)


def why(*responses, known=NOTHING):
    return [(found.call, found.lost, found.reason, found.evidence) for found in breaks(*responses, known=known)]


def test_a_session_that_only_grows_has_no_break():
    assert breaks(call(0, 0, 20_000), call(1, 20_000, 500), call(2, 20_500, 700)) == ()


def test_a_break_has_its_figures_its_cost_and_its_reason():
    found = breaks(call(0, 0, 20_000, turn=1), call(1, 5_000, 16_000, turn=2, message_id="m2"))

    evidence = "nothing that was sent explains it: the server dropped the entry, or another one answered"
    # 15,000 tokens at $6.25 in place of $0.50 a million.
    expected = Break(
        "s", "claude", 2, 2, 60.0, 20_000, 5_000, 15_000, Reason.SERVER, evidence, usd=0.08625, message_id="m2"
    )
    assert found == (expected,)


def test_what_a_break_wrote_is_what_the_next_call_finds():
    assert why(call(0, 0, 20_000), call(1, 5_000, 16_000), call(2, 21_000, 100)) == [
        (
            2,
            15_000,
            Reason.SERVER,
            "nothing that was sent explains it: the server dropped the entry, or another one answered",
        )
    ]


@pytest.mark.parametrize(
    ("minutes", "short", "hour", "evidence"),
    [
        (5.1, 20_000, 0, "it came 5 min 6 s after the call before, and entries live 5 min without use"),
        (61, 0, 20_000, "it came 1 h 1 min after the call before, and entries live 1 h without use"),
        (90, 20_000, 0, "it came 1 h 30 min after the call before, and entries live 5 min without use"),
    ],
)
def test_a_lifetime_that_has_passed(minutes, short, hour, evidence):
    later = call(minutes, 0, short, hour=hour)

    assert why(call(0, 0, short, hour=hour), later) == [(2, 20_000, Reason.LIFETIME, evidence)]


def test_a_lifetime_of_an_hour_has_not_passed_after_ten_minutes():
    (found,) = breaks(call(0, 0, 0, hour=20_000), call(10, 0, 0, hour=20_000))

    # Storing for an hour costs $10 a million.
    assert (found.reason, found.usd) == (Reason.SERVER, 0.19)


def test_of_two_lifetimes_the_short_one_explains_what_was_written_for_it():
    first = call(0, 0, 3_000, hour=20_000)

    assert [found.reason for found in breaks(first, call(10, 20_000, 3_000))] == [Reason.LIFETIME]
    assert [found.reason for found in breaks(first, call(10, 0, 23_000))] == [Reason.SERVER]
    assert [found.reason for found in breaks(first, call(70, 0, 23_000))] == [Reason.LIFETIME]


def test_another_model_is_a_reason_and_another_spelling_is_none():
    first = call(0, 0, 20_000)

    assert why(first, call(1, 0, 20_000, model="claude-opus-4-8")) == [
        (2, 20_000, Reason.MODEL, "the model was `claude-opus-5` and is `claude-opus-4-8`")
    ]
    assert [found.reason for found in breaks(first, call(1, 0, 20_000, model="claude-opus-5-20260701"))] == [
        Reason.SERVER
    ]


def test_another_effort_is_a_reason_where_both_are_known():
    low = call(0, 0, 20_000, effort="low")

    assert why(low, call(1, 0, 20_000, effort="high")) == [
        (2, 20_000, Reason.EFFORT, "the effort was `low` and is `high`")
    ]
    assert [found.reason for found in breaks(low, call(1, 0, 20_000))] == [Reason.SERVER]


def test_a_launch_without_an_effort_has_that_of_the_cli():
    first, second = call(0, 0, 20_000, run_id="a"), call(1, 0, 20_000, effort="high", run_id="b")

    assert why(first, second) == [(2, 20_000, Reason.EFFORT, "the effort was the CLI's default and is `high`")]


def test_a_compaction_loses_no_more_than_what_is_sent_again():
    found = why(call(0, 0, 90_000), call(1, 12_000, 3_000, after_compaction=True))

    evidence = "the conversation of 90,010 tokens was summarised, and this is its first call since"
    assert found == [(2, 3_010, Reason.COMPACTION, evidence)]


def test_another_version_of_the_cli():
    found = why(call(0, 0, 20_000, cli_version="2.1.331"), call(1, 0, 20_000, cli_version="2.1.332"))

    assert found == [(2, 20_000, Reason.CLI_VERSION, "the CLI was 2.1.331 and is 2.1.332")]


def test_the_strongest_reason_is_the_one():
    first = call(0, 0, 20_000, effort="low", cli_version="1")
    second = call(9, 0, 20_000, effort="high", model="claude-opus-4-8", cli_version="2", after_compaction=True)

    assert [found.reason for found in breaks(first, second)] == [Reason.LIFETIME]


def sub(time, read, written, thread, **more):
    return call(time, read, written, kind="subagent", thread=thread, **more)


def test_a_sub_agent_is_a_lane_of_its_own():
    found = why(call(0, 0, 20_000), sub(0.5, 1_000, 7_000, "t1"), call(1, 20_000, 500), sub(1.5, 8_000, 10, "t1"))

    assert found == [(2, 7_010, Reason.SUBAGENT, "a sub-agent began, with a prompt of 8,010 tokens of its own")]


def test_sub_agents_that_begin_together_pay_each_for_itself():
    found = why(call(0, 0, 20_000), sub(0.5, 0, 8_000, "t1"), sub(0.51, 0, 8_000, "t2"), sub(1, 7_000, 1_000, "t3"))

    assert found[1:] == [
        (3, 8_010, Reason.CONCURRENT, "it began 0.6 s after another sub-agent's first call, before its answer"),
        (4, 1_010, Reason.SUBAGENT, "a sub-agent began, with a prompt of 8,010 tokens of its own"),
    ]


@pytest.mark.parametrize("between", [call(0.505, 20_000, 500), sub(0.505, 8_000, 10, "t1")], ids=["agent", "sub-agent"])
def test_sub_agents_one_after_the_other_were_not_together(between):
    found = why(call(0, 0, 20_000), sub(0.5, 0, 8_000, "t1"), between, sub(0.51, 0, 8_000, "t2"))

    assert [each[2] for each in found] == [Reason.SUBAGENT, Reason.SUBAGENT]


def test_calls_beside_the_conversation_break_nothing():
    assert breaks(call(0, 0, 20_000), call(0.1, 0, 0, kind="side", model="claude-haiku-5"), call(1, 20_000, 5)) == ()


def test_where_writes_are_not_reported_the_whole_prompt_was_stored_in_steps():
    assert breaks(counted(0, 20_000, 0), counted(1, 21_000, 19_968)) == ()
    # One step more may be computed anew at the end of a prompt.
    assert breaks(counted(0, 20_000, 0), counted(1, 21_000, 19_840)) == ()
    (found,) = breaks(counted(0, 20_000, 0), counted(1, 21_000, 2_432))
    assert (found.expected, found.observed, found.lost, found.reason) == (19_968, 2_432, 17_536, Reason.SERVER)


def test_a_prompt_below_the_least_that_is_cached_is_not_missed():
    assert breaks(counted(0, 1_000, 0), counted(1, 1_010, 0)) == ()


def test_sums_of_several_calls_are_held_to_what_the_session_must_have_stored():
    """Two calls of 20,000 and 21,000 tokens, then one of 22,000."""
    first = counted(0, 41_000, 19_968, calls=None)

    assert breaks(first, counted(1, 22_000, 20_992, calls=None)) == ()
    (found,) = breaks(first, counted(1, 22_000, 0, calls=None))
    assert (found.expected, found.lost) == (20_992, 20_992)


def test_without_figures_of_the_cache_nothing_is_said():
    assert breaks(call(0, None, None), call(1, None, None)) == ()


def test_a_cache_that_nobody_knows_is_believed_once_it_has_served_something():
    def local(time, prompt, read):
        return Response("opencode", "s", time * MINUTE, Tokens(prompt - read, read, None, None, 5), model="mine/m")

    assert breaks(local(0, 20_000, 0), local(1, 21_000, 0), local(2, 22_000, 0)) == ()
    (found,) = breaks(local(0, 20_000, 0), local(1, 21_000, 19_000), local(2, 22_000, 0))
    assert (found.call, found.lost, found.reason, found.usd) == (3, 21_000, Reason.SERVER, None)


FIGURE = st.none() | st.integers(0, 100_000)
RESPONSES = st.builds(
    Response,
    provider=st.sampled_from(["claude", "codex", "gemini", "kimi", "nobody"]),
    session_id=st.just("s"),
    time=st.floats(0, 10_000),
    tokens=st.builds(Tokens, FIGURE, FIGURE, FIGURE, FIGURE, FIGURE),
    model=st.sampled_from([None, "claude-opus-5", "gpt-5.5", "x/y"]),
    kind=st.sampled_from(["main", "subagent", "side"]),
    thread=st.sampled_from([None, "t1", "t2"]),
    effort=st.sampled_from([None, "low", "high"]),
    after_compaction=st.booleans(),
    calls=st.sampled_from([1, None, 3]),
)


@given(st.lists(RESPONSES, max_size=12))
def test_whatever_the_figures_a_break_adds_up(responses):
    for found in breaks(*sorted(responses, key=lambda each: each.time)):
        assert found.lost == found.expected - found.observed > 0
        assert found.evidence
        assert 1 <= found.call <= len(responses)
