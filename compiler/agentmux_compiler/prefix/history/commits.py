"""The commits of a range, first parents only, as git has them."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.trees.git_objects import GitError, output

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux_compiler.trees.git_objects import Objects

_AUTHOR = re.compile(r"^author .*> (-?\d+) ([+-])(\d\d)(\d\d)$", re.MULTILINE)
_PARENT = re.compile(r"^parent (\w+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Commit:
    """`date` is its author's, ISO, in the author's time zone; `parent` the first one, None for a root."""

    id: str
    date: str
    subject: str
    parent: str | None


@dataclass(frozen=True, slots=True)
class Range:
    """Commits, newest first; `before` is the parent of the oldest, if the range names a beginning and there is one."""

    commits: tuple[str, ...]
    before: Commit | None


def has_beginning(text: str) -> bool:
    """Whether a range names where it begins, as `A..B` does, and not only where it ends."""
    return ".." in text


def commits(root: Path, repository: Objects, text: str) -> Range:
    """What `git log --first-parent` would list.

    Raises:
        GitError: there is no such range.
    """
    last = text if has_beginning(text) else repository.commit(text)
    ids = output(root, "rev-list", "--first-parent", "--end-of-options", last, "--").decode("ascii").split()
    parent = read(repository, ids[-1]).parent if ids and has_beginning(text) else None
    return Range(tuple(ids), _if_there(repository, parent) if parent else None)


def is_shallow(root: Path) -> bool:
    return output(root, "rev-parse", "--is-shallow-repository").strip() == b"true"


def read(repository: Objects, id_: str) -> Commit:
    """A commit from its object.

    Raises:
        GitError: it is missing.
    """
    head, _, message = repository.content(id_).decode("utf-8", "replace").partition("\n\n")
    parent, author = _PARENT.search(head), _AUTHOR.search(head)
    subject = " ".join(message.lstrip("\n").partition("\n\n")[0].split())
    return Commit(id_, _date(*author.groups()) if author else "", subject, parent[1] if parent else None)


def _date(seconds: str, sign: str, hours: str, minutes: str) -> str:
    offset = int(f"{sign}1") * dt.timedelta(hours=int(hours), minutes=int(minutes))
    try:
        return (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=int(seconds)) + offset).date().isoformat()
    except OverflowError:
        return ""


def _if_there(repository: Objects, id_: str) -> Commit | None:
    """None where a shallow clone ends."""
    try:
        return read(repository, id_)
    except GitError:
        return None
