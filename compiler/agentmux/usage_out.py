"""What `agentmux usage` gives away: one page of HTML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentmux_usage.priced import usd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux.streams import Stream
    from agentmux_usage.grouping import By
    from agentmux_usage.measures import Report
    from agentmux_usage.response import Session

# The tables of the page besides that of sessions.
GROUPS: tuple[By, ...] = ("agent", "provider", "model", "day")


def write_page(path: str, reports: Sequence[Report], sessions: Sequence[Session], err: Stream) -> None:
    """Write the page; the first report is by session, the others are tables of their own.

    Raises:
        OSError: it cannot be written.
    """
    from agentmux_usage.page import page  # noqa: PLC0415  loads jinja2

    text = page(reports[0], sessions, price=usd, groups=reports[1:])
    Path(path).write_bytes(text.encode("utf-8", "backslashreplace"))
    err.line(f"wrote `{path}`")
