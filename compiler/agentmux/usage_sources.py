"""Where `agentmux usage` looks: our ledger, the folders of the CLIs, or paths that were named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentmux.clis import shown
from agentmux.errors import CannotRun
from agentmux_launcher.ledger import LedgerError, path_of
from agentmux_usage.breaks import Break
from agentmux_usage.from_ledger import Kept, read
from agentmux_usage.joined import joined
from agentmux_usage.response import Session

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from agentmux_usage.report import Asked


@dataclass(slots=True)
class Found:
    """What there is to report on, and how the breaks of a session are found.

    `sources` are what holds something, `looked` all places. `notes` are complete when the last session has been read.
    """

    sessions: Iterable[Session]
    breaks_of: Callable[[Session], Sequence[Break]]
    sources: list[str] = field(default_factory=list)
    looked: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def found(paths: Sequence[str], _asked: Asked, environ: Mapping[str, str]) -> Found:
    """The sessions of the paths; without any, those of the ledger and of all CLIs that have left transcripts.

    Raises:
        CannotRun: a path is not there, or cannot be read as anybody's; the ledger cannot be read.
    """
    ledger = path_of(environ)
    kept = _kept(ledger)
    there = Found((), lambda _: ())
    there.looked.append(f"{shown(ledger, environ)}{'' if ledger.exists() else ' (not there)'}")
    if kept.responses and not paths:
        there.sources.append(shown(ledger, environ))
    there.sessions = joined(kept, (), only_told=bool(paths))
    return there


def _kept(ledger: Path) -> Kept:
    try:
        return read(ledger)
    except LedgerError as error:
        remedy = "if it is broken beyond repair, move it away: the next run makes a new one"
        raise CannotRun(f"the ledger cannot be read: {error}", remedy=remedy) from error
