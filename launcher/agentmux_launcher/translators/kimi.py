"""Frames of Kimi Code's `--output-format stream-json`, and of the kimi-cli before it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import End, Event, Notice, Retry, Session, Text, Thinking, ToolCall, ToolResult, Unknown
from agentmux_launcher.translators.base import Translator
from agentmux_launcher.translators.values import count, first, mapping, mappings, milliseconds, parsed, shown
from agentmux_launcher.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentmux_launcher.usage import Convention, Start

# Neither marks the result of a tool that failed; what each writes into it does.
FAILED = re.compile(r"\A<system>ERROR: |^Command failed with exit code: \d+\.\Z", re.MULTILINE)
PARTS: dict[str, type[Text | Thinking]] = {"text": Text, "think": Thinking}


class KimiTranslator(Translator):
    """Reads frames in order. The session's id is in the last one; the older CLI has no last one, and none no usage."""

    def __init__(self, _convention: Convention, _start: Start) -> None:
        self._session = Session()
        self.closes = False

    def translate(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        role = frame.get("role")
        if role == "assistant":
            yield from _said(frame)
        elif role == "tool":
            yield from _tool_result(frame)
        elif role == "meta":
            yield from self._meta(frame)
        elif role is None and (words := first(frame.get("body"), frame.get("title"))):
            yield Notice(words, "cli")
        else:
            yield Unknown(frame)

    def _meta(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        kind = frame.get("type")
        if kind == "system.version":
            self.closes = True
            self._session = Session(cli_version=first(frame.get("version")))
            yield self._session
        elif kind == "session.resume_hint":
            yield Session(first(frame.get("session_id")), cli_version=self._session.cli_version)
            yield End("end_turn")
        elif kind == "turn.step.retrying":
            yield from _retry(frame)
        else:
            yield Unknown(frame)


def _retry(frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
    text, status, kind = (
        first(frame.get("error_message")),
        count(frame.get("status_code")),
        first(frame.get("error_name")),
    )
    yield Retry(count(frame.get("failed_attempt")), status, milliseconds(frame.get("delay_ms")), text)
    yield Trouble(text or "", status, (kind,) if kind else (), "retry")


def _said(frame: Mapping[str, Any]) -> Iterator[Event]:
    content = frame.get("content")
    if text := first(content):
        yield Text(text)
    for part in mappings(content):
        kind = str(part.get("type"))
        if kind in PARTS and (text := first(part.get(kind))):
            yield PARTS[kind](text)
    for call in mappings(frame.get("tool_calls")):
        function = mapping(call.get("function"))
        yield ToolCall(
            first(call.get("id")) or "", first(function.get("name")) or "", parsed(function.get("arguments"))
        )


def _tool_result(frame: Mapping[str, Any]) -> Iterator[Event]:
    output = shown(frame.get("content"))
    yield ToolResult(first(frame.get("tool_call_id")) or "", False if FAILED.search(output) else None, output)
