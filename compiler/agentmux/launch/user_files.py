"""Entries in files of the user's own: whether one stands, whether it may be added, and how that is done."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from agentmux.launch.preparation import FOLDER
from agentmux_compiler.render.visible import visible
from agentmux_compiler.tree import digest
from agentmux_compiler.writing.disk import write_file
from agentmux_compiler.writing.lock import exclusive
from agentmux_compiler.writing.user_entry import ContraryError, NotAddableError, added, holds
from agentmux_launcher.managed import home

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentmux_launcher.launch import Launch
    from agentmux_launcher.person import Person
    from agentmux_launcher.user_entry import Entry

LOCK = "user-files.lock"


def stands(entry: Entry) -> bool:
    """Whether what it says stands in its file.

    Raises:
        NotAddableError, OSError, ValueError: the file says the contrary, or cannot be read.
    """
    return entry.file.exists() and holds(entry.file.name, _text(entry), entry.text)


def addable(entry: Entry) -> bool:
    """Whether it is not there and nothing speaks against it, as far as reading tells."""
    try:
        return not entry.file.is_symlink() and not stands(entry)
    except (NotAddableError, OSError, ValueError):
        return False


def add(entry: Entry, environ: Mapping[str, str]) -> bool:
    """Add it, one launch at a time; whether the file is a new one.

    Raises:
        OSError: the system refuses, or a link stands at the file or on the way to it.
        NotAddableError, ValueError: the file is not what it should be.
    """
    ours = home(environ)
    for folder in (ours, entry.root):
        folder.mkdir(parents=True, exist_ok=True)
    with exclusive(ours / LOCK):
        made = not entry.file.exists()
        text = "" if made else _text(entry)
        write_file(entry.root, entry.path, added(entry.file.name, text, entry.text).encode())
    return made


def taken_back(entry: Entry, *, made: bool) -> str:
    """By what it was done, and how a person undoes it."""
    if made:
        return f"by the new file `{entry.file}`; remove that file to take that back"
    return f"by an entry in `{entry.file}`; take it out there to take that back"


def agreed(launch: Launch, question: str, person: Callable[[], Person | None]) -> bool:
    """Ask, unless the same was refused before; a refusal is kept with the project."""
    refused = launch.project / FOLDER / f"refused-{digest(question.encode('utf-8', 'surrogateescape'))[:16]}"
    somebody = None if refused.exists() else person()
    if somebody is None:
        return False
    if somebody.ask(f"{visible(question)} [y/N] ").lower() in {"y", "yes"}:
        return True
    with contextlib.suppress(OSError):
        refused.parent.mkdir(parents=True, exist_ok=True)
        refused.touch()
    return False


def _text(entry: Entry) -> str:
    if not entry.file.is_file():
        raise NotAddableError("it is no file")
    return entry.file.read_bytes().decode()


__all__ = ["ContraryError", "NotAddableError", "add", "addable", "agreed", "stands", "taken_back"]
