"""A call for which the cache served less than the calls before it had stored, and why."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Reason(enum.StrEnum):
    """Why a cache served less than it had; each is given on evidence, the strongest first."""

    LIFETIME = "lifetime"
    MODEL = "model"
    EFFORT = "effort"
    TOOLS = "tools"
    INSTRUCTIONS = "instructions"
    PERMISSION = "permission"
    COMPACTION = "compaction"
    CLI_VERSION = "cli-version"
    SUBAGENT = "subagent"
    CONCURRENT = "concurrent"
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class Line:
    """A place in the sources, as it stood when the plan of the break was built."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Break:
    """A call that read less from the cache than was stored.

    `turn` and `call` (both from 1) say which of the session's. `expected` is what was read and written before,
    `observed` what was read, `lost` the difference; `usd` what reading it would have saved, null where no price is
    known. `evidence` is one sentence with the figures that the reason rests on. `line` is the source line that caused
    it, and `predicted` what the comparison of the two plans said would be lost; both only where the ledger knows them.
    """

    session_id: str
    provider: str
    turn: int
    call: int
    time: float
    expected: int
    observed: int
    lost: int
    reason: Reason
    evidence: str
    usd: float | None = None
    line: Line | None = None
    predicted: int | None = None
    message_id: str | None = None
