"""What a CLI must find in the user's own files before it starts, and its addition where that is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.launch.user_files import ContraryError, NotAddableError, add, agreed, stands, taken_back
from agentmux_launcher.user_entry import entry_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentmux_launcher.launch import Launch
    from agentmux_launcher.manifest import Need
    from agentmux_launcher.person import Person
    from agentmux_launcher.user_entry import Entry


def meet(launch: Launch, person: Callable[[], Person | None], *, allowed: bool) -> list[str]:
    """Add what is missing, by `--prepare` or if the person at the terminal agrees; what is worth knowing of it."""
    return [said for need in _needs(launch) for said in _met(launch, need, person, allowed=allowed)]


def entries(launch: Launch) -> list[Entry]:
    """What the CLI must find, wherever its files are here."""
    return [_entry(launch, need) for need in _needs(launch)]


def _needs(launch: Launch) -> list[Need]:
    return [need for need in launch.plan.needs if need.given in launch.env]


def _entry(launch: Launch, need: Need) -> Entry:
    return entry_for(need.entry, launch.folder, launch.env, 0)


def _met(launch: Launch, need: Need, person: Callable[[], Person | None], *, allowed: bool) -> list[str]:
    entry, name = _entry(launch, need), launch.plan.provider
    lacks = f"`{name}` lacks {need.lacks}"
    try:
        if stands(entry):
            return []
    except ContraryError:
        return []  # the user has said otherwise
    except (NotAddableError, OSError, ValueError) as error:
        return [f"`{entry.file}` is left as it is: {error}", lacks] if allowed else []
    if not allowed and not agreed(launch, f"{lacks}; add it to {entry.file}?", person):
        return [f"{lacks}; `--prepare` adds it to `{entry.file}`"]
    try:
        made = add(entry, launch.env)
    except (NotAddableError, OSError, ValueError) as error:
        return [f"`{entry.file}` is left as it is: {error}", lacks]
    return [f"{lacks}; it was added {taken_back(entry, made=made)}"]
