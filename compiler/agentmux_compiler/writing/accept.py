"""Move the baseline: make `snapshots/` hold exactly what a build gives, or say where it does not."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from agentmux_compiler.report import FileStatus
from agentmux_compiler.snapshots.plan_file import PlanFile, loads
from agentmux_compiler.tree import DiskTree, byte_order, digest
from agentmux_compiler.writing import blocks
from agentmux_compiler.writing.disk import digest_at, remove_file, write_file
from agentmux_compiler.writing.folders import parents
from agentmux_compiler.writing.writes import Applied, building, refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.tree import Tree

PLANS = "plans"
# Plans name segments and files: those are written first, so that no plan ever names what is not there yet.
SEGMENTS = "segments"
PARTS = (SEGMENTS, "files", PLANS)
_PLAN_PATH = re.compile(rf"{PLANS}/[^/]+/[^/]+\.toml")
# What a plan's file still says when a merge left conflict markers in it.
_PLAN_LINE = re.compile(rb"^cli_version = \".*^segments = \[", re.MULTILINE | re.DOTALL)


def accept(root: Path, folder: str, files: Mapping[str, bytes]) -> Applied:
    """Write the baseline's files and remove what else of an earlier one lies in its three parts.

    Nothing at all is done where a file in these is not agentmux's. The result names what was removed, and after a
    failure what was written before it.

    Args:
        root: the project's folder.
        folder: the baseline's, relative to the project.
        files: every file of the baseline, by path relative to `folder`.
    """
    tree = DiskTree(root)
    left = _left_over(folder, files, tree)
    if foreign := foreign_files(folder, files, tree):
        return Applied((), tuple(foreign))
    path, written, removed = folder, [], []
    try:
        with building(root):
            for name in sorted(files, key=_write_order):
                path = f"{folder}/{name}"
                if digest_at(root, path) != digest(files[name]):
                    write_file(root, path, files[name])
                    written.append(FileStatus(path, "written", len(files[name]), digest(files[name])))
            for path in left:
                remove_file(root, path)
                removed.append(FileStatus(path, "removed", 0, None))
                _remove_emptied(root, folder, path)
    except OSError as error:
        return Applied((*written, *removed), (refused(path, error),))
    return Applied(tuple(removed))


def foreign_files(folder: str, files: Mapping[str, bytes], tree: Tree) -> list[Diagnostic]:
    """Every file that accepting would remove or replace and that is not recognisably of an earlier baseline.

    Of that are lists of plans, the segments they name, and, where there is such a list, outputs that are kept whole.
    """
    touched = (*_left_over(folder, files, tree), *_replaced(folder, files, tree))
    return [blocks.foreign_snapshot(path) for path in _not_ours(folder, touched, tree)]


def _replaced(folder: str, files: Mapping[str, bytes], tree: Tree) -> Iterator[str]:
    for name in sorted(files, key=byte_order):
        there = tree.read(f"{folder}/{name}")
        if there is not None and there != files[name]:
            yield f"{folder}/{name}"


def _not_ours(folder: str, paths: Iterable[str], tree: Tree) -> list[str]:
    below = f"{folder}/"
    plans = {path: data for path in _below(f"{folder}/{PLANS}", tree) if (data := _plan(path, below, tree))}
    return [path for path in paths if not _is_ours(path, below, plans)]


def _plan(path: str, below: str, tree: Tree) -> bytes | None:
    """Bytes of a plan's file, None where a file is none."""
    data = tree.read(path) if _PLAN_PATH.fullmatch(path.removeprefix(below)) else None
    return data if data and (isinstance(loads(data), PlanFile) or _PLAN_LINE.search(data)) else None


def _is_ours(path: str, below: str, plans: Mapping[str, bytes]) -> bool:
    part, _, name = path.removeprefix(below).partition("/")
    if part == PLANS:
        return path in plans
    if part == SEGMENTS:
        return any(f" {name}".encode() in data for data in plans.values())
    return bool(plans)


def check_snapshots(folder: str, files: Mapping[str, bytes], tree: Tree) -> list[Diagnostic]:
    """Every file of the baseline that is not byte for byte what `accept` would write, and every one left over."""
    found: list[Diagnostic] = []
    for name in sorted(files, key=byte_order):
        path = f"{folder}/{name}"
        current = tree.read(path)
        if current != files[name]:
            found.append(blocks.stale_snapshot(path, current, files[name]))
    left = _left_over(folder, files, tree)
    foreign = _not_ours(folder, left, tree)
    found += [blocks.stale_snapshot(path, tree.read(path), None) for path in left if path not in foreign]
    return [*found, *(blocks.foreign_snapshot(path) for path in foreign)]


def _left_over(folder: str, files: Mapping[str, bytes], tree: Tree) -> list[str]:
    wanted = {f"{folder}/{name}" for name in files}
    return [path for part in PARTS for path in _below(f"{folder}/{part}", tree) if path not in wanted]


def _below(folder: str, tree: Tree) -> Iterator[str]:
    for name in tree.names(folder):
        path = f"{folder}/{name}"
        if name.endswith("/"):
            yield from _below(path.rstrip("/"), tree)
        elif tree.read(path) is not None:
            yield path


def _remove_emptied(root: Path, folder: str, path: str) -> None:
    for above in parents(path):
        if above == folder:
            return
        with contextlib.suppress(OSError):
            (root / above).rmdir()


def _write_order(name: str) -> tuple[int, bytes]:
    part = name.partition("/")[0]
    return (PARTS.index(part) if part in PARTS else 0, byte_order(name))
