from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentmux_usage.page.scales import Scale, box, step_for, ticks_to


def test_ticks_are_round_and_reach_the_top():
    assert ticks_to(177_000) == (0, 50_000, 100_000, 150_000, 200_000)
    assert ticks_to(7.7) == (0, 2, 4, 6, 8)
    assert ticks_to(0) == (0, 1)


@given(st.floats(1e-6, 1e12))
def test_ticks_cover_any_height_in_few_steps(top):
    ticks = ticks_to(top)

    assert ticks[0] == 0
    assert ticks[-1] >= top * (1 - 1e-6)
    assert ticks[-2] < top
    assert 2 <= len(ticks) <= 6


def test_steps_are_one_two_and_a_half_or_five():
    assert [step_for(top) for top in (4, 5, 9, 17, 40)] == [1, 2, 2.5, 5, 10]


def test_a_scale_runs_either_way():
    assert Scale(0, 200, 256, 56).at(50) == 206
    assert Scale(-10, 10, 0, 100).at(0) == 50


def test_a_box_without_height_is_nothing():
    assert box(10, 256, 8, 200) == "M10 256h8v-56h-8z"
    assert box(10.25, 256, 7.75, 255.5) == "M10.2 256h7.8v-0.5h-7.8z"
    assert not box(10, 256, 8, 256)
