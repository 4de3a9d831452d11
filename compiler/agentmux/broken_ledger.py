"""What is said of a ledger that cannot be read."""

from __future__ import annotations

import os

from agentmux.errors import CannotRun
from agentmux_launcher.ledger import LedgerError, path_of

# By words of what went wrong; a ledger is only to be moved away where nothing else helps.
_REMEDIES = {
    "newer agentmux": "use that version, or a later one: `pip install --upgrade agentmux-cli`",
    "permission denied": "let this user read it, or name another folder in `AGENTMUX_HOME`",
    "database or disk is full": "free some room on its disk",
}
_LAST = "if it is broken beyond repair, move it away: the next run makes a new one"


def unreadable(error: Exception) -> CannotRun:
    named = "" if isinstance(error, LedgerError) else f"`{path_of(os.environ)}`: "
    said = f"{named}{error}"
    remedy = next((remedy for words, remedy in _REMEDIES.items() if words in said), _LAST)
    return CannotRun(f"the ledger cannot be read: {said}", remedy=remedy)
