"""What is said of a ledger that cannot be read."""

from __future__ import annotations

import os

from agentmux.errors import CannotRun
from agentmux_launcher.ledger import LedgerError, path_of


def unreadable(error: Exception) -> CannotRun:
    named = "" if isinstance(error, LedgerError) else f"`{path_of(os.environ)}`: "
    remedy = "if it is broken beyond repair, move it away: the next run makes a new one"
    return CannotRun(f"the ledger cannot be read: {named}{error}", remedy=remedy)
