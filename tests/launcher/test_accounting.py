from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_launcher.accounting import Account, Call, Turn, account, add
from agentmux_launcher.events import Compaction, Cost, End, Notice, Session, Text, Usage
from agentmux_launcher.reading import Ended, Reading, replay
from agentmux_launcher.usage import FRESH, ZERO, Convention, Start, Tokens, normal, plus, since
from agentmux_launcher.window import Window, compacts_at, near_compaction, window

RECORDINGS = Path(__file__).parent / "fixtures" / "frames"
DIALECT = {
    "claude": "claude-stream-json",
    "codex": "codex-json",
    "gemini": "gemini-json",
    "kimi": "kimi-stream-json",
    "qwen": "qwen-stream-json",
}
INCLUDED = Convention("here", "turn", input_includes_cached=True)
APART = Convention("here", "turn", input_includes_cached=False)
COUNT = st.none() | st.integers(0, 10_000)
TOKENS = st.builds(Tokens, COUNT, COUNT, COUNT, COUNT, COUNT, COUNT)


def call(name, given, read=0, written=0, out=10, **more):
    known = [tokens for tokens in (given, read, written) if tokens is not None]
    context = None if given is None else sum(known)
    return Usage("call", given, read, written, 0, out, 0, context_tokens=context, message_id=name, **more)


def turn(given, read=0, written=0, out=10, **more):
    return Usage("turn", given, read, written, 0, out, 0, **more)


def recorded(provider, name, dialect, start=FRESH):
    path = RECORDINGS / provider / f"{name}.jsonl"
    return account(replay(path.read_bytes(), b"", Ended(), Reading(dialect, start=start)))


# Figures


def test_cached_input_is_taken_out_of_input():
    said = Tokens(1_000, 800, 150, None, 20, 5)

    assert normal(said, INCLUDED) == Tokens(50, 800, 150, None, 20, 5)
    assert normal(said, APART) == said


def test_reasoning_is_added_to_output_where_it_stands_apart():
    said = Tokens(1_000, 0, None, None, 20, 5)

    apart = Convention("here", "turn", input_includes_cached=True, output_includes_reasoning=False)
    assert normal(said, apart) == Tokens(1_000, 0, None, None, 25, 5)
    assert normal(said, INCLUDED).output == 20


def test_a_figure_of_which_nobody_knows_whether_it_holds_another_is_not_known():
    unsure = Convention("here", "turn", input_includes_cached=None, output_includes_reasoning=None)

    assert normal(Tokens(9, 4, None, None, 5, 2), unsure) == Tokens(None, 4, None, None, None, 2)
    assert normal(Tokens(9, 0, None, None, 5, 0), unsure) == Tokens(9, 0, None, None, 5, 0)
    assert normal(Tokens(9, None, None, None, 5, None), unsure) == Tokens(9, None, None, None, 5, None)


def test_input_that_cannot_hold_its_cached_part_is_not_known():
    assert normal(Tokens(100, 800, None, None, 1, None), INCLUDED).input is None


def test_the_whole_input_needs_the_uncached_part():
    assert Tokens(1, 2, 3, 4, 99, 99).prompt == 10
    assert Tokens(1, 2, None, None, 99, 99).prompt == 3
    assert Tokens(None, 2, 3, 4, 99, 99).prompt is None


@given(before=TOKENS, added=TOKENS)
def test_differences_undo_sums(before, added):
    now = plus(before, added)
    expected = [
        None if None in (getattr(before, name), getattr(added, name)) else getattr(added, name)
        for name in Tokens.__slots__
    ]

    assert since(now, before) == Tokens(*expected)


def test_a_counter_that_went_back_began_anew():
    assert since(Tokens(5, 50, 0, 0, 3, 0), Tokens(900, 900, 0, 0, 90, 0)) == Tokens(5, 50, 0, 0, 3, 0)


def test_a_difference_from_nothing_known_is_not_known():
    assert since(ZERO, None) is None


# Calls, turns, the run


def test_a_run_adds_up():
    so_far = account(
        [
            Session("s", "opus"),
            call("m1", 100, 900, 50),
            call("m2", 10, 1_000, 40),
            turn(110, 1_900, 90, 20, context_window=200_000),
            Cost(0.5),
            End("end_turn"),
            call("m3", 5, 1_050, 20),
            turn(5, 1_050, 20),
            Cost(0.25),
            End("end_turn"),
        ]
    )

    assert len(so_far.turns) == 2
    assert so_far.turns[0].tokens == Tokens(110, 1_900, 90, 0, 20, 0)
    assert so_far.tokens == Tokens(115, 2_950, 110, 0, 30, 0)
    assert so_far.usd == 0.75
    assert (so_far.context_start, so_far.context, so_far.added) == (1_050, 1_075, 25)
    assert so_far.cumulative_prefill == 3_175
    assert so_far.prefill_ratio == 3_175 / 1_075
    assert so_far.cache_hit == 2_950 / 3_175
    assert so_far.last_call.cache_hit == 1_050 / 1_075
    assert (so_far.model, so_far.reported_window) == ("opus", 200_000)


def test_the_same_message_never_counts_twice():
    once = [call("m1", 100), End("end_turn"), call("m2", 100)]
    twice = [call("m1", 100), call("m1", 100), End("end_turn"), call("m1", 100), call("m2", 100), call("m2", 7)]

    assert account(twice) == account(once)


def test_a_turn_without_closing_figures_is_the_sum_of_its_calls():
    so_far = account([call("m1", 100, 5), call("m2", 10, 7, out=None)])

    assert so_far.tokens == Tokens(110, 12, 0, 0, None, 0)


def test_what_is_not_known_is_null_and_never_0():
    assert account([]).tokens is None
    assert account([Text("hello"), End("end_turn")]).tokens is None
    assert account([turn(5), End("end_turn"), Text("hello"), End("end_turn")]).tokens is None
    assert account([Text("hello")]).usd is None
    nothing = account([Text("hello"), End("end_turn")])
    assert (nothing.context, nothing.cache_hit, nothing.cumulative_prefill, nothing.prefill_ratio, nothing.added) == (
        (None,) * 5
    )


def test_a_turn_that_was_refused_used_nothing():
    assert account([turn(5), End("end_turn"), End("error")]).tokens == Tokens(5, 0, 0, 0, 10, 0)


def test_a_sub_agent_is_paid_for_but_is_not_the_context():
    so_far = account([call("m1", 100, 900), call("m2", 5_000, parent="t1"), turn(5_100, 900)])

    assert (so_far.context, so_far.cumulative_prefill) == (1_000, 6_000)
    assert so_far.last_call.message_id == "m1"


def test_a_closing_frame_says_nothing_about_the_context():
    so_far = account([call("m1", 300_000), turn(18_000_000, context_window=200_000), End("end_turn")])

    assert so_far.context == 300_000


def test_a_turn_says_what_fills_the_window_where_no_call_is_reported():
    full = [Usage("turn", context_tokens=fills, context_window=200_000) for fills in (1_290, 1_304)]
    known = account([full[0], End("end_turn"), full[1], End("end_turn")])

    assert (known.context_start, known.context, known.largest_context) == (1_290, 1_304, 1_304)
    assert (known.reported_window, known.tokens, known.calls) == (200_000, Tokens(), ())


def test_there_is_no_context_between_a_compaction_and_the_next_call():
    before = account([call("m1", 100_000), Compaction("auto", 100_000, 1_417)])
    after = add(add(before, End("end_turn")), call("m2", 39_490))

    assert (before.context, before.turns[-1].compactions, before.context_start) == (None, 1, 100_000)
    assert (after.context, after.last_call.after_compaction) == (39_490, True)


@pytest.mark.parametrize("tokens", [0, 1_000_001])
def test_a_context_that_no_model_takes_is_not_shown(tokens):
    assert account([call("m1", tokens)]).context is None


def test_a_larger_context_is_believed_where_the_window_is_reported():
    assert account([turn(1, context_window=2_000_000), call("m1", 1_500_000)]).context == 1_500_000


def test_events_without_figures_change_nothing():
    so_far = account([call("m1", 100)])

    assert add(so_far, Notice("words", "stderr")) is so_far
    spoke = add(so_far, Text("a"))
    assert add(spoke, Text("b")) is spoke


def test_a_turn_is_open_until_its_end():
    so_far = account([Text("hi")])

    assert so_far == Account((Turn(spoke=True),))
    assert add(so_far, End("end_turn")) == Account((Turn(spoke=True, stop_reason="end_turn"),))


# The recordings: what each CLI says of itself, counted once


ADDED_UP = {
    "claude/plain": ((12, 17_000, 3_000, 0, 25, 0), 0.009474, 20_012),
    "claude/tool": ((24, 34_000, 6_000, 0, 50, 0), 0.018948, 20_012),
    "claude/persistent": ((36, 51_000, 9_000, 0, 75, 0), 0.028422, 20_012),
    "claude/subagent": ((48, 68_000, 12_000, 0, 100, 0), 0.037896, 20_012),
    "claude/drop": ((36, 51_000, 9_000, 0, 35, 0), 0.028022, 20_012),
    "claude/interrupt": ((12, 17_000, 3_000, 0, 5, 0), 0.009274, 20_012),
    "claude/compact": ((52_092, 0, 0, 0, 9, 0), 0.104274, 12_433),
    "claude/err401": (None, None, None),
    "codex/tool": ((24, 34_000, 0, None, 50, 14), None, None),
    "gemini/tool": ((24, 34_000, None, None, 64, 14), None, None),
    "gemini/drop": (None, None, None),
    "qwen/tool": ((24, 34_000, None, None, 50, None), None, 17_012),
    "kimi/tool": (None, None, None),
}


@pytest.mark.parametrize("recording", ADDED_UP)
def test_recordings_add_up(recording):
    provider, name = recording.split("/")
    tokens, usd, context = ADDED_UP[recording]
    so_far = recorded(provider, name, DIALECT[provider])

    assert so_far.tokens == (None if tokens is None else Tokens(*tokens))
    assert (so_far.usd, so_far.context) == (usd, context)


@pytest.mark.parametrize(
    ("provider", "before", "tokens"),
    [
        ("claude", None, (12, 17_000, 3_000, 0, 25, 0)),
        ("codex", Tokens(12, 17_000, 0, None, 25, 7), (12, 17_000, 0, None, 25, 7)),
        ("codex", None, None),
        ("qwen", Tokens(24, 34_000, None, None, 50, None), (36, 51_000, None, None, 75, None)),
        ("qwen", None, (12, 17_000, None, None, 25, None)),
        ("gemini", None, (12, 17_000, None, None, 32, 7)),
    ],
)
def test_a_session_that_goes_on_counts_only_the_new_turn(provider, before, tokens):
    so_far = recorded(provider, "resume", DIALECT[provider], Start(resumed=True, counters=before))

    assert so_far.tokens == (None if tokens is None else Tokens(*tokens))


def test_claudes_window_is_the_one_it_reports():
    assert window(recorded("claude", "plain", "claude-stream-json")) == Window(1_000_000, "reported")


# The window


@pytest.mark.parametrize(
    ("reported", "largest", "catalog", "expected"),
    [
        (200_000, 100, 1_000_000, Window(200_000, "reported")),
        (None, 100, 1_000_000, Window(1_000_000, "catalog")),
        (None, None, None, None),
        (None, 150_000, None, None),
        (None, 250_000, None, Window(1_000_000, "learnt")),
        (200_000, 250_000, 200_000, Window(1_000_000, "learnt")),
        (None, 250_000, 200_000, Window(1_000_000, "learnt")),
        (1_000_000, 250_000, 200_000, Window(1_000_000, "reported")),
        (150_000, 180_000, None, Window(200_000, "learnt")),
        (1_000_000, 1_200_000, None, Window(1_200_000, "learnt")),
        (999, 100, 1_000, Window(1_000, "catalog")),
        (100_000_001, 100, None, None),
    ],
)
def test_the_window_is_reported_or_learnt_or_of_the_catalog(reported, largest, catalog, expected):
    windows = {} if catalog is None else {"*opus*": catalog, "*haiku*": 1_500}
    so_far = Account(reported_window=reported, largest_context=largest, model="claude-opus-5", windows=windows)
    assert window(so_far) == expected


def test_compaction_is_near_33_000_before_the_window():
    def near(context):
        return near_compaction(account([turn(1, context_window=200_000), call("m1", context)]))

    assert compacts_at(200_000) == 167_000
    assert compacts_at(20_000) == 1
    assert (near(166_999), near(167_000)) == (False, True)
    assert near_compaction(account([call("m1", 170_000)])) is False
    assert near_compaction(Account(context=170_000, model="opus", windows={"*opus*": 200_000})) is True


def test_a_call_knows_its_part_from_the_cache():
    assert Call(Tokens(10, 30), 40).cache_hit == 0.75
    assert Call(Tokens(10, None), 40).cache_hit is None
    assert Call(Tokens(10, 30), None).cache_hit is None
