from __future__ import annotations

from agentmux_usage.breaks import Reason
from agentmux_usage.page.causes import Cause, causes


def test_the_largest_loss_is_first(found):
    breaks = [
        found(expected=100, usd=0.5),
        found(60, expected=50, reason=Reason.MODEL),
        found(90, expected=300, reason=Reason.LIFETIME, usd=1.0),
        found(95, expected=100, reason=Reason.LIFETIME),
    ]

    assert causes(breaks) == (
        Cause("lifetime", 2, 400, 1.0, 100.0),
        Cause("server", 1, 100, 0.5, 25.0),
        Cause("model", 1, 50, None, 12.5),
    )
    assert causes([]) == ()
