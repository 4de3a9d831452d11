"""Where sources are read from: a folder on disk, or a mapping in memory (a git revision, a test).

A tree records what it was asked for, so a later build knows exactly which bytes the last one depended on.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

JUNCTION = 0xA0000003


class Tree(Protocol):
    """Read-only view of a project; every path is POSIX and relative to its root."""

    def read(self, path: str) -> bytes | None:
        """The file's bytes, or None where there is no regular file or the path leaves the project."""
        ...

    def names(self, folder: str) -> tuple[str, ...]:
        """Names in a folder in byte order, folders with a trailing `/`; empty where there is no such folder."""
        ...

    def executable(self, path: str) -> bool:
        """Whether `read` gives a file there that may be run; never where the system has no modes."""
        ...

    def outside(self, path: str) -> bool:
        """Whether something stands there that leads out of the project, by a link at its end or on the way."""
        ...


class Entry(StrEnum):
    """What stands at a path; a junction is a link too."""

    ABSENT = "absent"
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Found:
    """What a way through a project ends at: the path itself, or the first part of it that is no folder."""

    entry: Entry
    path: str


class OutputTree(Tree, Protocol):
    """A tree that outputs are planned against: what stands somewhere is seen without looking through links."""

    def find(self, path: str) -> Found: ...


@dataclass(frozen=True, slots=True)
class Trace:
    """What a build read: sha256 of each file (None: it was not there), the names of each folder, and mode bits."""

    files: Mapping[str, str | None]
    folders: Mapping[str, tuple[str, ...]]
    executables: Mapping[str, bool] = field(default_factory=dict)


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


def is_utf8(path: str) -> bool:
    """Whether a path from disk is text: other bytes in names stand for lone surrogates."""
    return path.isascii() or not any("\ud800" <= each <= "\udfff" for each in path)


def find(root: Path, path: str) -> Found:
    """Walk a relative path on disk, component by component, never through a link."""
    parts = path.split("/")
    found = Found(Entry.ABSENT, path)
    for count in range(1, len(parts) + 1):
        part = "/".join(parts[:count])
        found = Found(entry_at(root / part), part)
        if found.entry is not Entry.FOLDER:
            break
    return found


def entry_at(path: str | Path) -> Entry:
    """What stands at a path on disk; a link is a link, whatever it leads to."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return Entry.ABSENT
    # Windows: a junction is no symlink to lstat, but leads elsewhere all the same.
    if stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == JUNCTION:
        return Entry.LINK
    if stat.S_ISDIR(status.st_mode):
        return Entry.FOLDER
    return Entry.FILE if stat.S_ISREG(status.st_mode) else Entry.OTHER


def may_run(path: str | Path) -> bool:
    """Whether a regular file on disk has an executable bit; Windows has none."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116  thousands a build: no Path for each
    except OSError:
        return False
    return os.name != "nt" and stat.S_ISREG(mode) and bool(mode & 0o111)


@dataclass(frozen=True)
class DiskTree:
    """A project folder; remembers what it read."""

    root: Path
    _files: dict[str, bytes | None] = field(default_factory=dict)
    _folders: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _executables: dict[str, bool] = field(default_factory=dict)

    def read(self, path: str) -> bytes | None:
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def names(self, folder: str) -> tuple[str, ...]:
        if folder not in self._folders:
            self._folders[folder] = self._names(folder)
        return self._folders[folder]

    def executable(self, path: str) -> bool:
        if path not in self._executables:
            real = self._inside(path)
            self._executables[path] = real is not None and may_run(real)
        return self._executables[path]

    def outside(self, path: str) -> bool:
        return not leaves_project(path) and self._inside(path) is None

    def find(self, path: str) -> Found:
        return find(self.root, path)

    @property
    def trace(self) -> Trace:
        files = {path: None if data is None else digest(data) for path, data in self._files.items()}
        return Trace(files, dict(self._folders), dict(self._executables))

    def _inside(self, path: str) -> Path | None:
        """The real path, or None where it leaves the project, also by a symlink."""
        if leaves_project(path):
            return None
        try:
            real = (self.root / path).resolve()
        except (OSError, RuntimeError):  # links in a circle
            return None
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
    """A project held in memory: path to bytes, and which of the paths may be run."""

    files: Mapping[str, bytes]
    executables: frozenset[str] = frozenset()

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def names(self, folder: str) -> tuple[str, ...]:
        prefix = "" if folder in {"", "."} else folder.rstrip("/") + "/"
        below = (path.removeprefix(prefix) for path in self.files if path.startswith(prefix))
        found = {head + "/" if rest else head for head, _, rest in (path.partition("/") for path in below)}
        return tuple(sorted(found, key=byte_order))

    def executable(self, path: str) -> bool:
        return path in self.executables

    def outside(self, path: str) -> bool:  # noqa: ARG002  there are no links
        return False

    def find(self, path: str) -> Found:
        parts = path.split("/")
        for count in range(1, len(parts)):
            part = "/".join(parts[:count])
            if part in self.files:
                return Found(Entry.FILE, part)
            if not self.names(part):
                return Found(Entry.ABSENT, part)
        if path in self.files:
            return Found(Entry.FILE, path)
        return Found(Entry.FOLDER if self.names(path) else Entry.ABSENT, path)
