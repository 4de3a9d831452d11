"""`agentmux stop`: end runs from another shell, and nothing else."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from agentmux.commands.ps import runs
from agentmux.errors import DONE, FINDINGS, CannotRun
from agentmux_compiler.suggest import did_you_mean
from agentmux_launcher import processes

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from agentmux.streams import Streams
    from agentmux_launcher.ledger import Run

# More than the whole ladder takes.
LONGEST, POLL = 20.0, 0.05
LEFT = 3.0


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    known = runs()
    chosen = [find(name, known) for name in arguments.runs]
    return max([_stop(each, streams) for each in chosen], default=DONE)


def find(name: str, known: Sequence[Run]) -> Run:
    """The run of an id, or of the beginning of one.

    Raises:
        CannotRun: there is none, or more than one.
    """
    named = [each for each in known if each.run_id == name]
    found = named or [each for each in known if name and each.run_id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise CannotRun(f"`{name}` is the beginning of {len(found)} runs")
    ids = [each.run_id for each in known]
    raise CannotRun(f"no run `{name}`", remedy=did_you_mean(name, ids) or "`agentmux ps --all` lists them")


def _stop(run: Run, streams: Streams) -> int:
    """Ask its launcher, which knows how; what is left of a run without one is ended from here."""
    ran = processes.send(run.launcher, signal.SIGTERM)
    if ran:
        deadline = time.monotonic() + LONGEST
        while processes.alive(run.launcher) and time.monotonic() < deadline:
            time.sleep(POLL)
    if processes.alive(run.launcher):
        streams.err.line(f"`{run.run_id}` does not end")
        return FINDINGS
    leaders = [run.child] if run.child else []
    left = processes.end(lambda: processes.of_run(run.run_id, leaders), LEFT)
    for seen in left:
        streams.err.line(f"ended what was left of `{run.run_id}`: `{seen.command}` (process {seen.known.pid})")
    if not ran and not left:
        streams.err.line(f"`{run.run_id}` has ended before")
    return DONE
