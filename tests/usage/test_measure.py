"""The measures on the published sessions that they come from, and on what is not known."""

from __future__ import annotations

import pytest

from agentmux_launcher.usage import Tokens
from agentmux_usage.measure import Rates, measure
from agentmux_usage.measures import Measures
from agentmux_usage.response import Response

LIKE = {"provider": "claude", "session_id": "s1", "model": "claude-opus-5"}
OUTPUT = 600

# Run, turns, context at the start, session size, added by the work, cumulative prefill in millions, prefill by size.
PUBLISHED = [
    ("Sonnet medium", 35, 50_400, 138_600, "88k", 3.65, 26),
    ("Opus medium", 59, 50_000, 170_000, "120k", 7.13, 42),
    ("Sonnet high", 68, 50_000, 167_000, "117k", 7.89, 47),
    ("DeepSeek low", 80, 28_000, 153_000, "125k", 7.98, 52),
    ("DeepSeek high", 136, 28_000, 178_000, "150k", 14.08, 79),
    ("DeepSeek max", 150, 28_000, 238_000, "210k", 20.62, 87),
]


def session(turns, start, size, prefill, read=0):
    """A conversation that grows evenly; what its own calls leave of the prefill was read by a sub-agent.

    Of `prefill` the cache serves `read`: all of some calls, and a part of one.
    """
    grown = size - OUTPUT - start
    contexts = [start + grown * number // (turns - 1) for number in range(turns)]
    calls = [("main", context) for context in contexts] + [("subagent", prefill - sum(contexts))]
    left, responses = read, []
    for number, (kind, context) in enumerate(calls):
        hit = min(left, context)
        left -= hit
        tokens = Tokens(context - hit, hit, None, None, OUTPUT)
        responses.append(Response(**LIKE, time=float(number), tokens=tokens, turn=1, kind=kind))
    return responses


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda row: row[0])
def test_the_published_sessions_give_the_published_ratios(published):
    _, turns, start, size, added, millions, ratio = published
    found = measure([session(turns, start, size, round(millions * 1e6))], Rates())

    assert (found.turns, found.prompts, found.sessions, found.partial) == (turns, 1, 1, ())
    assert (found.context_start, found.session_size) == (start, size)
    assert f"{found.added / 1000:.0f}k" == added
    assert found.cumulative_prefill == round(millions * 1e6)
    assert round(found.prefill_ratio) == ratio


def test_the_published_session_that_the_cache_served():
    # Of the two figures that were published beside the hits (7.98M in all, 185k prefilled), the first is held here;
    # what they leave between them, 65k, nobody accounts for.
    responses = session(80, 28_000, 153_000, 7_980_000, read=7_730_000)
    found = measure([responses], Rates())

    assert (found.cache_read, round(found.cache_hit_pct)) == (7_730_000, 97)
    assert (found.prefilled, found.uncached) == (250_000, 250_000)
    decoding = found.output / 68
    assert round((found.seconds_uncached - decoding) / 60) == 21
    assert round(found.seconds_cached - decoding) == 40


def test_times_are_those_of_the_published_runs():
    rates = Rates(prefill=6_200, decode=68)

    assert round(rates.seconds(7_980_000, 0) / 60) == 21
    assert round(rates.seconds(185_000, 0)) == 30
    assert round(rates.seconds(0, 110_000) / 60) == 27
    assert round(rates.seconds(24_000_000, 110_000) / 60) == 91  # of 107 minutes that the run took
    assert rates.seconds(None, 1) is rates.seconds(1, None) is None


def response(time, *tokens, **more):
    return Response(**{**LIKE, "time": time, "tokens": Tokens(*tokens), "turn": 1, **more})


def test_every_figure_of_a_session():
    parts = [
        [
            response(1.0, 10, 0, 20_000, 0, 300),
            response(2.0, 5, 1_000, None, None, 20, kind="side", model="claude-haiku-4-5"),
            response(3.0, 20, 20_010, 500, 100, 200, turn=2, usd=0.5),
            response(4.0, 7, 2_000, 0, 0, 50, kind="subagent", thread="t1", turn=2),
        ]
    ]

    dollars = [10 * 5 + 20_000 * 6.25 + 300 * 25, 5 * 1 + 1_000 * 0.1 + 20 * 5]
    dollars += [20 * 5 + 20_010 * 0.5 + 500 * 6.25 + 100 * 10 + 200 * 25, 7 * 5 + 2_000 * 0.5 + 50 * 25]
    assert measure(parts, Rates(1000, 10)) == Measures(
        turns=2,
        prompts=2,
        context_start=20_010,
        session_size=20_830,
        added=820,
        cumulative_prefill=20_010 + 1_005 + 20_630 + 2_007,
        prefill_ratio=43_652 / 20_830,
        cache_read=23_010,
        cache_write=20_600,
        uncached=42,
        cache_hit_pct=23_010 / 43_652 * 100,
        output=570,
        usd=pytest.approx(sum(dollars) / 1e6, abs=1e-12),
        seconds_cached=20.642 + 57,
        seconds_uncached=43.652 + 57,
        prefilled=20_642,
        usd_reported=0.5,
        partial=("cache_write",),
    )


def test_what_a_response_does_not_state_makes_a_sum_a_bound_and_a_ratio_unknown():
    found = measure([[response(1.0, 10, 90, 0, 0, 5), response(2.0, None, None, None, None, 7)]], Rates())

    assert (found.cumulative_prefill, found.cache_read, found.output) == (100, 90, 12)
    assert (found.prefill_ratio, found.cache_hit_pct, found.session_size, found.added) == (None, None, None, None)
    assert found.context_start == 100
    assert set(found.partial) >= {"cumulative_prefill", "cache_read", "usd", "seconds_cached", "seconds_uncached"}
    assert "output" not in found.partial


def test_nothing_that_is_not_known_is_0():
    found = measure([[response(1.0, model=None, calls=None)]], Rates())

    unknown = {name for name in Measures.__dataclass_fields__ if getattr(found, name) is None}
    assert unknown == set(Measures.__dataclass_fields__) - {"turns", "prompts", "sessions", "partial"}
    assert (found.turns, found.partial) == (1, ("turns",))


def test_turns_of_which_only_the_sum_is_known_say_no_size():
    turn = response(1.0, 900, 5_000, 0, None, 77, calls=3)
    found = measure([[turn]], Rates())

    assert (found.turns, found.cumulative_prefill, found.cache_hit_pct) == (3, 5_900, 5_000 / 59)
    assert (found.context_start, found.session_size, found.prefill_ratio, found.partial) == (None, None, None, ())


def test_a_response_for_which_no_model_did_anything_is_no_turn_and_costs_nothing():
    error = response(2.0, 0, 0, 0, 0, 0, model="<synthetic>")
    with_it, without = ([response(1.0, 10, 0, 100, 0, 5), *more] for more in ([error], []))

    assert measure([with_it], Rates()) == measure([without], Rates())


def test_a_group_of_sessions_is_their_sum():
    parts = [[response(1.0, 100, 0, 0, 0, 10)], [response(9.0, 300, 0, 0, 0, 50, session_id="s2")]]
    found = measure(parts, Rates())

    assert (found.sessions, found.turns, found.prompts) == (2, 2, 2)
    assert (found.context_start, found.session_size, found.cumulative_prefill) == (400, 460, 400)


def test_of_nothing_nothing_is_known():
    assert measure([], Rates()).turns == 0
    assert measure([[]], Rates()) == measure([], Rates())


def test_what_sub_agents_alone_have_read_is_no_reading_of_another_session():
    alone = Response(**{**LIKE, "session_id": "s2"}, time=0.0, tokens=Tokens(100, 900_000, 0, 0, 5), kind="subagent")
    own = Response(**LIKE, time=0.0, tokens=Tokens(100, 900, 0, 0, 250), turn=1)
    found = measure([[own], [alone]], Rates())

    assert (found.cumulative_prefill, found.session_size, found.partial) == (901_100, 1_250, ())
    assert found.prefill_ratio == 1_000 / 1_250
