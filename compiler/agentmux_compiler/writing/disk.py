"""Single files put in place whole or not at all, and never through a link."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from agentmux_compiler.tree import Entry, digest, find
from agentmux_compiler.writing.folders import parents

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux_compiler.tree import Found

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


class InTheWayError(OSError):
    """Something else than a regular file in plain folders stands at a path; `found` says what."""

    def __init__(self, found: Found) -> None:
        super().__init__(f"`{found.path}` is a {found.entry.value}")
        self.found = found


def temporary_name(path: str) -> str:
    """Where a file's bytes stand until they are complete: in the same folder, for the rename to be one step."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.agentmux-tmp"


def write_file(root: Path, path: str, content: bytes, executable: bool | None = None) -> None:
    """Replace or make a file in one step. Folders above it are made.

    A file that is there keeps its mode, but for the bits that `executable` sets (as the umask lets it) or takes away.

    Raises:
        InTheWayError: a link stands at the path or on the way, or no file or no folder where one should be.
        OSError: the system refuses.
    """
    _make_folders(root, path)
    _require(root, path, Entry.FILE, Entry.ABSENT)
    target, temporary = root / path, root / temporary_name(path)
    temporary.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(temporary, _FLAGS, 0o755 if executable else 0o644), "wb") as file:
            file.write(content)
        if target.exists():
            temporary.chmod(_mode(target, temporary, executable))
        os.replace(temporary, target)  # noqa: PTH105  the one step all rests on, by its own name
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _mode(target: Path, made: Path, executable: bool | None) -> int:
    """The mode of a file that is there, with the executable bits of the one `made` for it."""
    mode = stat.S_IMODE(target.stat().st_mode)
    return mode if executable is None else mode & ~0o111 | made.stat().st_mode & 0o111


def remove_file(root: Path, path: str) -> None:
    """Unlink a regular file; one that is gone already is as good.

    Raises:
        InTheWayError, OSError: as `write_file`.
    """
    if _require(root, path, Entry.FILE, Entry.ABSENT) is Entry.FILE:
        (root / path).unlink()


def digest_at(root: Path, path: str) -> str | None:
    """Digest of the regular file at a path, None where there is none."""
    return digest((root / path).read_bytes()) if find(root, path).entry is Entry.FILE else None


def _make_folders(root: Path, path: str) -> None:
    for folder in reversed(tuple(parents(path))):
        if _require(root, folder, Entry.FOLDER, Entry.ABSENT) is Entry.ABSENT:
            (root / folder).mkdir(exist_ok=True)


def _require(root: Path, path: str, *entries: Entry) -> Entry:
    found = find(root, path)
    if found.entry not in entries or (found.path != path and found.entry is not Entry.ABSENT):
        raise InTheWayError(found)
    return found.entry
