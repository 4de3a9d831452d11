from __future__ import annotations

from agentmux_usage.page.sessions import BARS, DRAWN, shown_sessions
from agentmux_usage.response import Session


def many(response, count, calls):
    return [
        Session(
            "claude", f"s{index:04}", tuple(response(1000 * index + at, session=f"s{index:04}") for at in range(calls))
        )
        for index in range(count)
    ]


def test_the_newest_is_first_with_its_row_and_its_breaks(response, found, report):
    old = Session("claude", "old", (response(0, session="old"), response(9, session="old", kind="side")))
    new = Session("claude", "new", (response(60, session="new"),))
    lost = found(0, session="old", usd=0.25)
    made = report([old, new], [lost])

    first, second = shown_sessions(made, [old, new])

    assert (first.number, first.session_id, first.breaks, first.lost) == (1, "new", (), 0)
    assert (second.number, second.session_id, second.breaks, second.lost) == (2, "old", (lost,), 1000)
    assert (second.calls, second.side_calls, second.subagent_calls, second.lost_usd) == (1, 1, 0, 0.25)
    assert second.measures == next(row.measures for row in made.rows if row.key == "old")


def test_a_session_of_the_same_id_on_another_provider_is_another(response, found, report):
    one = Session("claude", "same", (response(session="same"),))
    two = Session("qwen", "same", (response(60, session="same", provider="qwen"),))
    lost = found(60, session="same", provider="qwen")

    shown = shown_sessions(report([one, two], [lost]), [one, two])

    assert [(each.provider, each.breaks) for each in shown] == [("qwen", (lost,)), ("claude", ())]


def test_an_empty_session_is_not_shown(report):
    empty = Session("claude", "one", ())

    assert shown_sessions(report([empty]), [empty]) == ()


def test_too_many_calls_share_bars(response, report):
    sessions = many(response, 3, 4000)

    shown = shown_sessions(report(sessions), sessions)

    assert [len(each.chart.bars) for each in shown] == [445, 445, 445]
    assert sum(len(each.chart.bars) for each in shown) <= BARS


def test_too_many_sessions_are_listed_but_not_drawn(response, report):
    sessions = many(response, DRAWN + 5, 1)

    shown = shown_sessions(report(sessions), sessions)

    assert len(shown) == DRAWN + 5
    assert sum(each.chart is not None for each in shown) == DRAWN


def test_all_bars_together_have_a_limit(response, report):
    sessions = many(response, 100, 200)

    shown = shown_sessions(report(sessions), sessions)

    assert sum(len(each.chart.bars) for each in shown) <= BARS
    assert {each.chart.per_bar for each in shown} == {3}
