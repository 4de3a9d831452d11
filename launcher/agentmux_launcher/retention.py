"""Which folders of runs are kept, and how the others go: only ours, only of runs that have ended, never by a link."""

from __future__ import annotations

import calendar
import contextlib
import json
import os
import re
import stat
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_launcher.codec import from_json
from agentmux_launcher.processes import Known, alive
from agentmux_launcher.run_folder import FRAMES, LAUNCHER, PLAN, PROCESSES, RUNS, STDERR

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400
PATIENCE = 0.5  # seconds that one pruning may take; the next goes on
_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}", re.ASCII)
_TIME = "%Y%m%d-%H%M%S"
# The record goes last, so that what is left of a folder is known for ours.
_FILES = (FRAMES, STDERR, PROCESSES, PLAN, LAUNCHER)


@dataclass(frozen=True, slots=True)
class Keep:
    """The latest `runs`, however old, and all others for `days` after they were last written to."""

    days: int = 30
    runs: int = 50


USUAL = Keep()


def prune(project: Path, keep: Keep, now: float, patience: float = PATIENCE) -> list[str]:
    """Remove what need not be kept, the oldest first; the ids of the runs whose folders are gone.

    What cannot be read or removed stays. Any number of processes may prune at once.
    """
    deadline = time.monotonic() + patience
    folders = _folders(project / RUNS)
    gone = []
    for folder in folders[: max(0, len(folders) - keep.runs)]:
        if time.monotonic() > deadline:
            break
        if _may_go(folder, now - keep.days * DAY) and _remove(folder):
            gone.append(folder.name)
    return gone


def _folders(runs: Path) -> list[Path]:
    """Folders with the name of a run, the oldest first."""
    try:
        if not all(_is_folder(each) for each in (runs.parent, runs)):
            return []
        names = sorted(name for name in os.listdir(runs) if _ID.fullmatch(name))  # noqa: PTH208  names are enough
    except OSError:
        return []
    return [runs / name for name in names if _is_folder(runs / name)]


def _is_folder(path: Path) -> bool:
    """Whether a folder itself stands there, no link to one; a junction of Windows is a link too."""
    with contextlib.suppress(OSError):
        status = os.lstat(path)
        return stat.S_ISDIR(status.st_mode) and not getattr(status, "st_reparse_tag", 0)
    return False


def _may_go(folder: Path, before: float) -> bool:
    """Whether a folder is ours, was last written to before a time, and its launcher does not run any more."""
    try:
        names = os.listdir(folder)  # noqa: PTH208  names are enough
        begun = calendar.timegm(time.strptime(folder.name.rpartition("-")[0], _TIME))
        written = max([begun, *(os.lstat(folder / name).st_mtime for name in names)])
    except (OSError, ValueError):
        return False
    ours = not names or PLAN in names or LAUNCHER in names
    return ours and written < before and not _runs(folder)


def _runs(folder: Path) -> bool:
    try:
        if (folder / LAUNCHER).is_symlink():
            return True
        return alive(from_json(Known, json.loads((folder / LAUNCHER).read_bytes())))
    except FileNotFoundError:
        return False
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return True


def _remove(folder: Path) -> bool:
    """Our own files, then the folder, if nothing else is in it; whether it is gone."""
    with contextlib.suppress(OSError):
        for name in _FILES:
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
    return not os.path.lexists(folder)
