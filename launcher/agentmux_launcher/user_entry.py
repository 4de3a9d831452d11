"""Entries for files of the user's own that a CLI reads: where such a file is here, and what is to stand in it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux_launcher.arguments import json_literal
from agentmux_launcher.managed import user_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmux_launcher.manifest import UserEntry

_LONGEST_SLUG = 40
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Entry:
    """`text` is to stand in the file at `path` (POSIX) below `root`, the user's folder or the one that they named."""

    root: Path
    path: str
    text: str

    @property
    def file(self) -> Path:
        return self.root / self.path


def entry_for(file: UserEntry, folder: str, environ: Mapping[str, str], now: int) -> Entry:
    """What a CLI that runs in an absolute folder is to find. `environ` is its own, `now` in seconds since 1970."""
    moved = environ.get(file.moved_by or "")
    path = file.path if moved else f"{file.folder}/{file.path}".removeprefix("~/")
    digits = hashlib.sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
    known = {"{slug}": slug(folder), "{digest}": digits, "{now}": str(now)}
    quoted = known | {"{cwd}": json_literal(folder)[1:-1]}
    return Entry(Path(moved) if moved else user_folder(environ), _filled(path, known), _filled(file.entry, quoted))


def slug(folder: str) -> str:
    """The last name of a folder as Kimi Code spells it in names of files."""
    name = re.sub(r"[^a-z0-9._-]+", "-", folder.replace("\\", "/").rstrip("/").rpartition("/")[2].lower())
    short = name.strip("-")[:_LONGEST_SLUG].strip("-")
    return "workspace" if short in {"", ".", ".."} else short


def _filled(template: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{\w+\}", lambda match: values.get(match[0], match[0]), template)
