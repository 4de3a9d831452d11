"""Permissions in ACP: what an agent asks, and what it was answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import Event, Permission, PermissionOption
from agentmux_launcher.translators.values import first, mapping, mappings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CANCELLED = "cancelled"


class Permissions:
    """Those asked and not yet answered. `rejected`: one was since somebody set this to false."""

    def __init__(self) -> None:
        self._asked: dict[str, Permission] = {}
        self.rejected = False

    def asked(self, request_id: str, params: Mapping[str, Any], tool: str | None) -> Permission:
        """A request; `tool` is the name of what it is about."""
        call = mapping(params.get("toolCall"))
        options = tuple(map(_option, mappings(params.get("options"))))
        named, given = first(call.get("toolCallId")), call.get("rawInput")
        permission = Permission(request_id, options, None, tool, named, given, first(call.get("title")))
        self._asked[request_id] = permission
        return permission

    def answered(self, request_id: str, frame: Mapping[str, Any]) -> Iterator[Event]:
        """An answer that went to the agent; one that chooses nothing calls the request off."""
        asked = self._asked.pop(request_id, None)
        if asked is None:
            return
        outcome = mapping(mapping(frame.get("result")).get("outcome"))
        chosen = first(outcome.get("optionId")) if outcome.get("outcome") == "selected" else None
        kinds = {option.id: option.kind for option in asked.options}
        self.rejected = self.rejected or kinds.get(chosen or "", "").startswith("reject")
        yield Permission(asked.id, asked.options, chosen or CANCELLED, asked.tool, asked.tool_call_id)


def _option(item: Mapping[str, Any]) -> PermissionOption:
    return PermissionOption(
        first(item.get("optionId")) or "", first(item.get("kind")) or "", first(item.get("name")) or ""
    )
