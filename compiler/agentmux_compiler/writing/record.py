"""What the last build depended on, so that a build with nothing to do ends before anything heavy is imported."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import agentmux_launcher
from agentmux_compiler.report import BuildReport, FileStatus
from agentmux_compiler.rules import NOT_WRITABLE, RULES
from agentmux_compiler.tree import Entry, Trace, digest
from agentmux_compiler.writing.disk import write_file
from agentmux_compiler.writing.journal import PENDING_PATH
from agentmux_compiler.writing.present_state import PresentState
from agentmux_launcher.codec import from_json, to_json
from agentmux_launcher.manifest import MANIFEST_PATH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RECORD_PATH = ".agentmux/build.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Key:
    """What a report depends on beside the disk: agentmux's version, the command's scope and options, the day.

    `today` (ISO) counts only where a generated file was given the date.
    """

    version: str
    command: tuple[str, ...]
    today: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """A build's key and report, with the state of every path it read or may have written, and of agentmux itself."""

    key: Key
    dated: bool
    root: str
    package: str
    files: Mapping[str, str | None]
    folders: Mapping[str, tuple[str, ...]]
    outputs: Mapping[str, str]
    executables: Mapping[str, bool]


def save(  # noqa: PLR0913  a record is made of these
    root: Path,
    key: Key,
    trace: Trace,
    outputs: Iterable[str],
    report: BuildReport,
    *,
    dated: bool = False,
    path: str = RECORD_PATH,
) -> bool:
    """Record a finished build, unless what it read is not any more as it read it; say whether that was done.

    Args:
        root: the project's folder.
        key: what `load_fresh` will be asked with.
        trace: what the sources' tree read, taken before anything was written.
        outputs: every path the write plan looked at (`WritePlan.paths`).
        report: what was printed; the record holds it as a build with nothing left to do would print it.
        dated: the date stands in a generated file.
        path: where the record is kept; there is one for builds, and one for what each launch prepares.
    """
    now = PresentState(root)
    record = Record(
        key=key,
        dated=dated,
        root=str(root.resolve()),
        package=package_state(),
        files=trace.files,
        folders=trace.folders,
        executables=trace.executables,
        outputs={path: now.output(path) for path in (*outputs, MANIFEST_PATH)},
    )
    refused = any(item.rule == NOT_WRITABLE for item in report.diagnostics)
    if refused or not _stands(root, record):
        forget(root, path)
        return False
    value = {"format": FORMAT, "record": to_json(record), "report": _report_to_json(_settled(report))}
    with contextlib.suppress(OSError):
        write_file(
            root, path, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        )
        return True
    return False


def load_fresh(root: Path, key: Key, path: str = RECORD_PATH) -> BuildReport | None:
    """The report of the last build if the same command would do nothing but say it again, else None."""
    try:
        value = json.loads((root / path).read_bytes())
        if value["format"] != FORMAT:
            return None
        record = from_json(Record, value["record"])
        return _report(value["report"]) if _answers(record, key) and _stands(root, record) else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def forget(root: Path, path: str = RECORD_PATH) -> None:
    """Drop the record, as a build that may leave something undone must."""
    with contextlib.suppress(OSError):
        (root / path).unlink()


def package_state() -> str:
    """Digest of names, sizes and times of agentmux's own files: an upgrade changes it, and an edit in a checkout."""
    here = Path(__file__).parent.parent
    folders = (here, here.parent / "agentmux", Path(agentmux_launcher.__file__).parent)
    rows = sorted(row for folder in folders for row in _rows(str(folder)))
    return digest("\n".join(rows).encode("utf-8", "surrogateescape"))


def _answers(record: Record, key: Key) -> bool:
    same_day = not record.dated or record.key.today == key.today
    return same_day and replace(record.key, today="") == replace(key, today="")


def _stands(root: Path, record: Record) -> bool:
    """Whether all that the record depends on is still as it was; the cheapest questions come first."""
    now = PresentState(root)
    return (
        record.root == str(root.resolve())
        and record.package == package_state()
        and now.output(PENDING_PATH) == Entry.ABSENT
        and all(now.names(folder) == names for folder, names in record.folders.items())
        and all(now.source(path) == known for path, known in record.files.items())
        and all(now.executable(path) == known for path, known in record.executables.items())
        and all(now.output(path) == known for path, known in record.outputs.items())
    )


def _rows(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _rows(entry.path)
            else:
                status = entry.stat()
                yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"


def _settled(report: BuildReport) -> BuildReport:
    """The report of the same build with nothing left to do: what was written is unchanged, what was removed is gone."""
    return replace(report, files=tuple(_settled_file(file) for file in report.files if file.status != "removed"))


def _settled_file(file: FileStatus) -> FileStatus:
    return replace(file, status="unchanged") if file.status == "written" else file


def _report_to_json(report: BuildReport) -> dict[str, Any]:
    value: dict[str, Any] = to_json(report)
    for part in (value, value["diff"]):
        part["diagnostics"] = [{**item, "rule": item["rule"]["code"]} for item in part["diagnostics"]]
    return value


def _report(value: dict[str, Any]) -> BuildReport:
    for part in (value, value["diff"]):
        part["diagnostics"] = [{**item, "rule": to_json(RULES[item["rule"]])} for item in part["diagnostics"]]
    return from_json(BuildReport, value)
