from __future__ import annotations

from agentmux_usage.page.calls import call_chart, own_calls
from agentmux_usage.page.marks import DISC, DOT, Mark, placed
from agentmux_usage.response import Session


def test_a_mark_shows_what_was_stored_and_not_read(broken_session):
    session, breaks = broken_session
    inside, outside = placed(breaks, session)

    chart = call_chart(own_calls(session), inside, 100)

    assert outside == []
    assert inside == [(breaks[0], 4), (breaks[1], 8)]
    assert [tick.text for tick in chart.tokens] == ["0", "5k", "10k", "15k"]
    assert chart.marks[0] == Mark(1, 386.1, 18, 350.7, 70.7, 196.8, 59.2, DISC, breaks[0])
    assert [mark.number for mark in chart.marks] == [1, 2]


def test_a_break_stands_in_the_bar_that_holds_its_call(broken_session):
    session, breaks = broken_session
    inside, _ = placed(breaks, session)

    chart = call_chart(own_calls(session), inside, 4)

    assert [round((mark.left - 56) / chart.step) for mark in chart.marks] == [4 // 3, 8 // 3]


def test_a_break_is_found_by_its_moment_where_its_message_has_no_name(response, found):
    session = Session("claude", "one", (response(), response(60), response(120)))

    assert placed([found(60, call=700)], session) == ([(found(60, call=700), 1)], [])


def test_what_is_no_call_of_the_agent_has_no_place(response, found):
    session = Session("claude", "one", (response(), response(60, kind="subagent", thread="a", message_id="sub")))
    of_subagent, of_nobody = found(60, call=2, message_id="sub"), found(999, call=3)

    assert placed([of_subagent, of_nobody], session) == ([], [of_subagent, of_nobody])


def test_a_disc_needs_room(response, found):
    session = Session("claude", "one", tuple(response(index) for index in range(400)))
    inside, _ = placed([found(at, call=at + 1) for at in (0, 1, 2, 100)], session)

    chart = call_chart(own_calls(session), inside, 446)

    assert [mark.radius for mark in chart.marks] == [DOT, DOT, DISC, DISC]
