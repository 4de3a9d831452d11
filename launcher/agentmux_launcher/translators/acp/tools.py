"""Tool calls of ACP: whatever is said of one, in whatever order, becomes one call and one result."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import Event, ToolCall, ToolResult
from agentmux_launcher.translators.values import first, mapping, mappings, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ENDS = {"completed": True, "failed": False}
BEGUN = {"in_progress", *ENDS}
NAME = re.compile(r"[\w./-]+\Z")
# OpenCode and Kilo send these before the arguments of the call have come whole.
PRELIMINARY = {"cwd"}
# Where agents stream what a terminal shows.
TERMINAL = ("terminal_output", "terminal_output_delta")


@dataclass(slots=True)
class _Call:
    """What has been said of a call so far."""

    name: str | None = None
    title: str = ""
    kind: str | None = None
    input: Any = None
    content: Any = None
    output: Any = None
    terminal: list[str] = field(default_factory=list)
    told: bool = False


class Tools:
    """Calls by their ids. `called`: there was one since somebody set this to false."""

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}
        self._ended: set[str] = set()
        self.called = False

    def turn_began(self) -> None:
        """What ended before may come up again only by chance."""
        self._ended.clear()

    def name(self, call_id: str) -> str | None:
        call = self._calls.get(call_id)
        return _name(call) if call else None

    def take(self, call_id: str, said: Mapping[str, Any], *, asked: bool = False) -> Iterator[Event]:
        """One thing that an agent says of a call; `asked`: it asks for permission, so that the arguments are whole."""
        if call_id in self._ended:
            return
        call = self._calls.setdefault(call_id, _Call())
        _learn(call, said)
        status = first(said.get("status"))
        if not call.told and (asked or status in BEGUN or _whole(call.input) or call.content or call.terminal):
            call.told = self.called = True
            yield ToolCall(call_id, _name(call), _input(call))
        if status in ENDS:
            self._ended.add(call_id)
            del self._calls[call_id]
            yield ToolResult(call_id, ENDS[status], _output(call))


def _learn(call: _Call, said: Mapping[str, Any]) -> None:
    """Take over what is said and keep what is not."""
    meta = mapping(said.get("_meta"))
    call.name = _named(said, meta) or call.name
    call.title = call.title or first(said.get("title")) or ""
    call.kind = first(said.get("kind")) or call.kind
    if said.get("rawInput") is not None and not call.told:
        call.input = said["rawInput"]
    if mappings(said.get("content")):
        call.content = [item for item in mappings(said["content"]) if item.get("type") != "terminal"]
    if said.get("rawOutput") is not None:
        call.output = said["rawOutput"]
    if meta:
        call.terminal += [data for key in TERMINAL if (data := first(mapping(meta.get(key)).get("data")))]


def _named(said: Mapping[str, Any], meta: Mapping[str, Any]) -> str | None:
    own = (mapping(meta.get(key)) for key in ("claudeCode", "x.ai/tool"))
    claude, grok = own
    return first(said.get("name"), meta.get("toolName"), claude.get("toolName"), grok.get("name"))


def _name(call: _Call) -> str:
    """The tool's name; where an agent has none, the name that its title is or begins with, else the kind of tool."""
    if call.name:
        return call.name
    head, colon, _ = call.title.partition(": ")
    named = NAME.match(call.title) or (colon and NAME.match(head))
    return head if named and call.input is not None else call.kind or call.title or "tool"


def _whole(given: Any) -> bool:
    return bool(given) if not isinstance(given, dict) else not given.keys() <= PRELIMINARY


def _input(call: _Call) -> Any:
    """The arguments; Gemini and Pi say no more of a command than its title."""
    if call.input is not None:
        return call.input
    return call.title if call.title and call.title != _name(call) else {}


def _output(call: _Call) -> str:
    if isinstance(call.output, str):
        return call.output
    if words := _content(call.content) or "".join(call.terminal):
        return words
    known = mapping(call.output)
    return first(known.get("output"), known.get("error"), known.get("content")) or shown(call.output)


def _content(content: Any) -> str:
    return "\n".join(filter(None, map(_piece, mappings(content))))


def _piece(item: Mapping[str, Any]) -> str:
    if item.get("type") == "diff":
        return f"[diff] {first(item.get('path')) or ''}".rstrip()
    return shown([item["content"]]) if isinstance(item.get("content"), dict) else ""
