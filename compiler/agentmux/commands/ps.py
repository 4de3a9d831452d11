"""`agentmux ps`: what runs."""

from __future__ import annotations

import datetime as dt
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentmux.broken_ledger import unreadable
from agentmux.errors import DONE
from agentmux.table import table
from agentmux_compiler.render.paint import Paint
from agentmux_launcher.ledger import UNREADABLE, Ledger, path_of
from agentmux_launcher.run_folder import PROCESSES

if TYPE_CHECKING:
    import argparse

    from agentmux.streams import Streams
    from agentmux_launcher.ledger import Run

HEAD = ("RUN", "AGENT", "PROVIDER", "STATE", "STARTED", "PROCESS", "KEPT", "SESSION", "PROJECT")


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    found = [each for each in runs() if arguments.all or each.running]
    if arguments.format == "json":
        value = {"format_version": 1, "runs": [as_json(each) for each in found]}
        streams.out.line(json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1))
    elif found:
        streams.out.write(table(HEAD, [_row(each) for each in found], Paint(streams.out.color)))
    else:
        streams.err.line("nothing runs")
    return DONE


def runs() -> list[Run]:
    """Every run that the ledger knows.

    Raises:
        CannotRun: there is a ledger that cannot be read.
    """
    path = path_of(os.environ)
    if not path.exists():
        return []
    try:
        with Ledger(path) as ledger:
            return ledger.runs()
    except UNREADABLE as error:
        raise unreadable(error) from error


def state(run: Run) -> str:
    """Whether it runs, how it ended, or that its launcher went without a word."""
    if run.ended is not None:
        return f"exit {run.exit_code}"
    return "running" if run.running else "lost"


def kept(run: Run) -> bool:
    """Whether what its CLI wrote is still there."""
    return (Path(run.folder) / PROCESSES).exists()


def as_json(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "project": run.project,
        "agent": run.agent,
        "provider": run.provider,
        "model": run.model,
        "session_id": run.session_id,
        "state": "ended" if run.ended is not None else state(run),
        "exit_code": run.exit_code,
        "pid": run.pid,
        "child_pid": run.child_pid,
        "kept": kept(run),
        "started": _iso(run.started),
        "ended": None if run.ended is None else _iso(run.ended),
    }


def _row(run: Run) -> tuple[str, ...]:
    seconds = max(0, int((run.ended or time.time()) - run.started))  # the clock may have been set back
    age = f"{_iso(run.started)} ({seconds // 60}:{seconds % 60:02})"
    frames = "yes" if kept(run) else "no"
    named = (run.run_id, run.agent, run.provider, state(run), age, str(run.pid), frames)
    return (*named, run.session_id or "", run.project)


def _iso(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
