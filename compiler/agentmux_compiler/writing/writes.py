"""Carry a write plan out: every file in one step, the manifest last."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import Diagnostic
from agentmux_compiler.emit import written
from agentmux_compiler.report import FileStatus
from agentmux_compiler.tree import digest
from agentmux_compiler.writing import blocks
from agentmux_compiler.writing.disk import InTheWayError, digest_at, remove_file, temporary_name, write_file
from agentmux_compiler.writing.journal import PENDING_PATH, announcement, known
from agentmux_compiler.writing.lock import exclusive
from agentmux_compiler.writing.write_plan import Write, statuses
from agentmux_launcher.manifest import MANIFEST_PATH, dumps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from agentmux_compiler.tree import Tree
    from agentmux_compiler.writing.write_plan import Removal, WritePlan
    from agentmux_launcher.manifest import Manifest, WrittenFile

LOCK_PATH = ".agentmux/lock"
IGNORE_PATH = ".agentmux/.gitignore"


@dataclass(frozen=True, slots=True)
class Applied:
    """What was done, and what could not be done."""

    files: tuple[FileStatus, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def apply(root: Path, plan: WritePlan, manifest: Manifest) -> Applied:
    """Write and remove what the plan says, then the manifest. Nothing at all is touched where nothing would change.

    Each path is looked at again before it is touched: what changed since the plan was made stays as it is. After a
    failure or a crash the journal stands in for the manifest, so that the next build finishes the work.
    """
    listing = dumps(manifest).encode()
    if not _anything_to_do(root, plan, listing):
        return Applied(statuses(plan))
    try:
        with building(root):
            return _apply(root, plan, listing)
    except OSError as error:
        return Applied((), (refused(MANIFEST_PATH, error),))


def write_sources(
    root: Path,
    files: Mapping[str, bytes],
    tree: Tree,
    claimed: Iterable[WrittenFile] = (),
    executables: frozenset[str] = frozenset(),
) -> list[Diagnostic]:
    """Write sources in the order given, each in one step, and stop at the first that cannot be written.

    Nothing is written over a file that is not any more as `tree` read it. `claimed` are outputs among the files: the
    next build takes their bytes for its own. `executables` are those among them that may be run.
    """
    changed = [path for path in files if digest_at(root, path) != _digest(tree.read(path))]
    if changed:
        return [blocks.changed_meanwhile(path) for path in changed]
    path = PENDING_PATH
    try:
        with building(root):
            write_file(root, path, announcement(root, tuple(claimed), ()))
            for path, content in files.items():
                write_file(root, path, content, True if path in executables else None)
    except OSError as error:
        return [refused(path, error)]
    return []


@contextlib.contextmanager
def building(root: Path) -> Iterator[None]:
    """Hold the project's lock, in an `.agentmux/` that git ignores whatever the project's own `.gitignore` says.

    Raises:
        OSError: `.agentmux/` cannot be made, or is a link.
    """
    if digest_at(root, IGNORE_PATH) is None:
        write_file(root, IGNORE_PATH, b"*\n")
    with exclusive(root / LOCK_PATH):
        yield


def _anything_to_do(root: Path, plan: WritePlan, listing: bytes) -> bool:
    listed = digest_at(root, MANIFEST_PATH) == digest(listing) and digest_at(root, PENDING_PATH) is None
    return bool(plan.writes or plan.removals) or not listed


def _apply(root: Path, plan: WritePlan, listing: bytes) -> Applied:
    _sweep(root)
    announced = tuple(written(write.output) for write in plan.writes if write.output)
    write_file(root, PENDING_PATH, announcement(root, announced, plan.folders))
    steps: tuple[Write | Removal, ...] = (*plan.writes, *plan.removals)
    failures = {step.path: failure for step in steps if (failure := _carry_out(root, step))}
    for folder in sorted(plan.emptied, key=len, reverse=True):
        with contextlib.suppress(OSError):
            (root / folder).rmdir()
    if not failures:
        write_file(root, MANIFEST_PATH, listing)
        remove_file(root, PENDING_PATH)
    done = tuple(status for status in statuses(plan) if status.path not in failures)
    return Applied(done, tuple(failures.values()))


def _carry_out(root: Path, step: Write | Removal) -> Diagnostic | None:
    content = step.content if isinstance(step, Write) else None
    try:
        now = digest_at(root, step.path)
        if now not in {step.before, None if content is None else digest(content)}:
            return blocks.changed_meanwhile(step.path)
        if not isinstance(step, Write):
            remove_file(root, step.path)
        else:
            write_file(root, step.path, step.content, step.output.executable if step.output else None)
    except OSError as error:
        return refused(step.path, error)
    return None


def _digest(data: bytes | None) -> str | None:
    return None if data is None else digest(data)


def _sweep(root: Path) -> None:
    """Remove half-written files that an interrupted build left beside its outputs."""
    manifest, _ = known(root) if digest_at(root, PENDING_PATH) else (None, [])
    for file in manifest.files if manifest else ():
        with contextlib.suppress(OSError):
            remove_file(root, temporary_name(file.path))


def refused(path: str, error: OSError) -> Diagnostic:
    if isinstance(error, InTheWayError):
        return blocks.met_on_the_way(path, error.found)
    return blocks.cannot_write(path, (error.strerror or str(error)).lower())
