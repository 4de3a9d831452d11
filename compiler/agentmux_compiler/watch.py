"""Rebuild on every edit of a source.

What the system says of files is only a reason to look: whether a source changed is decided by its bytes, against
those the last build read. So neither an output, nor a touched file, nor an editor's temporary file causes a build,
and an edit that falls into a build is found after it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentmux_compiler.report import BuildReport
from agentmux_compiler.tree import DiskTree, Trace
from agentmux_compiler.writing.present_state import PresentState

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    Clock = Callable[[], float]
    Folders = Mapping[str, tuple[int, int]]
    Ticks = Callable[[Iterable[Path]], Iterator[bool]]

QUIET = 0.06
LONGEST = 2.0
TICK_MS = 50
STEP_MS = 10
OURS = (".agentmux",)


@dataclass(frozen=True, slots=True)
class Round:
    """One build: what it reported, what it read, and the seconds it took.

    `blocked` is the state of the outputs that kept it from writing: there it may change without any source.
    """

    report: BuildReport
    trace: Trace
    seconds: float = 0.0
    blocked: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listener:
    """Who hears of each build, and of each that could not read or write what it needed."""

    built: Callable[[Round], None]
    failed: Callable[[OSError], None]


def watch(
    root: Path, build: Callable[[], Round], listener: Listener, ticks: Ticks, clock: Clock = time.monotonic
) -> None:
    """Build now and after every burst of events in which a source changed, until `ticks` ends.

    `ticks` watches folders (not what is below them) and yields about every 50 ms whether anything happened. A build
    that failed is tried again at the next event, whatever it was about.

    Raises:
        OSError: the project's folder is gone.
    """
    last: Round | None = None
    failed = False
    while True:
        folders = watched(root, last)
        for _ in bursts(ticks([root / folder for folder in folders]), clock):
            try:
                if failed or last is None or stale(root, last):
                    last, failed = build(), False
                    listener.built(last)
            except OSError as error:
                failed = True
                listener.failed(error)
            if watched(root, last) != folders:
                break
        else:
            return


def bursts(ticks: Iterable[bool], clock: Clock) -> Iterator[None]:
    """Once when the watcher is up, then at the trailing edge of each burst.

    A burst ends after 60 ms without an event, or after 2 s however busy it is.
    """
    first = latest = 0.0
    waiting = up = False
    for happened in ticks:
        now = clock()
        if not up:
            up = True
            yield
        if happened:
            first, latest = (first if waiting else now), now
            waiting = True
        if waiting and (now - latest >= QUIET or now - first >= LONGEST):
            waiting = False
            yield


def watched(root: Path, last: Round | None) -> Folders:
    """Folders to watch, each with its identity: those a build read from and all above them, as far as they exist."""
    paths = ["agents.d"] if last is None else [*last.trace.folders, *map(_parent, (*last.trace.files, *last.blocked))]
    every = {above for path in paths for above in _with_parents(path)}
    found = {path: identity for path in sorted(every) if (identity := _identity(root / path))}
    return {"": _identity(root) or (0, 0), **found}


def stale(root: Path, last: Round) -> bool:
    """Whether a source differs from what the last build read. What that build itself wrote does not count."""
    present = PresentState(root)
    if any(present.output(path) != known for path, known in last.blocked.items()):
        return True
    tree = DiskTree(root)
    written = {file.path for file in last.report.files}
    ours = {*OURS, *(above for path in written for above in _with_parents(path))}
    for path in last.trace.files.keys() - written:
        tree.read(path)
    for folder in last.trace.folders:
        tree.names(folder)
    if any(tree.executable(path) != known for path, known in last.trace.executables.items()):
        return True
    now = tree.trace
    return any(last.trace.files[path] != digest for path, digest in now.files.items()) or any(
        _foreign(folder, names, ours) != _foreign(folder, last.trace.folders[folder], ours)
        for folder, names in now.folders.items()
    )


def events(root_folders: Iterable[Path], stop: threading.Event) -> Iterator[bool]:
    """What the system says, as `watch` wants it; ends when `stop` is set."""
    from watchfiles import watch as watch_files  # noqa: PLC0415  slow to import

    changes = watch_files(
        *root_folders,
        watch_filter=None,
        debounce=TICK_MS,
        step=STEP_MS,
        rust_timeout=TICK_MS,
        yield_on_timeout=True,
        stop_event=stop,
        recursive=False,
    )
    return (bool(found) for found in changes)


def _foreign(folder: str, names: Iterable[str], ours: set[str]) -> tuple[str, ...]:
    prefix = "" if folder in {"", "."} else f"{folder}/"
    return tuple(name for name in names if prefix + name.rstrip("/") not in ours)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _with_parents(path: str) -> Iterator[str]:
    while path not in {"", "."}:
        yield path
        path = _parent(path)


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a folder from another one that was later created in its place."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if path.is_dir() else None
