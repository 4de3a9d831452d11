"""Frames of `agy --output-format stream-json`, as its public recordings and its description show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import End, Event, Session, Text, Thinking, ToolCall, ToolResult, Unknown, Usage
from agentmux_launcher.translators.base import Translator
from agentmux_launcher.translators.values import count, first, mapping, shown
from agentmux_launcher.trouble import Trouble
from agentmux_launcher.usage import ZERO, Tokens, normal, plus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentmux_launcher.usage import Convention, Start

SILENT_STEPS = {"checkpoint", "system_message", "user_input"}


class AntigravityTranslator(Translator):
    """Reads frames in order. Every step has the figures of its call; a turn's are their sum.

    Those of `result` are the whole conversation's, over all its processes.
    """

    def __init__(self, convention: Convention, _start: Start) -> None:
        self._convention = convention
        self._session: str | None = None
        self._called: set[str] = set()
        self._turn: Tokens | None = None

    def translate(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        kind = frame.get("event")
        if kind == "init":
            yield from self._begin(first(frame.get("conversation_id")))
        elif kind == "step_update":
            yield from self._step(mapping(frame.get("step_update")))
        elif kind == "result":
            yield from self._result(mapping(frame.get("result")))
        else:
            yield Unknown(frame)

    def _begin(self, session: str | None) -> Iterator[Event]:
        if session and session != self._session:
            self._session = session
            yield Session(session)

    def _step(self, step: Mapping[str, Any]) -> Iterator[Event]:
        kind, text = str(step.get("step_type")), first(step.get("text_delta"))
        name = f"{step.get('conversation_id') or self._session or ''}-{step.get('step_index')}"
        if kind == "agent_response" and text:
            yield Text(text, name)
        elif kind == "thinking" and text:
            yield Thinking(text, name)
        elif kind == "tool":
            yield from self._tool(step, name)
        elif kind not in SILENT_STEPS | {"agent_response", "thinking"}:
            yield Unknown(step)
        if isinstance(step.get("usage"), dict):
            yield from self._call(figures(step["usage"]), name)

    def _tool(self, step: Mapping[str, Any], name: str) -> Iterator[Event]:
        info = mapping(step.get("tool_info"))
        if name not in self._called:
            self._called.add(name)
            tool = first(step.get("tool_name"), info.get("name")) or ""
            yield ToolCall(name, tool, info.get("parameters"))
        if step.get("state") != "ACTIVE":
            error = info.get("error")
            ok = step.get("state") == "DONE" and error is None
            output = info.get("output", mapping(error).get("message", error))
            yield ToolResult(name, ok, shown(output))

    def _call(self, said: Tokens, name: str) -> Iterator[Event]:
        tokens = normal(said, self._convention)
        if tokens.nothing:
            return
        self._turn = plus(self._turn or ZERO, tokens)
        yield Usage(
            "call",
            tokens.input,
            tokens.cache_read,
            None,
            None,
            tokens.output,
            tokens.reasoning,
            context_tokens=tokens.prompt,
            message_id=name,
        )

    def _result(self, result: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        if turn := self._turn:
            yield Usage("turn", turn.input, turn.cache_read, None, None, turn.output, turn.reasoning)
        self._turn = None
        failed = result.get("status") != "SUCCESS"
        if failed:
            error = result.get("error")
            text = first(mapping(error).get("message"), error) or ""
            kind = first(mapping(error).get("code"), mapping(error).get("type"))
            yield Trouble(text, None, (kind,) if kind else (), "final")
        yield End("error" if failed else "end_turn")


def figures(usage: Mapping[str, Any]) -> Tokens:
    """The figures as agy says them; its total is of what went in past the cache and of all that came out."""
    total, given, answered = (count(usage.get(name)) for name in ("total_tokens", "input_tokens", "output_tokens"))
    out = total - given if total is not None and given is not None and total >= given else answered
    return Tokens(given, count(usage.get("cache_read_tokens")), None, None, out, count(usage.get("thinking_tokens")))
