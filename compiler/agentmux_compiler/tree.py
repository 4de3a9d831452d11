"""Where sources are read from: a folder on disk, or a mapping in memory (a git revision, a test).

A tree records what it was asked for, so a later build knows exactly which bytes the last one depended on.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class Tree(Protocol):
    """Read-only view of a project; every path is POSIX and relative to its root."""

    def read(self, path: str) -> bytes | None:
        """The file's bytes, or None where there is no regular file or the path leaves the project."""
        ...

    def names(self, folder: str) -> tuple[str, ...]:
        """Names in a folder in byte order, folders with a trailing `/`; empty where there is no such folder."""
        ...


@dataclass(frozen=True, slots=True)
class Trace:
    """What a build read: sha256 of each file (None: it was not there) and the names of each folder."""

    files: Mapping[str, str | None]
    folders: Mapping[str, tuple[str, ...]]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def leaves_project(path: str) -> bool:
    """Whether a relative POSIX path is absolute or climbs out by `..` (symlinks are the tree's own affair)."""
    depth = 0
    for part in path.split("/"):
        depth += -1 if part == ".." else 0 if part in {"", "."} else 1
        if depth < 0:
            return True
    return path.startswith("/") or "\\" in path or ":" in path


def byte_order(name: str) -> bytes:
    """Sort key that no locale changes."""
    return name.encode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class DiskTree:
    """A project folder; remembers what it read."""

    root: Path
    _files: dict[str, bytes | None] = field(default_factory=dict)
    _folders: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def read(self, path: str) -> bytes | None:
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def names(self, folder: str) -> tuple[str, ...]:
        if folder not in self._folders:
            self._folders[folder] = self._names(folder)
        return self._folders[folder]

    @property
    def trace(self) -> Trace:
        files = {path: None if data is None else digest(data) for path, data in self._files.items()}
        return Trace(files, dict(self._folders))

    def _inside(self, path: str) -> Path | None:
        """The real path, or None where it leaves the project, also by a symlink."""
        if leaves_project(path):
            return None
        real = (self.root / path).resolve()
        return real if real.is_relative_to(self.root.resolve()) else None

    def _read(self, path: str) -> bytes | None:
        real = self._inside(path)
        if real is None or not real.is_file():
            return None
        return real.read_bytes()

    def _names(self, folder: str) -> tuple[str, ...]:
        real = self._inside(folder)
        if real is None or not real.is_dir():
            return ()
        entries = (entry.name + "/" if entry.is_dir() else entry.name for entry in real.iterdir())
        return tuple(sorted(entries, key=byte_order))


@dataclass(frozen=True)
class MemoryTree:
    """A project held in memory: path to bytes."""

    files: Mapping[str, bytes]

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def names(self, folder: str) -> tuple[str, ...]:
        prefix = "" if folder in {"", "."} else folder.rstrip("/") + "/"
        below = (path.removeprefix(prefix) for path in self.files if path.startswith(prefix))
        found = {head + "/" if rest else head for head, _, rest in (path.partition("/") for path in below)}
        return tuple(sorted(found, key=byte_order))
