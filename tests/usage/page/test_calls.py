from __future__ import annotations

from dataclasses import replace

from agentmux_launcher.usage import Tokens
from agentmux_usage.page.calls import BOTTOM, LEFT, TOP, Bar, call_chart, own_calls
from agentmux_usage.page.scales import Tick
from agentmux_usage.response import Session


def numbered(*responses):
    return tuple(enumerate(responses, 1))


def drawn(chart, layer):
    return dict(chart.paths)[layer].count("M")


def test_a_bar_is_a_call(response):
    one = response(read=0, wrote=900, uncached=100)
    two = response(60, read=900, wrote=50, uncached=0, turn=2)

    chart = call_chart(numbered(one, two), (), 100)

    assert chart.bars == (
        Bar(1, 1, 1, one.time, 0, 900, 100, 20),
        Bar(2, 2, 2, two.time, 900, 50, 0, 20),
    )
    assert (drawn(chart, "read"), drawn(chart, "written"), drawn(chart, "uncached")) == (1, 2, 1)
    assert chart.turns == (Tick(LEFT, "1"), Tick(LEFT + 73.7, "2"))
    assert [tick.text for tick in chart.tokens] == ["0", "250", "500", "750", "1k"]
    assert (chart.tokens[0].at, chart.tokens[-1].at) == (BOTTOM, TOP)


def test_the_paths_are_stacked_to_scale(response):
    chart = call_chart(numbered(response(read=500, wrote=250, uncached=250)), (), 100)

    assert dict(chart.paths) == {
        "read": "M56 256h70.7v-111h-70.7z",
        "written": "M56 145h70.7v-55.5h-70.7z",
        "uncached": "M56 89.5h70.7v-55.5h-70.7z",
    }


def test_many_calls_share_bars(response):
    calls = [response(index, read=100 * index, uncached=0) for index in range(10)]

    chart = call_chart(numbered(*calls), (), 4)

    assert chart.per_bar == 3
    assert [(bar.first, bar.last, bar.read) for bar in chart.bars] == [
        (1, 3, 100),
        (4, 6, 400),
        (7, 9, 700),
        (10, 10, 900),
    ]


def test_what_is_not_known_is_no_zero(response):
    unknown = replace(response(), tokens=Tokens(output=5))

    chart = call_chart(numbered(unknown), (), 10)

    assert chart.bars == (Bar(1, 1, 1, unknown.time, None, None, None, 5),)
    assert [path for _, path in chart.paths] == ["", "", ""]


def test_a_whole_turn_is_the_mean_of_its_calls(response):
    turn = response(read=900, wrote=0, uncached=90, output=30, calls=3)

    chart = call_chart(numbered(turn), (), 10)

    assert not chart.whole
    assert chart.bars == (Bar(1, 1, 1, turn.time, 300, 0, 30, 10),)


def test_calls_keep_their_number_among_all_of_the_session(response):
    main, side, sub, last = response(), response(1, kind="side"), response(2, kind="subagent", thread="a"), response(3)

    assert own_calls(Session("claude", "one", (main, side, sub, last))) == ((1, main), (4, last))


def test_turns_are_numbered_where_there_is_room(response):
    calls = [response(index, turn=index + 1) for index in range(100)]

    chart = call_chart(numbered(*calls), (), 100)

    assert [tick.text for tick in chart.turns[:3]] == ["1", "5", "9"]
    assert len(chart.turns) == 25
