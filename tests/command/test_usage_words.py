"""Figures as people read them."""

from __future__ import annotations

import pytest

from agentmux.usage.words import duration, money, percent, ratio, tokens


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (None, "-"),
        (0, "0"),
        (999, "999"),
        (1_000, "1.00k"),
        (-1_200, "-1.20k"),
        (12_345, "12.3k"),
        (99_949, "99.9k"),
        (99_960, "100k"),
        (999_499, "999k"),
        (999_600, "1.00M"),
        (1_310_000, "1.31M"),
        (20_620_000, "20.6M"),
        (5_450_000_000, "5.45G"),
    ],
)
def test_tokens(count, text):
    assert tokens(count) == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [(None, "-"), (0.0, "$0.00"), (0.00001, "<$0.0001"), (0.0042, "$0.0042"), (1.31, "$1.31"), (12345.6, "$12,345.60")],
)
def test_money(usd, text):
    assert money(usd) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (0.04, "0.0 s"),
        (30, "30 s"),
        (119.4, "119 s"),
        (1287, "21 min"),
        (3600, "1 h 00 min"),
        (3899, "1 h 05 min"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_parts():
    assert [ratio(value) for value in (None, 2.91, 9.94, 9.96, 52.2)] == ["-", "2.9x", "9.9x", "10x", "52x"]
    assert [percent(value) for value in (None, 0, 96.87)] == ["-", "0.0%", "96.9%"]
