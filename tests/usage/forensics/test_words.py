from __future__ import annotations

import pytest

from agentmux_usage.forensics.words import span


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (0.04, "0 s"),
        (2.5, "2.5 s"),
        (9.96, "10 s"),
        (40, "40 s"),
        (60, "1 min"),
        (725, "12 min 5 s"),
        (3_600, "1 h"),
        (3_661, "1 h 1 min"),
        (86_400, "1 d"),
        (183_600, "2 d 3 h"),
    ],
)
def test_a_time_in_its_two_largest_units(seconds, said):
    assert span(seconds) == said
