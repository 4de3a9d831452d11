"""What has to pass before a CLI may go on with a session that it would lose."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmux.streams import Stream
    from agentmux_launcher.ledger import Session
    from agentmux_launcher.manifest import LaunchPlan

MINUTE = 60


def let_it_pass(session: Session, plan: LaunchPlan, err: Stream) -> None:
    """Wait until a CLI may load the session, and say so."""
    seconds = to_wait(session, plan, time.time())
    if seconds:
        err.line(f"waiting {seconds:.0f} seconds: `{plan.provider}` loses a session that it loads in its first minute")
        time.sleep(seconds)


def to_wait(session: Session, plan: LaunchPlan, now: float) -> float:
    """How many seconds are left of the minute of the clock in which the session may have begun; 0 where none matter.

    Nobody notes when a session began: that it was not used in this minute is enough.
    """
    if plan.acp is None or plan.acp.loads_at_once or session.updated // MINUTE != now // MINUTE:
        return 0.0
    return MINUTE - now % MINUTE
