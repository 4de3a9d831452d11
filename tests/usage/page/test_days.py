from __future__ import annotations

import pytest

from agentmux_usage.page.days import day_chart
from agentmux_usage.zone import UTC, named

DAY = 86_400


def sums(chart):
    return {each.agent: each.values for each in chart.series}


def by_read(response):
    return response.tokens.cache_read / 100


def test_dollars_by_agent_and_day(response):
    responses = [response(read=150), response(60, read=50), response(2 * DAY, read=300, agent="tester")]

    chart = day_chart(responses, UTC, by_read)

    assert (chart.priced, chart.period, chart.unpriced) == (True, "day", 0)
    assert chart.periods == ("2026-06-01", "2026-06-02", "2026-06-03")
    assert sums(chart) == {"tester": (None, None, 3), "reviewer": (2, None, None)}
    assert chart.totals == (2, None, 3)
    assert [each.path.count("M") for each in chart.series] == [1, 1]
    assert [tick.text for tick in chart.values] == ["$0", "$1", "$2", "$3"]


def test_a_day_is_one_of_the_zone(response):
    late = response(11 * 3600)

    assert day_chart([late], UTC, by_read).periods == ("2026-06-01",)
    zone = named("Asia/Tokyo")
    if zone is None:
        pytest.skip("no time zone data on this machine")
    assert day_chart([late], zone, by_read).periods == ("2026-06-02",)


def test_without_any_price_the_columns_count_tokens(response):
    chart = day_chart([response(read=1000, wrote=30, uncached=12)], UTC, lambda _: None)

    assert not chart.priced
    assert sums(chart) == {"reviewer": (42,)}
    assert chart.text(42) == "42"


def test_what_has_no_price_is_counted_and_in_no_column(response):
    responses = [response(read=100), response(60, model="x")]

    chart = day_chart(responses, UTC, lambda one: None if one.model == "x" else 1.5)

    assert (chart.unpriced, sums(chart)) == (1, {"reviewer": (1.5,)})


def test_an_agent_without_any_price_has_no_cost_rather_than_none(response):
    responses = [response(read=100), response(DAY, model="x", agent="tester")]

    chart = day_chart(responses, UTC, lambda one: None if one.model == "x" else 1.5)

    assert sums(chart) == {"reviewer": (1.5, None), "tester": (None, None)}
    assert [chart.text(each.total) for each in chart.series] == ["$1.50", "\N{EN DASH}"]
    assert [chart.cell(total) for total in chart.totals] == ["$1.50", ""]


def test_the_costliest_have_a_colour_each_and_the_rest_one(response):
    responses = [response(read=100 * index, agent=f"agent-{index}") for index in range(1, 11)]

    chart = day_chart(responses, UTC, by_read)

    assert [(each.agent, each.colour, each.total) for each in chart.series] == [
        *((f"agent-{10 - colour}", colour, 10 - colour) for colour in range(7)),
        ("3 others", 7, 6),
    ]
    assert (chart.series[0].agent, chart.series[0].total) == ("agent-10", 10)


def test_nobody_is_named_by_the_provider(response):
    assert sums(day_chart([response(read=100, agent=None)], UTC, by_read)) == {"claude, no agent": (1,)}


def test_long_times_are_shown_by_week_and_month(response):
    weeks = day_chart([response(), response(100 * DAY)], UTC, by_read)
    months = day_chart([response(), response(700 * DAY)], UTC, by_read)

    assert (weeks.period, weeks.periods[:2], len(weeks.periods)) == ("week", ("2026-06-01", "2026-06-08"), 15)
    assert (months.period, months.periods[:2], len(months.periods)) == ("month", ("2026-06", "2026-07"), 24)


def test_nothing_has_no_columns():
    chart = day_chart([], UTC, by_read)

    assert (chart.periods, chart.series, chart.totals) == ((), (), ())


@pytest.mark.parametrize(
    ("days", "period", "periods"),
    [
        (61, "day", 62),
        (62, "week", 9),
        (62 * 7, "month", 15),
        (62 * 31, "year", 6),
        (62 * 366, "year", 63),
        (2_900_000, "year", 2),
    ],
)
def test_periods_are_as_long_as_lets_them_be_told_apart(response, days, period, periods):
    chart = day_chart([response(), response(days * DAY)], UTC, by_read)

    assert (chart.period, len(chart.periods)) == (period, periods)
    assert {len(each) for each in chart.periods} == {{"year": 4, "month": 7}.get(period, 10)}
