"""Frames of `codex exec --json`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import (
    End,
    Event,
    Notice,
    Retry,
    Session,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)
from agentmux_launcher.translators.base import Translator
from agentmux_launcher.translators.values import count, first, mapping, mappings, shown
from agentmux_launcher.trouble import Trouble
from agentmux_launcher.usage import Tokens, normal, since

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from agentmux_launcher.usage import Convention, Start

RECONNECTING = re.compile(r"Reconnecting\.\.\. (?:(?P<attempt>\d+)/\d+|[^(]*?) ?\((?P<reason>.*)\)\Z", re.DOTALL)
STATUS = re.compile(r"(?:unexpected status|last status:) (\d{3})\b")
SAID: dict[str, Callable[[str, str | None], Text | Thinking]] = {
    "agent_message": Text,
    "message": Text,
    "plan": Text,
    "reasoning": Thinking,
}
# Item: what of it is a tool's input.
TOOLS = {
    "collab_tool_call": ("tool", "prompt", "receiver_thread_ids"),
    "command_execution": ("command",),
    "file_change": ("changes",),
    "mcp_tool_call": ("arguments",),
    "web_search": ("query", "action"),
}


class CodexTranslator(Translator):
    """Reads frames in order. The figures of `turn.completed` are those of the whole thread."""

    def __init__(self, convention: Convention, start: Start) -> None:
        self._convention = convention
        self._session = Session()
        self._called: set[str] = set()
        self._said: dict[str, str] = {}
        self.counters = start.counters
        self._readers: dict[str, Callable[[Mapping[str, Any]], Iterator[Event | Trouble]]] = {
            "error": self._error,
            "item.completed": lambda frame: self._item(frame, done=True),
            "item.started": lambda frame: self._item(frame, done=False),
            "item.updated": lambda frame: self._item(frame, done=False),
            "thread.started": self._thread,
            "turn.completed": self._completed,
            "turn.failed": self._failed,
            "turn.started": _nothing,
        }

    def translate(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        read = self._readers.get(str(frame.get("type")))
        if read:
            yield from read(frame)
        else:
            yield Unknown(frame)

    def _thread(self, frame: Mapping[str, Any]) -> Iterator[Event]:
        session = Session(first(frame.get("thread_id")))
        if session != self._session:
            self._session = session
            yield session

    def _completed(self, frame: Mapping[str, Any]) -> Iterator[Event]:
        usage = frame.get("usage")
        if isinstance(usage, dict):
            before, self.counters = self.counters, normal(figures(usage), self._convention)
            if tokens := since(self.counters, before):
                yield Usage(
                    "turn",
                    tokens.input,
                    tokens.cache_read,
                    tokens.cache_write,
                    None,
                    tokens.output,
                    tokens.reasoning,
                )
        yield End("end_turn")
        self._said.clear()

    def _failed(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        yield _trouble(first(mapping(frame.get("error")).get("message"), frame.get("message")) or "", "final")
        yield End("error")
        self._said.clear()

    def _error(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        message = first(frame.get("message")) or ""
        again = RECONNECTING.match(message)
        if not again:
            yield _trouble(message, "error")
            return
        reason, attempt = again["reason"], again["attempt"]
        trouble = _trouble(reason, "retry")
        yield Retry(int(attempt) if attempt else None, trouble.status, None, reason)
        yield trouble

    def _item(self, frame: Mapping[str, Any], *, done: bool) -> Iterator[Event]:
        item = mapping(frame.get("item"))
        kind, name = str(item.get("type")), first(item.get("id")) or ""
        if kind in SAID:
            yield from self._speak(kind, name, first(item.get("text")) or "")
        elif kind == "todo_list":
            yield from self._speak("reasoning", name, _to_do(item), whole=True)
        elif kind in TOOLS:
            yield from self._tool(kind, name, item, done=done)
        elif kind == "error" and done:
            yield Notice(first(item.get("message")) or "", "cli")
        elif kind != "error":
            yield Unknown(frame)

    def _speak(self, kind: str, name: str, text: str, *, whole: bool = False) -> Iterator[Event]:
        """What a snapshot of an item adds to the one before; a list is said again as a whole."""
        before = self._said.get(name, "")
        more = text[len(before) :] if text.startswith(before) and not whole else text
        if more and text != before:
            self._said[name] = text
            yield SAID[kind](more, name)

    def _tool(self, kind: str, name: str, item: Mapping[str, Any], *, done: bool) -> Iterator[Event]:
        if name not in self._called:
            self._called.add(name)
            yield ToolCall(name, _tool_name(kind, item), _tool_input(kind, item))
        if done:
            self._called.discard(name)
            yield ToolResult(name, _went_well(item), _tool_output(kind, item))


def figures(usage: Mapping[str, Any]) -> Tokens:
    """The figures as Codex says them."""
    return Tokens(
        count(usage.get("input_tokens")),
        count(usage.get("cached_input_tokens")),
        count(usage.get("cache_write_input_tokens")),
        None,
        count(usage.get("output_tokens")),
        count(usage.get("reasoning_output_tokens")),
    )


def _trouble(text: str, weight: Any) -> Trouble:
    status = STATUS.search(text)
    return Trouble(text, int(status[1]) if status else None, (), weight)


def _to_do(item: Mapping[str, Any]) -> str:
    lines = (f"[{'x' if step.get('completed') else ' '}] {step.get('text')}" for step in mappings(item.get("items")))
    return "\n".join(lines)


def _tool_name(kind: str, item: Mapping[str, Any]) -> str:
    return f"mcp__{item.get('server')}__{item.get('tool')}" if kind == "mcp_tool_call" else kind


def _tool_input(kind: str, item: Mapping[str, Any]) -> Any:
    if kind == "mcp_tool_call":
        return item.get("arguments")
    return {field: item[field] for field in TOOLS[kind] if item.get(field) is not None}


def _tool_output(kind: str, item: Mapping[str, Any]) -> str:
    error = first(mapping(item.get("error")).get("message"))
    if kind == "command_execution":
        return first(item.get("aggregated_output")) or ""
    if kind == "mcp_tool_call":
        result = mapping(item.get("result"))
        return error or shown(result.get("content"))
    return error or (shown(item.get("agents_states")) if kind == "collab_tool_call" else "")


def _went_well(item: Mapping[str, Any]) -> bool | None:
    status = item.get("status")
    return {"completed": True, "failed": False, "declined": False}.get(status) if isinstance(status, str) else None


def _nothing(_frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
    yield from ()
