from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_usage.page import words
from agentmux_usage.zone import UTC


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (None, words.UNKNOWN),
        (0, "0"),
        (950, "950"),
        (999.4, "999"),
        (999.9, "1.00k"),
        (1000, "1.00k"),
        (50_200, "50.2k"),
        (185_000, "185k"),
        (999_499, "999k"),
        (999_900, "1.00M"),
        (7_983_112, "7.98M"),
        (6_432_000_000, "6.43G"),
    ],
)
def test_counts_have_three_digits(count, text):
    assert words.compact(count) == text


@given(st.integers(1, 10**12))
def test_a_short_count_is_within_half_a_percent(count):
    text = words.compact(count)
    unit = {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1], 1)

    assert math.isclose(float(text.rstrip("kMG")) * unit, count, rel_tol=0.005001)


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (None, words.UNKNOWN),
        (0.0, "$0.00"),
        (0.0042, "$0.0042"),
        (0.00012, "$0.00012"),
        (1.306, "$1.31"),
        (1234.5, "$1,234"),
    ],
)
def test_dollars(usd, text):
    assert words.dollars(usd) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, words.UNKNOWN), (42.4, "42 s"), (1264, "21 min 04 s"), (3599.6, "1 h 00 min"), (7_500, "2 h 05 min")],
)
def test_durations(seconds, text):
    assert words.duration(seconds) == text


def test_ratios_and_shares():
    assert [words.times(value) for value in (None, 5.578, 52.2, 1227.6)] == [
        words.UNKNOWN,
        "5.58\N{MULTIPLICATION SIGN}",
        "52\N{MULTIPLICATION SIGN}",
        "1,228\N{MULTIPLICATION SIGN}",
    ]
    assert [words.percent(value) for value in (None, 96.94)] == [words.UNKNOWN, "96.9%"]
    assert [words.exact(value) for value in (None, 7_983_112)] == [words.UNKNOWN, "7,983,112"]


def test_an_axis_has_no_zeros_to_spare():
    assert [words.tick(text) for text in ("50.0k", "2.50M", "$8.00", "$0.30", "150k", "0")] == [
        "50k",
        "2.5M",
        "$8",
        "$0.30",
        "150k",
        "0",
    ]


def test_a_moment_stands_in_its_zone():
    assert words.moment(1_780_315_200.0, UTC) == "2026-06-01 12:00"
    assert words.clock(1_780_315_207.9, words.zone_of("UTC")) == "12:00:07"
    assert words.zone_of("local time (XYZ)").name == "local time (XYZ)"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no name", (("no name", False),)),
        ("`a` and `b.md` changed", (("a", True), (" and ", False), ("b.md", True), (" changed", False))),
        ("one ` alone", (("one ` alone", False),)),
        ("`` stays", (("`` stays", False),)),
        ("", ()),
    ],
)
def test_names_between_backticks_are_told_from_words(text, found):
    assert words.pieces(text) == found
