from __future__ import annotations

from agentmux_usage.page.calibration import BOTTOM, LEFT, RIGHT, TOP, calibration
from agentmux_usage.zone import UTC


def test_errors_are_parts_of_all_that_was_lost(found):
    shown = calibration([found(0, predicted=1100), found(86_400, expected=3000, predicted=2800), found(5)], UTC)

    assert (shown.error, shown.bias) == (7.5, -2.5)
    assert [point.error for point in shown.points] == [10, -100 * 200 / 3000]
    assert [tick.text for tick in shown.moments] == ["2026-06-01", "2026-06-02"]


def test_a_point_on_the_line_was_foretold_exactly(found):
    (point,) = calibration([found(expected=4000, predicted=4000)], UTC).points

    assert (point.x, point.y) == (RIGHT, TOP)
    assert (point.error, point.error_y) == (0, (TOP + BOTTOM) / 2)


def test_an_error_beyond_the_picture_stands_at_its_edge(found):
    (point,) = calibration([found(expected=100, predicted=1000)], UTC).points

    assert (point.error, point.error_y) == (900, TOP)
    assert point.x == RIGHT
    assert point.y == BOTTOM - (BOTTOM - TOP) / 10
    assert LEFT < point.error_x < RIGHT


def test_without_predictions_there_is_no_picture(found):
    assert calibration([found()], UTC) is None
    assert calibration([], UTC) is None
