"""Permissions in Claude's dialect: what the CLI asks, what it was answered, what it denied by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import Event, Permission, PermissionOption, Unknown
from agentmux_launcher.translators.values import first, mapping, mappings, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ALLOW_ONCE = PermissionOption("allow_once", "allow_once", "allow once")
ALLOW_ALWAYS = PermissionOption("allow_always", "allow_always", "allow from now on")
REJECT_ONCE = PermissionOption("reject_once", "reject_once", "deny")
CANCELLED = "cancelled"


class Permissions:
    """Those asked and not yet answered; `denied` are the tool calls of this turn that were refused."""

    def __init__(self) -> None:
        self._asked: dict[str, Permission] = {}
        self.denied: set[str] = set()

    def asked(self, frame: Mapping[str, Any]) -> Iterator[Event]:
        request = mapping(frame.get("request"))
        if request.get("subtype") != "can_use_tool":
            yield Unknown(frame)
            return
        lasting = (ALLOW_ALWAYS,) if sequence(request.get("permission_suggestions")) else ()
        permission = Permission(
            first(frame.get("request_id")) or "",
            (ALLOW_ONCE, *lasting, REJECT_ONCE),
            None,
            first(request.get("tool_name")),
            first(request.get("tool_use_id")),
            request.get("input"),
            first(request.get("description")),
        )
        self._asked[permission.id] = permission
        yield permission

    def answered(self, frame: Mapping[str, Any]) -> Iterator[Event]:
        """An answer that went to the CLI."""
        response = mapping(frame.get("response"))
        given = mapping(response.get("response"))
        allowed = response.get("subtype") == "success" and given.get("behavior") == "allow"
        once = ALLOW_ALWAYS if sequence(given.get("updatedPermissions")) else ALLOW_ONCE
        yield from self._close(first(response.get("request_id")), (once if allowed else REJECT_ONCE).id)

    def withdrawn(self, frame: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._close(first(frame.get("request_id")), CANCELLED)

    def refused(self, frame: Mapping[str, Any]) -> Iterator[Event]:
        """A call that the CLI refused without asking."""
        call, tool = first(frame.get("tool_use_id")), first(frame.get("tool_name"))
        if call and call not in self.denied:
            self.denied.add(call)
            reason = first(frame.get("message"))
            yield Permission(call, (), REJECT_ONCE.id, tool, call, frame.get("tool_input"), reason)

    def listed(self, frame: Mapping[str, Any]) -> Iterator[Event]:
        """Those that a closing frame lists and nobody has seen."""
        for denial in mappings(frame.get("permission_denials")):
            yield from self.refused(denial)

    def _close(self, request: str | None, chosen: str) -> Iterator[Event]:
        asked = self._asked.pop(request or "", None)
        if asked:
            if chosen != CANCELLED and not chosen.startswith("allow") and asked.tool_call_id:
                self.denied.add(asked.tool_call_id)
            yield Permission(asked.id, asked.options, chosen, asked.tool, asked.tool_call_id)
