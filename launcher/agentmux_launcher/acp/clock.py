"""How long an agent may take: so many seconds for a step towards a session, so much silence in a turn."""

from __future__ import annotations

import enum
import time
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmux_launcher.manifest import AcpPlan
    from agentmux_launcher.supervise import Grace

_NO_EOF, _NO_SIGTERM = 3.0, 0.5  # seconds for what an agent is known not to heed


class Due(enum.Enum):
    """What has come."""

    NOTHING = enum.auto()
    REMARK = enum.auto()
    END = enum.auto()


class Clock:
    """Times are those of `time.monotonic`."""

    def __init__(self, acp: AcpPlan) -> None:
        self._silent = acp.silent_seconds
        self._quiet = min(acp.quiet_seconds, acp.silent_seconds)
        self._due: float | None = None
        self._heard_at = 0.0
        self._in_turn = self._remarked = False

    def step(self, seconds: float) -> None:
        """A step begins that may take so long."""
        self._due, self._in_turn = time.monotonic() + seconds, False

    def turn(self) -> None:
        """A turn begins."""
        self._in_turn = True
        self.heard()
        self._due = self._heard_at + self._quiet

    def stop(self) -> None:
        self._due = None

    def heard(self) -> None:
        """The agent wrote something."""
        self._heard_at = time.monotonic()
        self._remarked = False

    @property
    def silence(self) -> float:
        return time.monotonic() - self._heard_at

    def remaining(self) -> float | None:
        return None if self._due is None else max(0.0, self._due - time.monotonic())

    def look(self, *, busy: bool) -> Due:
        """What is due. `busy`: it is not the agent who is waited for."""
        if self._due is None or time.monotonic() < self._due:
            return Due.NOTHING
        if not self._in_turn or (self.silence >= self._silent and not busy):
            return Due.END
        if busy:
            self.heard()
        if self.silence < self._quiet or self._remarked:
            self._due = self._heard_at + (self._silent if self._remarked else self._quiet)
            return Due.NOTHING
        self._remarked = True
        self._due = self._heard_at + self._silent
        return Due.REMARK


def fitting(grace: Grace, acp: AcpPlan) -> Grace:
    """The time at each rung, hardly any for what the agent does not heed."""
    finished = grace.finished if acp.ends_at_eof else min(grace.finished, _NO_EOF)
    terminated = grace.terminated if acp.ends_at_sigterm else min(grace.terminated, _NO_SIGTERM)
    return replace(grace, finished=finished, terminated=terminated)
