"""Which of an agent's options answers a permission request: by its kind, never by its place or its id."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentmux_launcher.translators.values import first, mapping, mappings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentmux_launcher.permission import Decision

CANCELLED: Mapping[str, Any] = {"outcome": {"outcome": "cancelled"}}
# What lasts is granted where a person asked for it, or where the agent leaves no other way.
_ONCE, _ALWAYS, _NO = (
    ("allow_once", "allow_always"),
    ("allow_always", "allow_once"),
    ("reject_once", "reject_always"),
)


def outcome(asked: Mapping[str, Any], decision: Decision) -> Mapping[str, Any]:
    """The result that answers `session/request_permission`; one that no option fits is cancelled."""
    kinds = (_ALWAYS if decision.always else _ONCE) if decision.allows else _NO
    by_kind = {first(option.get("kind")): first(option.get("optionId")) for option in reversed(options(asked))}
    chosen = next((by_kind[kind] for kind in kinds if by_kind.get(kind)), None)
    return CANCELLED if chosen is None else {"outcome": {"outcome": "selected", "optionId": chosen}}


def options(asked: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return mappings(asked.get("options"))


def passes(asked: Mapping[str, Any], kinds: Sequence[str], folder: str) -> bool:
    """Whether a request is for a tool of one of these kinds that touches nothing outside of the folder."""
    call = mapping(asked.get("toolCall"))
    paths = [*_paths(call.get("locations")), *_paths(call.get("content"))]
    return call.get("kind") in kinds and bool(paths) and all(_inside(path, folder) for path in paths)


def _paths(value: Any) -> list[str]:
    return [path for each in mappings(value) if (path := first(each.get("path")))]


def _inside(path: str, folder: str) -> bool:
    try:
        return (Path(folder) / path).resolve().is_relative_to(folder)
    except (OSError, ValueError):
        return False
