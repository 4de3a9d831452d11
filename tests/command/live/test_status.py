from __future__ import annotations

import pytest

from agentmux.live.status import compacts, dollars, duration, fitted, short, status, summary
from agentmux_launcher.accounting import account
from agentmux_launcher.events import Cost, End, Session, Text, Usage

CALL = Usage("call", 12, 17_000, 3_000, 0, 25, context_tokens=20_012, model="claude-sonnet-5-5", message_id="m1")
TURN = Usage("turn", 12, 17_000, 3_000, 0, 25, 0, context_window=200_000)
WHOLE = account([Session("s", "claude-sonnet-5-5"), Text("hi", "m1"), CALL, TURN, Cost(0.0094), End("end_turn")])
FULL = account([Usage("call", 12, 168_000, 0, 0, 5, context_tokens=168_012), TURN, End("end_turn")])


def line(so_far, width, seconds=42.9):
    return fitted(status("reviewer", "claude", "opus", so_far, seconds), width).plain


def test_everything_stands_in_one_line_where_there_is_room():
    expected = " reviewer · claude · claude-sonnet-5-5 · context 20.0k/200k 10% · cache 85% · $0.0094 · 0:42"
    assert line(WHOLE, 120) == expected


def test_what_nobody_knows_is_a_dash_and_never_nothing():
    assert line(account([]), 120, None) == " reviewer · claude · opus · context -/- - · cache - · $- · -"
    unknown = fitted(status(None, "claude", None, account([Usage("turn", None, None, None, None, 5)]), 0.0), 120)
    assert unknown.plain == " - · claude · - · context -/- - · cache - · $- · 0:00"


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (80, " reviewer  claude  claude-sonnet-5-5  20.0k/200k 10%  cache 85%  $0.0094  0:42"),
        (63, " claude-sonnet-5-5  20.0k/200k 10%  cache 85%  $0.0094  0:42"),
        (50, " 20.0k/200k 10%  cache 85%  $0.0094  0:42"),
        (40, " 20.0k/200k 10%  cache 85%  0:42"),
        (30, " 20.0k/200k 10%  0:42"),
        (18, " 20.0k/200k 10%"),
        (10, " 20.0k/2…"),
        (1, " …"),
    ],
)
def test_a_narrow_line_says_what_matters_most(width, expected):
    assert line(WHOLE, width) == expected


def test_a_context_that_comes_near_its_end_is_warned_of():
    assert line(FULL, 60) == " opus  168k/200k 84%, compacts soon  cache 100%  $-  0:42"
    assert line(FULL, 40) == " 168k/200k 84%, compacts soon  0:42"
    assert compacts(FULL) == "context 168k of 200k: the CLI will soon compact the conversation"


def test_a_name_cannot_drive_the_terminal():
    assert fitted(status("a\x1b[2J", "claude", "m", account([]), 0), 120).plain.startswith(" a\\x1b[2J · claude")


def test_the_closing_line():
    assert summary(WHOLE, 62.0) == "1 turn · 20,012 tokens in, 25 out · cache 85% · $0.0094 · 1:02"
    assert summary(account([Text("hi"), End("end_turn")]), None) == "1 turn · - tokens in, - out · cache - · $- · -"
    assert summary(account([]), 5.0) is None


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (None, "-"),
        (0, "0"),
        (999, "999"),
        (1_000, "1k"),
        (20_012, "20.0k"),
        (99_999, "100.0k"),
        (168_012, "168k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (1_000_000, "1M"),
        (1_048_576, "1.0M"),
    ],
)
def test_counts_in_few_letters(number, said):
    assert short(number) == said


@pytest.mark.parametrize(
    ("value", "said"), [(None, "$-"), (0.0, "$0.0000"), (0.01891, "$0.0189"), (1.234, "$1.23"), (1234.5, "$1,234.50")]
)
def test_money(value, said):
    assert dollars(value) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(None, "-"), (0, "0:00"), (59.9, "0:59"), (61, "1:01"), (3600, "1:00:00"), (36_061, "10:01:01")],
)
def test_durations(seconds, said):
    assert duration(seconds) == said
