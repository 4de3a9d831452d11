"""The objects of a git repository, all read through one `git cat-file --batch`."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# A hook sets these for the repository it runs in; ours is the project's.
INHERITED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY")
FOLDER_MODE = "40000"
LINK_MODE = "120000"
FATAL = "fatal: "
EXECUTABLE_MODE = "100755"
MODES = ("100644", EXECUTABLE_MODE, LINK_MODE, FOLDER_MODE)
_FOUND = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64}) (\w+) (\d+)\n")


class GitError(Exception):
    """Git is not there, or there is no such revision; the message is in its own words where it has any."""


@dataclass(frozen=True, slots=True)
class Item:
    """What a folder of a revision holds under one name: mode and object id."""

    mode: str
    id: str


@dataclass(frozen=True)
class Objects:
    """Objects by id or by any other name git knows; folders and files are read once each."""

    _process: subprocess.Popen[bytes]
    _folders: dict[str, Mapping[str, Item]] = field(default_factory=dict)
    _files: dict[str, bytes] = field(default_factory=dict)

    def commit(self, revision: str) -> str:
        """The id of a commit.

        Raises:
            GitError: there is no such commit.
        """
        found = self._ask(f"{revision}^{{commit}}") if _one_line(revision) else None
        if found is None:
            raise GitError(f"there is no revision `{revision}`")
        return found[0]

    def project(self, commit: str) -> str | None:
        """The id of the tree at the folder that git was started in; None where the commit has no such folder."""
        found = self._ask(f"{commit}:./")
        return found[0] if found else None

    def folder(self, id_: str) -> Mapping[str, Item]:
        """Names to items; submodules are left out."""
        if id_ not in self._folders:
            self._folders[id_] = dict(_items(self.content(id_), len(id_) // 2))
        return self._folders[id_]

    def file(self, id_: str) -> bytes:
        if id_ not in self._files:
            self._files[id_] = self.content(id_)
        return self._files[id_]

    def content(self, id_: str) -> bytes:
        found = self._ask(id_)
        if found is None:
            raise GitError(f"object {id_} is missing")
        return found[1]

    def _ask(self, name: str) -> tuple[str, bytes] | None:
        """Id and content of what a name stands for, None where git has nothing of that name."""
        asked, answers = self._process.stdin, self._process.stdout
        if asked is None or answers is None:
            raise GitError("git gave no pipes")
        try:
            asked.write(name.encode("utf-8", "surrogateescape") + b"\n")
            asked.flush()
        except BrokenPipeError:
            raise self._ended() from None
        head = answers.readline()
        if not head:
            raise self._ended()
        found = _FOUND.fullmatch(head)
        if not found:
            return None
        data = answers.read(int(found[3]))
        answers.read(1)
        return found[1].decode("ascii"), data

    def _ended(self) -> GitError:
        said = self._process.stderr.read() if self._process.stderr else b""
        return GitError(_complaint(said) or f"git ended with {self._process.wait()}")


@contextmanager
def objects(root: Path) -> Iterator[Objects]:
    """The repository that a folder lies in, as long as the `with` block lasts.

    Raises:
        GitError: there is no git. Where there is no repository, the first question raises it.
    """
    command = git(root, "cat-file", "--batch")
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment())  # noqa: S603
    except OSError as error:
        raise _not_started(error) from None
    try:
        yield Objects(process)
    finally:
        _close(process)


def output(root: Path, *arguments: str) -> bytes:
    """What one git command prints.

    Raises:
        GitError: there is no git, or it refuses.
    """
    try:
        result = subprocess.run(  # noqa: S603
            git(root, *arguments), stdin=subprocess.DEVNULL, capture_output=True, check=False, env=environment()
        )
    except OSError as error:
        raise _not_started(error) from None
    if result.returncode:
        raise GitError(_complaint(result.stderr) or f"git ended with {result.returncode}")
    return result.stdout


def git(root: Path, *arguments: str) -> Sequence[str]:
    return ["git", "-C", str(root), "--no-pager", *arguments]


def environment() -> dict[str, str]:
    """Ours without what points to another repository; a missing object is never fetched."""
    inherited = {name: value for name, value in os.environ.items() if name not in INHERITED}
    return {**inherited, "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}


def _not_started(error: OSError) -> GitError:
    missing = isinstance(error, FileNotFoundError | NotADirectoryError)
    return GitError("git is not installed" if missing else f"git does not start: {error.strerror}")


def _items(data: bytes, width: int) -> Iterator[tuple[str, Item]]:
    """The entries of a tree object: `MODE NAME`, a zero byte, an id of `width` bytes."""
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, _, name = data[at:end].partition(b" ")
        at = end + 1 + width
        if mode.decode("ascii") in MODES:
            yield name.decode("utf-8", "surrogateescape"), Item(mode.decode("ascii"), data[end + 1 : at].hex())


def _one_line(name: str) -> bool:
    return bool(name) and not any(character in name for character in "\n\0")


def _complaint(said: bytes) -> str:
    """What git died of; hints stand around it."""
    lines = said.decode("utf-8", "replace").strip().splitlines()
    fatal = [line.removeprefix(FATAL) for line in lines if line.startswith(FATAL)]
    return (fatal or lines or [""])[-1].strip()


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with suppress(BrokenPipeError):  # of what was asked when git had ended already
                pipe.close()
    process.wait()
