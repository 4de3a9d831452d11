"""Where transcripts lie: below a CLI's own folder, as the catalog says, or where somebody points."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux_launcher.usage import Convention

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one reader: those below `root` that fit one of `patterns`, or `root` itself where it is a file.

    In a pattern `*` stands within a name, and `**/` for any folders. `asked` is the path that somebody named, where the
    source was found below it.
    """

    provider: str
    reader: str
    root: Path
    patterns: tuple[str, ...]
    convention: Convention
    asked: Path | None = None


def files_of(source: Source) -> Iterator[Path]:
    """In the order of their names as bytes; a link to a folder is not followed.

    A folder that cannot be listed stands for its files: who reads it finds that it cannot be read.
    """
    if source.root.is_file():
        yield source.root
        return
    yield from matching(source.root, source.patterns)


def matching(root: Path, patterns: Iterable[str]) -> Iterator[Path]:
    """The files below a folder that fit a pattern, and folders that cannot be listed, maybe more than once."""
    for pattern in patterns:
        folder, _, _ = pattern[: pattern.index("*")].rpartition("/")
        fit = _pattern(pattern[len(folder) + bool(folder) :])
        below = root / folder
        yield from (below / path for path in _below(below, "") if path.endswith("/") or fit.match(path))


def _below(folder: Path | str, relative: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: os.fsencode(entry.name))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        yield relative or "./"
        return
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path, f"{relative}{entry.name}/")
        elif _may_be_file(entry):
            yield f"{relative}{entry.name}"


def _may_be_file(entry: os.DirEntry[str]) -> bool:
    """A link that leads nowhere is none; one of which the system does not say where it leads may be one."""
    try:
        return entry.is_file()
    except OSError:
        return True


def _pattern(glob: str) -> re.Pattern[str]:
    words = re.split(r"(\*\*/|\*)", glob)
    return re.compile("".join({"**/": "(?:.*/)?", "*": "[^/]*"}.get(word, re.escape(word)) for word in words) + r"\Z")
