"""One build at a time in a project."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _acquire(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
else:
    import fcntl

    def _acquire(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold an advisory lock on a file, which is made if need be; wait for whoever has it, who loses it when they die.

    On a file system without locks the block runs without one.

    Raises:
        OSError: the file is a link, or cannot be opened.
    """
    if path.is_symlink():  # where the system has no flag for it, and for a reason that can be read
        raise OSError(errno.ELOOP, "it is a symlink")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
    try:
        with contextlib.suppress(OSError):
            _acquire(descriptor)
        yield
    finally:
        os.close(descriptor)
