"""Which copy of a response is believed does not depend on the order in which they are met."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentmux_launcher.usage import Tokens
from agentmux_usage.counting import again, distinct, merged
from agentmux_usage.response import Response

counts = st.none() | st.integers(0, 3)
copies = st.builds(
    Response,
    st.just("claude"),
    st.sampled_from(["a", "b"]),
    st.sampled_from([1.0, 2.0]),
    st.builds(Tokens, counts, counts, counts, counts, counts, counts),
    st.sampled_from([None, "m", "n"]),
    st.integers(0, 2),
    st.sampled_from(["main", "subagent", "side"]),
    st.sampled_from([None, "t"]),
    st.just("msg"),
    st.sampled_from([None, "r", "s"]),
    effort=st.sampled_from([None, "high"]),
    usd=st.sampled_from([None, 0.5]),
    after_compaction=st.booleans(),
    source=st.sampled_from(["a.jsonl", "b.jsonl"]),
)


def one(**more):
    return Response(**({"provider": "claude", "session_id": "a", "time": 5.0, "tokens": Tokens(1, 2, 3, 4, 5)} | more))


def test_the_largest_output_and_the_earliest_time_win():
    begun = one(time=5.0, tokens=Tokens(9, 9, 9, 9, 2))
    whole = one(time=6.0, tokens=Tokens(1, 2, 3, 4, 50))

    assert merged(begun, whole) == merged(whole, begun) == one(time=5.0, tokens=Tokens(1, 2, 3, 4, 50))


def test_a_copy_made_for_a_summary_is_not_a_side_call():
    own, copy = one(source="a.jsonl"), one(kind="side", thread="acompact", source="b.jsonl")

    assert merged(copy, own) == own


def test_a_later_line_of_the_same_file_says_what_the_call_was():
    assert again(one(), one(kind="side")) == one(kind="side")


def test_a_copy_without_a_request_is_one_of_those_that_name_it():
    named, unnamed, other = one(request_id="r"), one(time=1.0), one(request_id="s")

    assert distinct([other, unnamed, named]) == [one(request_id="r", time=1.0), other]
    assert distinct([unnamed, unnamed]) == [unnamed]


@given(copies, copies)
def test_merging_is_the_same_both_ways(first, second):
    assert merged(first, second) == merged(second, first)
    assert merged(first, first) == first


@given(
    st.lists(copies, min_size=1, max_size=6).flatmap(lambda found: st.tuples(st.just(found), st.permutations(found)))
)
def test_any_order_of_copies_gives_the_same_responses(orders):
    found, other = orders

    assert distinct(found) == distinct(other)
