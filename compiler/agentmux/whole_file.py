"""Files that people name, written whole or not at all."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def put(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; what is no file (a terminal, a pipe) is written to as it is.

    Raises:
        OSError
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        path.write_bytes(data)
        return
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        fresh.write_bytes(data)
        if target.exists():
            fresh.chmod(stat.S_IMODE(target.stat().st_mode))
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
