"""Files that an agent reads and writes through us: below its working directory, and by no link."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LARGEST = 16 * 1024 * 1024
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# A pipe would hold us up without the second, a link lead elsewhere without the first.
_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_BY_DESCRIPTOR = os.open in os.supports_dir_fd


class OutsideError(Exception):
    """The path is none that an agent may use, or what lies there is no file."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A name in a folder that is open (`holder`), or a whole path."""

    holder: int | None
    name: str

    @property
    def shown(self) -> str:
        return PurePath(self.name).name


def read(folder: str, path: str, line: int | None = None, limit: int | None = None) -> str:
    """The text of a file, or `limit` lines of it from `line` on, counted from 1.

    Raises:
        OutsideError: it may not be read.
        OSError: it cannot be read.
    """
    with _holder(folder, _parts(folder, path), make=False) as place, _opened(place, os.O_RDONLY) as descriptor:
        data = _whole(descriptor)
    text = data.decode("utf-8", "replace")
    if line is None and limit is None:
        return text
    begin = max(0, (line or 1) - 1)
    return "".join(text.splitlines(keepends=True)[begin : None if limit is None else begin + limit])


def write(folder: str, path: str, text: str) -> None:
    """Write a file, whole or not at all, and the folders that lead to it.

    Raises:
        OutsideError: it may not be written.
        OSError: it cannot be written.
    """
    with _holder(folder, _parts(folder, path), make=True) as place:
        mode = _mode(place)
        temporary = replace(place, name=f"{place.name}.{secrets.token_hex(4)}.tmp")
        try:
            with _opened(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode) as descriptor:
                _put(descriptor, text.encode("utf-8", "backslashreplace"))
            os.replace(temporary.name, place.name, src_dir_fd=place.holder, dst_dir_fd=place.holder)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary.name, dir_fd=place.holder)
            raise


def below(folder: str, path: str) -> str:
    """A folder below the working directory, as an absolute path.

    Raises:
        OutsideError: it is outside, or a link leads to it.
    """
    place = Path(folder)
    for part in _parts(folder, path, itself=True):
        place /= part
        if place.is_symlink():
            raise OutsideError(f"`{path}` goes through a link")
    if not place.is_dir():
        raise OutsideError(f"`{path}` is no folder")
    return str(place)


def _parts(folder: str, path: str, *, itself: bool = False) -> Sequence[str]:
    """The names that lead from the folder to the path."""
    asked = PurePath(path)
    if not asked.is_absolute() or ".." in asked.parts or "\0" in path:
        raise OutsideError(f"`{path}` is no plain absolute path")
    try:
        parts = asked.relative_to(folder).parts
    except ValueError:
        raise OutsideError(f"`{path}` is outside of the working directory") from None
    if not parts and not itself:
        raise OutsideError(f"`{path}` is no file")
    return parts


@contextlib.contextmanager
def _holder(folder: str, parts: Sequence[str], *, make: bool) -> Iterator[_Place]:
    """Where a file lies, its folder reached name by name so that no link is followed."""
    if not _BY_DESCRIPTOR:
        yield _Place(None, _walked(folder, parts, make=make))
        return
    holder = os.open(folder, os.O_RDONLY | _FOLDER)
    try:
        for part in parts[:-1]:
            holder = _entered(_Place(holder, part), holder, make=make)
        yield _Place(holder, parts[-1])
    finally:
        os.close(holder)


def _entered(place: _Place, holder: int, *, make: bool) -> int:
    """The folder inside, instead of the one that holds it."""
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(place.name, dir_fd=holder)
    _refuse_link(place)
    inner = os.open(place.name, os.O_RDONLY | _FOLDER, dir_fd=holder)
    os.close(holder)
    return inner


def _walked(folder: str, parts: Sequence[str], *, make: bool) -> str:
    """Where the system knows no folder by its descriptor."""
    place = Path(folder)
    for part in parts[:-1]:
        place /= part
        if make:
            place.mkdir(exist_ok=True)
        _refuse_link(_Place(None, str(place)))
    return str(place / parts[-1])


@contextlib.contextmanager
def _opened(place: _Place, flags: int, mode: int = 0o666) -> Iterator[int]:
    _refuse_link(place)
    descriptor = os.open(place.name, flags | _FILE, mode, dir_fd=place.holder)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OutsideError(f"`{place.shown}` is no file")
        yield descriptor
    finally:
        os.close(descriptor)


def _mode(place: _Place) -> int:
    """The permissions of a file that is there already; a link is none."""
    _refuse_link(place)
    found = _look(place)
    if found and not stat.S_ISREG(found):
        raise OutsideError(f"`{place.shown}` is no file")
    return stat.S_IMODE(found) if found else 0o666


def _refuse_link(place: _Place) -> None:
    if stat.S_ISLNK(_look(place)):
        raise OutsideError(f"`{place.shown}` is a link")


def _look(place: _Place) -> int:
    """The mode of what lies there; 0 where nothing does."""
    try:
        return os.lstat(place.name, dir_fd=place.holder).st_mode
    except FileNotFoundError:
        return 0


def _whole(descriptor: int) -> bytes:
    if os.fstat(descriptor).st_size > LARGEST:
        raise OutsideError(f"it has more than {LARGEST} bytes")
    data = b""
    while more := os.read(descriptor, 1 << 20):
        data += more
    return data


def _put(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
