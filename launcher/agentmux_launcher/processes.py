"""Which processes are ours, proved by more than a number: when each was started, and what its environment says."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

RUN_ID = "AGENTMUX_RUN_ID"
_PROC = Path("/proc")
_STEP = 0.02  # seconds between two looks at whether somebody is gone


@dataclass(frozen=True, slots=True)
class Known:
    """A process that cannot be taken for another: its number and when it was started."""

    pid: int
    started: str


@dataclass(frozen=True, slots=True)
class Seen:
    """A process as the system shows it now; `command` is short."""

    known: Known
    parent: int
    group: int
    session: int
    dead: bool
    command: str


def known(pid: int) -> Known:
    """A process by its number; `started` is empty where the system does not say."""
    seen = look(pid)
    return seen.known if seen else Known(pid, "")


def me() -> Known:
    return known(os.getpid())


def alive(process: Known) -> bool:
    """Whether that very process still runs; one whose start nobody noted is not taken for it."""
    seen = look(process.pid)
    return seen is not None and bool(process.started) and seen.known == process and not seen.dead


def look(pid: int) -> Seen | None:
    """One process, None where there is none."""
    if sys.platform == "win32":
        return _from_windows(pid)
    return _from_proc(pid) if _has_proc() else next((seen for seen in _from_ps() if seen.known.pid == pid), None)


def everything() -> list[Seen]:
    """All processes that the system shows, ours and strangers'; none on Windows, where job objects know them."""
    if not _has_proc():
        return list(_from_ps())
    return [seen for entry in _PROC.iterdir() if entry.name.isdigit() and (seen := _from_proc(int(entry.name)))]


def of_run(run_id: str, leaders: Iterable[Known] = ()) -> list[Seen]:
    """What a run has started and is still there, except this process.

    Those whose environment names the run, those in the sessions and groups of `leaders` (children that were started as
    the head of one, and of which something is left, be it dead), and all that descend from either.
    """
    every = everything()
    there = {seen.known for seen in every}
    processes = [seen for seen in every if not seen.dead and seen.known.pid != os.getpid()]
    heads = {leader.pid for leader in leaders if leader in there}
    ours = {seen.known.pid for seen in processes if heads & {seen.group, seen.session} or _names(seen, run_id)}
    while more := {seen.known.pid for seen in processes if seen.parent in ours} - ours:
        ours |= more
    return [seen for seen in processes if seen.known.pid in ours]


def end(processes: Callable[[], Iterable[Seen]], grace: float, *, patience: float = 0.0) -> list[Seen]:
    """End what `processes` finds, politely and after `grace` seconds not; each time what has come meanwhile, too.

    What ends by itself within `patience` seconds is not ended.

    Returns:
        Everything that had to be ended.
    """
    found: dict[Known, Seen] = {}
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and processes():
        time.sleep(_STEP)
    for number in _SIGNALS:
        found = {seen.known: seen for seen in processes()} | found
        left = [known for known in found if send(known, number)]
        deadline = time.monotonic() + grace
        while left and time.monotonic() < deadline:
            time.sleep(_STEP)
            left = [known for known in left if alive(known)]
    return list(found.values())


def send(process: Known, number: int) -> bool:
    """Signal that very process, never another one that has got its number; whether it was there."""
    with contextlib.suppress(OSError):
        if hasattr(os, "pidfd_open"):
            descriptor = os.pidfd_open(process.pid)
            try:
                if alive(process):
                    signal.pidfd_send_signal(descriptor, number)
                    return True
            finally:
                os.close(descriptor)
        elif alive(process):
            os.kill(process.pid, number)
            return True
    return False


_SIGNALS = (signal.SIGTERM,) if sys.platform == "win32" else (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL)


def _has_proc() -> bool:
    return (_PROC / "self" / "stat").exists()


def _names(seen: Seen, run_id: str) -> bool:
    """Whether the environment that a process was started with names the run."""
    try:
        environment = (_PROC / str(seen.known.pid) / "environ").read_bytes()
    except OSError:
        return False
    return f"{RUN_ID}={run_id}".encode() in environment.split(b"\0")


def _from_proc(pid: int) -> Seen | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    command, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    return Seen(
        known=Known(pid, f"{_boot()}:{fields[19]}"),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        dead=fields[0] in "ZX",
        command=command,
    )


@functools.cache
def _boot() -> str:
    """Which start of the system it was, since the clock of its processes begins with it."""
    try:
        return (_PROC / "sys" / "kernel" / "random" / "boot_id").read_text(encoding="ascii").strip()[:8]
    except OSError:
        return ""


def _from_windows(pid: int) -> Seen | None:
    from agentmux_launcher import windows_processes  # noqa: PLC0415  needs `ctypes`

    found = windows_processes.look(pid)
    return None if found is None else Seen(Known(pid, found[0]), 0, 0, 0, dead=found[1], command="")


def _from_ps() -> Iterator[Seen]:
    """As `ps` shows it, where there is no `/proc`; the session is not among what it shows everywhere."""
    if sys.platform == "win32":
        return
    listing = subprocess.run(
        ["ps", "-axo", "pid=,ppid=,pgid=,state=,lstart=,comm="],  # noqa: S607  wherever the system has it
        capture_output=True,
        check=False,
        env={"PATH": os.defpath, "LC_ALL": "C"},
    )
    for line in listing.stdout.decode("utf-8", "replace").splitlines():
        words = line.split(None, 9)
        if len(words) == 10 and words[0].isdigit():  # noqa: PLR2004  four columns, a date of five words, the command
            pid, parent, group = map(int, words[:3])
            started = " ".join(words[4:9])
            yield Seen(Known(pid, started), parent, group, 0, words[3].startswith("Z"), words[9].rpartition("/")[2])
