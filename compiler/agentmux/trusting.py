"""What a CLI holds back from a folder that it does not trust, and the entry that changes that where it is allowed."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.preparation import FOLDER
from agentmux_compiler.render.visible import visible
from agentmux_compiler.tree import digest
from agentmux_compiler.writing.disk import write_file
from agentmux_compiler.writing.lock import exclusive
from agentmux_compiler.writing.user_entry import NotAddableError, added, holds
from agentmux_launcher.managed import home
from agentmux_launcher.trust import Entry, entry_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentmux_launcher.launch import Launch
    from agentmux_launcher.manifest import Gate
    from agentmux_launcher.person import Person

LOCK = "trust.lock"


def settle(launch: Launch, person: Callable[[], Person | None]) -> list[str]:
    """Open the gate of a launch by its file, as far as that is allowed; what a person should know of it.

    It is allowed by `--trust`, or by the person at the terminal, who is asked once for each folder.
    """
    gate, entry = launch.plan.gate, wanted(launch)
    if gate is None or _open(launch, gate) or (entry is not None and _stands(entry)):
        return []
    if not launch.trusted and not _holds_back(launch, gate):
        return []
    if entry is not None and (launch.trusted or _agreed(launch, gate, entry, person)):
        return _let(launch, gate, entry)
    return [_notice(launch, gate)]


def wanted(launch: Launch) -> Entry | None:
    """The entry that would open the gate for good, None where that is not the way."""
    file = launch.plan.gate.file if launch.plan.gate else None
    return entry_for(file, launch.folder, launch.env, int(time.time())) if file else None


def _open(launch: Launch, gate: Gate) -> bool:
    """Whether this launch opens it, or the plan always does."""
    by_plan = bool(gate.set) and gate.set.items() <= launch.plan.env.set.items()
    return by_plan or (launch.trusted and gate.openable)


def _stands(entry: Entry) -> bool:
    try:
        return entry.file.exists() and holds(entry.file.name, _text(entry), entry.text)
    except (NotAddableError, OSError, ValueError):
        return False


def _holds_back(launch: Launch, gate: Gate) -> bool:
    """Whether there is something that it would leave out; where it names no file, there may always be."""
    named = (Path(launch.folder) / word for word in gate.drops.split() if "." in word or "/" in word)
    return gate.asks == "folder" or any(path.exists() for path in named)


def _agreed(launch: Launch, gate: Gate, entry: Entry, person: Callable[[], Person | None]) -> bool:
    """Ask, unless this folder has been refused already; a refusal is kept with the project."""
    refused = launch.project / FOLDER / f"untrusted-{launch.plan.provider}-{digest(os.fsencode(launch.folder))[:12]}"
    somebody = None if refused.exists() else person()
    if somebody is None:
        return False
    asked = f"let `{launch.plan.provider}` trust {launch.folder}? it leaves out {gate.drops} otherwise;"
    if somebody.ask(f"{visible(f'{asked} yes adds an entry to {entry.file}')} [y/N] ").lower() in {"y", "yes"}:
        return True
    with contextlib.suppress(OSError):
        refused.parent.mkdir(parents=True, exist_ok=True)
        refused.touch()
    return False


def _let(launch: Launch, gate: Gate, entry: Entry) -> list[str]:
    made = not entry.file.exists()
    try:
        _write(launch, entry)
    except (NotAddableError, OSError, ValueError) as error:
        return [f"`{entry.file}` is left as it is: {error}", _notice(launch, gate)]
    way = "remove that file" if made else "take it out there"
    how = "the new file" if made else "an entry in"
    return [
        f"`{launch.plan.provider}` trusts this folder from now on, by {how} `{entry.file}`; {way} to take that back"
    ]


def _write(launch: Launch, entry: Entry) -> None:
    """Add the entry, one launch at a time.

    Raises:
        OSError: the system refuses, or a link stands at the file or on the way to it.
        NotAddableError, ValueError: the file is not what it should be.
    """
    ours = home(launch.env)
    for folder in (ours, entry.root):
        folder.mkdir(parents=True, exist_ok=True)
    with exclusive(ours / LOCK):
        text = _text(entry) if entry.file.exists() else ""
        write_file(entry.root, entry.path, added(entry.file.name, text, entry.text).encode())


def _text(entry: Entry) -> str:
    return entry.file.read_bytes().decode()


def _notice(launch: Launch, gate: Gate) -> str:
    way = (
        "; `--trust` lets it for this run" if gate.openable else "; `--trust` lets it from now on" if gate.file else ""
    )
    return f"unless it trusts this folder, `{launch.plan.provider}` leaves out {gate.drops}{way}"
