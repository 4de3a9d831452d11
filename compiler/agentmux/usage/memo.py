"""Reports that were made before: over the same files the same question has the same answer."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux import __version__
from agentmux.whole_file import put
from agentmux_launcher.codec import from_json, to_json
from agentmux_usage.measures import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# So many reports are kept, none larger than so many bytes.
KEPT, LARGEST = 8, 2 << 20
# What reckons: an answer of other code is not one.
_CODE = (("agentmux_usage", ("",)), ("agentmux_compiler", ("prefix", "providers")))


def mark_of(paths: Iterable[Path], question: object) -> str:
    """What a question and the files that it is asked of are known by: size and times of each file, not its bytes."""
    told = hashlib.sha256(f"{__version__}\n{question!r}\n{time.tzname}".encode("utf-8", "backslashreplace"))
    for path in (*paths, *_code()):
        told.update(os.fsencode(path) + b"\0" + _state(path).encode())
    return told.hexdigest()[:32]


def recall(folder: Path, mark: str) -> tuple[Report, ...]:
    """The reports that were kept under a mark; none where there are none."""
    try:
        return from_json(tuple[Report, ...], json.loads(_place(folder, mark).read_bytes()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ()


def keep(folder: Path, mark: str, reports: Sequence[Report]) -> None:
    """Keep reports for the next time; where that is not possible, there is none to recall."""
    data = json.dumps(to_json(tuple(reports))).encode()
    if len(data) > LARGEST:
        return
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        put(_place(folder, mark), data)
        for old in sorted(folder.glob("report-*.json"), key=lambda path: path.stat().st_mtime_ns)[:-KEPT]:
            old.unlink(missing_ok=True)


def _place(folder: Path, mark: str) -> Path:
    return folder / f"report-{mark}.json"


def _state(path: Path) -> str:
    try:
        stat = path.stat()
    except OSError:
        return "-"
    # The last is also another one where a file that could not be read now can.
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ctime_ns}"


def _code() -> Iterator[Path]:
    for package, folders in _CODE:
        root = Path(str(files(package)))
        for folder in folders:
            yield from sorted(path for path in (root / folder).rglob("*") if path.suffix in {".py", ".json", ".yaml"})
