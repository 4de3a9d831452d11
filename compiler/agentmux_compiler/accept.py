"""Move the baseline: make `snapshots/` hold exactly what a build gives, or say where it does not."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from agentmux_compiler import blocks
from agentmux_compiler.disk import digest_at, remove_file, write_file
from agentmux_compiler.folders import parents
from agentmux_compiler.tree import DiskTree, byte_order, digest
from agentmux_compiler.writes import building, refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.tree import Tree

PLANS = "plans"
# Plans name segments and files: those are written first, so that no plan ever names what is not there yet.
PARTS = ("segments", "files", PLANS)


def accept(root: Path, folder: str, files: Mapping[str, bytes]) -> list[Diagnostic]:
    """Write the baseline's files and remove what else lies in its three parts; nothing beside these is touched.

    Args:
        root: the project's folder.
        folder: the baseline's, relative to the project.
        files: every file of the baseline, by path relative to `folder`.
    """
    left = _left_over(folder, files, DiskTree(root))
    if left and not (root / folder / PLANS).is_dir():
        return [blocks.foreign_snapshot(path) for path in left]
    path = folder
    try:
        with building(root):
            for name in sorted(files, key=_write_order):
                path = f"{folder}/{name}"
                if digest_at(root, path) != digest(files[name]):
                    write_file(root, path, files[name])
            for path in left:
                remove_file(root, path)
                _remove_emptied(root, folder, path)
    except OSError as error:
        return [refused(path, error)]
    return []


def check_snapshots(folder: str, files: Mapping[str, bytes], tree: Tree) -> list[Diagnostic]:
    """Every file of the baseline that is not byte for byte what `accept` would write, and every one left over."""
    found: list[Diagnostic] = []
    for name in sorted(files, key=byte_order):
        path = f"{folder}/{name}"
        current = tree.read(path)
        if current != files[name]:
            found.append(blocks.stale_snapshot(path, current, files[name]))
    left = _left_over(folder, files, tree)
    return [*found, *(blocks.stale_snapshot(path, tree.read(path), None) for path in left)]


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
