"""`agentmux stop`: end runs from another shell, and nothing else."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

from agentmux.commands.ps import runs
from agentmux.errors import DONE, FINDINGS
from agentmux.run_names import find, unnamed
from agentmux_launcher import processes

if TYPE_CHECKING:
    import argparse

    from agentmux.streams import Streams
    from agentmux_launcher.ledger import Run

# More than the whole ladder takes.
LONGEST, POLL = 20.0, 0.05
LEFT = 3.0


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    if not arguments.runs:
        raise unnamed("stop")
    known = runs()
    chosen = [find(name, known, arguments.project) for name in arguments.runs]
    return max([_stop(each, streams) for each in chosen], default=DONE)


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
