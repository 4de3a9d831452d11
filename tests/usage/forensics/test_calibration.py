from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentmux_usage.breaks import Break, Reason
from agentmux_usage.forensics import Point, calibration


def broken(time, lost, predicted, provider="claude"):
    return Break("s", provider, 1, 2, time, lost, 0, lost, Reason.EFFORT, "because", predicted=predicted)


def test_errors_by_provider_in_the_order_of_time():
    found = calibration(
        [
            broken(3, 100, 150),
            broken(1, 100, 90),
            broken(2, 100, 100, "codex"),
            broken(4, 100, None),
            broken(2, 200, 204),
        ]
    )

    assert [(each.provider, each.count, each.median, each.p90) for each in found] == [
        ("claude", 3, 0.1, 0.5),
        ("codex", 1, 0.0, 0.0),
    ]
    assert found[0].points == (Point(1, 90, 100), Point(2, 204, 200), Point(3, 150, 100))
    assert [point.error for point in found[0].points] == [0.1, 0.02, 0.5]


def test_nothing_foretold_is_nothing_to_calibrate():
    assert calibration([broken(1, 100, None)]) == ()


@given(st.lists(st.tuples(st.integers(1, 1_000), st.integers(0, 2_000)), min_size=1))
def test_nine_of_ten_errors_do_not_pass_the_higher_figure(pairs):
    (found,) = calibration([broken(time, *pair) for time, pair in enumerate(pairs)])
    errors = [point.error for point in found.points]

    assert sum(error <= found.p90 for error in errors) >= 0.9 * len(errors)
    assert sum(error <= found.median for error in errors) >= 0.5 * len(errors)
    assert {found.median, found.p90} <= set(errors)
