"""Frames of `gemini --output-format stream-json`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import End, Event, Notice, Session, Text, ToolCall, ToolResult, Unknown, Usage
from agentmux_launcher.translators.base import Translator
from agentmux_launcher.translators.values import count, first, mapping, shown
from agentmux_launcher.trouble import Trouble
from agentmux_launcher.usage import ZERO, Tokens, normal, since

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from agentmux_launcher.usage import Convention, Start

CODE = re.compile(r'"code": ?(\d{3})\b')


class GeminiTranslator(Translator):
    """Reads frames in order. The figures of a `result` are those of the process."""

    def __init__(self, convention: Convention, _start: Start) -> None:
        self._convention = convention
        self._model: str | None = None
        self._before: Tokens | None = ZERO
        self._readers: dict[str, Callable[[Mapping[str, Any]], Iterator[Event | Trouble]]] = {
            "error": _error,
            "init": self._init,
            "message": _message,
            "result": self._result,
            "tool_result": _tool_result,
            "tool_use": _tool_use,
        }

    def translate(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        read = self._readers.get(str(frame.get("type")))
        if read:
            yield from read(frame)
        else:
            yield Unknown(frame)

    def _init(self, frame: Mapping[str, Any]) -> Iterator[Event]:
        self._model = first(frame.get("model"))
        yield Session(first(frame.get("session_id")), self._model)

    def _result(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        failed = frame.get("status") != "success"
        now = normal(figures(mapping(frame.get("stats"))), self._convention)
        before, self._before = self._before, now
        tokens = since(now, before)
        # After an error it forgets the calls that it made: 0 is not known.
        if tokens and not (failed and now.nothing):
            yield Usage(
                "turn",
                tokens.input,
                tokens.cache_read,
                None,
                None,
                tokens.output,
                tokens.reasoning,
                model=self._model,
            )
        if failed:
            yield _trouble(frame)
        yield End("error" if failed else "end_turn")


def figures(stats: Mapping[str, Any]) -> Tokens:
    """The figures as Gemini says them; what neither went in nor came out as an answer was thought."""
    total, given, answered = (count(stats.get(name)) for name in ("total_tokens", "input_tokens", "output_tokens"))
    thought = None if total is None or given is None or answered is None else max(0, total - given - answered)
    return Tokens(given, count(stats.get("cached")), None, None, answered, thought)


def _message(frame: Mapping[str, Any]) -> Iterator[Event]:
    text = first(frame.get("content"))
    if frame.get("role") == "assistant" and text:
        yield Text(text)
    elif frame.get("role") != "user" and text:
        yield Notice(text, "cli")


def _tool_use(frame: Mapping[str, Any]) -> Iterator[Event]:
    yield ToolCall(first(frame.get("tool_id")) or "", first(frame.get("tool_name")) or "", frame.get("parameters"))


def _tool_result(frame: Mapping[str, Any]) -> Iterator[Event]:
    ok = frame.get("status") == "success"
    error = first(mapping(frame.get("error")).get("message"))
    output = frame.get("output") if ok or not error else error
    yield ToolResult(first(frame.get("tool_id")) or "", ok, shown(output))


def _error(frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
    text = first(frame.get("message")) or ""
    yield Notice(text, "cli") if frame.get("severity") != "error" else Trouble(text, None, (), "error")


def _trouble(frame: Mapping[str, Any]) -> Trouble:
    error = mapping(frame.get("error"))
    text, kind = first(error.get("message")) or "", first(error.get("type"))
    code = CODE.search(text)
    return Trouble(text, int(code[1]) if code else None, (kind,) if kind else (), "final")
