"""A project as it was at a git revision, read without touching the work tree."""

from __future__ import annotations

import os
import posixpath
import subprocess
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from agentmux_compiler.tree import byte_order, leaves_project

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

LINK_MODE = "120000"
FILE_MODES = ("100644", "100755", LINK_MODE)
LINKS_FOLLOWED = 8
# A hook sets these for the repository it runs in; ours is the project's.
INHERITED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY")


class GitError(Exception):
    """Git is not there, or there is no such revision; the message is in its own words."""


@dataclass(frozen=True, slots=True)
class Blob:
    """A file of the revision: its mode and object id."""

    mode: str
    id: str


@dataclass(frozen=True)
class GitTree:
    """The tree of a revision below the project's folder; contents are read when they are asked for."""

    blobs: Mapping[str, Blob]
    folders: Mapping[str, tuple[str, ...]]
    _asked: IO[bytes]
    _answers: IO[bytes]
    _read: dict[str, bytes] = field(default_factory=dict)

    def read(self, path: str) -> bytes | None:
        blob = self._find(path)
        if blob is None:
            return None
        if blob.id not in self._read:
            self._read[blob.id] = self._content(blob)
        return self._read[blob.id]

    def names(self, folder: str) -> tuple[str, ...]:
        return self.folders.get(posixpath.normpath(folder or "."), ())

    def _find(self, path: str) -> Blob | None:
        """The regular file at a path, links to files followed as far as they stay inside."""
        for _ in range(LINKS_FOLLOWED):
            blob = self.blobs.get(posixpath.normpath(path))
            if blob is None or blob.mode != LINK_MODE:
                return blob
            target = self._content(blob).decode("utf-8", "surrogateescape")
            path = posixpath.join(posixpath.dirname(path), target)
            if leaves_project(path):
                return None
        return None

    def _content(self, blob: Blob) -> bytes:
        self._asked.write(blob.id.encode() + b"\n")
        self._asked.flush()
        head = self._answers.readline().split()
        if len(head) != 3:  # noqa: PLR2004  id, type, size
            raise GitError(f"object {blob.id} is missing")
        data = self._answers.read(int(head[2]))
        self._answers.read(1)
        return data


@contextmanager
def revision(root: Path, name: str) -> Iterator[GitTree]:
    """The project's tree at a revision (`main`, `HEAD~1`, an id), as long as the `with` block lasts.

    Raises:
        GitError: no git, no repository, no such revision, or an object is missing.
    """
    blobs = _listing(root, _resolved(root, name))
    with subprocess.Popen(  # noqa: S603  git, with arguments of ours
        _git(root, "cat-file", "--batch"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment()
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise GitError("git gave no pipes")
        yield GitTree(blobs, _folders(blobs), process.stdin, process.stdout)


def _resolved(root: Path, name: str) -> str:
    found = _output(root, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}")
    return found.decode("ascii").strip()


def _listing(root: Path, commit: str) -> dict[str, Blob]:
    """Files below `root` (git lists relative to the folder it runs in)."""
    rows = _output(root, "ls-tree", "-r", "-z", commit).split(b"\0")
    parted = (row.partition(b"\t") for row in rows if row)
    entries = ((head.decode("ascii").split(), path.decode("utf-8", "surrogateescape")) for head, _, path in parted)
    return {path: Blob(mode, id_) for (mode, _, id_), path in entries if mode in FILE_MODES}


def _folders(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Names in each folder in byte order, folders with a trailing `/`."""
    found: dict[str, set[str]] = {}
    for path in paths:
        name = path
        while name:
            folder, _, last = name.rstrip("/").rpartition("/")
            found.setdefault(folder or ".", set()).add(last + "/" * name.endswith("/"))
            name = folder + "/" if folder else ""
    return {folder: tuple(sorted(names, key=byte_order)) for folder, names in found.items()}


def _output(root: Path, *arguments: str) -> bytes:
    try:
        result = subprocess.run(  # noqa: S603
            _git(root, *arguments), stdin=subprocess.DEVNULL, capture_output=True, check=False, env=_environment()
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    if result.returncode:
        said = result.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitError(said[-1].removeprefix("fatal: ") if said else f"git ended with {result.returncode}")
    return result.stdout


def _git(root: Path, *arguments: str) -> Sequence[str]:
    return ["git", "-C", str(root), "--no-pager", *arguments]


def _environment() -> dict[str, str]:
    """Ours without what points to another repository; a missing object is never fetched."""
    inherited = {name: value for name, value in os.environ.items() if name not in INHERITED}
    return {**inherited, "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
