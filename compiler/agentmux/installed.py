"""Which provider CLI this machine has."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMEOUT = 10.0
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-+][0-9A-Za-z.-]+)?")


@dataclass(frozen=True, slots=True)
class Installed:
    """A CLI that was found at `path`; `version` is None where it did not say one in time."""

    path: str
    version: str | None


def look(executable: str, version_argv: Sequence[str], seconds: float = TIMEOUT) -> Installed | None:
    """Find the CLI on the PATH and ask for its version."""
    path = shutil.which(executable)
    if path is None:
        return None
    return Installed(path, _version([path, *version_argv], seconds))


def _version(argv: Sequence[str], seconds: float) -> str | None:
    try:
        result = subprocess.run(  # noqa: S603  the CLI the catalog names, as found on the PATH
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(result.stdout.decode("utf-8", "replace"))
    return found[0] if found else None
