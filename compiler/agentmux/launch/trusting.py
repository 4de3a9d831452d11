"""What a CLI holds back from a folder that it does not trust, and the entry that changes that where it is allowed."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.launch.user_files import NotAddableError, add, agreed, stands, taken_back
from agentmux_launcher.user_entry import Entry, entry_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentmux_launcher.launch import Launch
    from agentmux_launcher.manifest import Gate
    from agentmux_launcher.person import Person


def settle(launch: Launch, person: Callable[[], Person | None]) -> list[str]:
    """Open the gate of a launch by its file, as far as that is allowed; what a person should know of it.

    It is allowed by `--trust`, or by the person at the terminal, who is asked once for each folder.
    """
    gate, entry = launch.plan.gate, _wanted(launch)
    if gate is None or _open(launch, gate) or (entry is not None and _stands(entry)):
        return []
    if not launch.trusted and not _holds_back(launch, gate):
        return []
    if entry is not None and (launch.trusted or agreed(launch, _question(launch, gate, entry), person)):
        return _let(launch, gate, entry)
    return [_notice(launch, gate)]


def allowed(launch: Launch) -> Entry | None:
    """The entry that `--trust` adds where it is not there; None where that is not the way, or was not given."""
    gate = launch.plan.gate
    return None if gate is None or not launch.trusted or _open(launch, gate) else _wanted(launch)


def _wanted(launch: Launch) -> Entry | None:
    """The entry that would open the gate for good, None where that is not the way."""
    file = launch.plan.gate.file if launch.plan.gate else None
    return entry_for(file, launch.folder, launch.env, int(time.time())) if file else None


def _open(launch: Launch, gate: Gate) -> bool:
    """Whether this launch opens it, or its environment does: by the spec, or by whoever started us."""
    by_environment = bool(gate.set) and gate.set.items() <= launch.env.items()
    return by_environment or (launch.trusted and gate.openable)


def _stands(entry: Entry) -> bool:
    try:
        return stands(entry)
    except (NotAddableError, OSError, ValueError):
        return False


def _holds_back(launch: Launch, gate: Gate) -> bool:
    """Whether there is something that it would leave out; where it names no file, there may always be."""
    named = (Path(launch.folder) / word for word in gate.drops.split() if "." in word or "/" in word)
    return gate.asks == "folder" or any(path.exists() for path in named)


def _question(launch: Launch, gate: Gate, entry: Entry) -> str:
    asked = f"let `{launch.plan.provider}` trust {launch.folder}? it leaves out {gate.drops} otherwise;"
    return f"{asked} yes adds an entry to {entry.file}"


def _let(launch: Launch, gate: Gate, entry: Entry) -> list[str]:
    try:
        made = add(entry, launch.env)
    except (NotAddableError, OSError, ValueError) as error:
        return [f"`{entry.file}` is left as it is: {error}", _notice(launch, gate)]
    return [f"`{launch.plan.provider}` trusts this folder from now on, {taken_back(entry, made=made)}"]


def _notice(launch: Launch, gate: Gate) -> str:
    way = (
        "; `--trust` lets it for this run" if gate.openable else "; `--trust` lets it from now on" if gate.file else ""
    )
    return f"unless it trusts this folder, `{launch.plan.provider}` leaves out {gate.drops}{way}"
