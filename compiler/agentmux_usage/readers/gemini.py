"""Gemini's chats: a line for each message, of which some are written again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from agentmux_launcher.translators.values import count, first, mappings
from agentmux_launcher.usage import Tokens, normal
from agentmux_usage.readers.base import NOT_JSON, TOO_LONG, UNKNOWN, Reader, parsed, seconds, stated
from agentmux_usage.readers.lines import LONGEST
from agentmux_usage.response import Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


class GeminiReader(Reader):
    """Reads `chats/*.jsonl`, where `$set` repeats all messages when a session goes on."""

    markers: ClassVar[tuple[bytes, ...]] = (b'"tokens"', b'"sessionId"', b'"user"')

    @staticmethod
    def fresh() -> dict[str, Any]:
        return {"turn": 0, "asked": False, "session": None, "main": True}

    def value(self, value: Mapping[str, Any]) -> Iterator[Response]:
        if "sessionId" in value:
            self._opens(value)
        elif isinstance(value.get("$set"), dict):
            for message in mappings(value["$set"].get("messages")):
                yield from self._response(message)
        elif value.get("type") == "user":
            self._asks(value)
        elif "tokens" in value:
            self.state.update(turn=self.state["turn"] + self.state["asked"], asked=False)
            yield from self._response(value)

    def _opens(self, value: Mapping[str, Any]) -> None:
        self.state.update(session=first(value.get("sessionId")), main=value.get("kind") != "subagent")

    def _asks(self, message: Mapping[str, Any]) -> None:
        """What a tool gave back is no turn of the person."""
        said = mappings(message.get("content"))
        self.state["asked"] = self.state["asked"] or not any("functionResponse" in part for part in said)

    def _response(self, message: Mapping[str, Any]) -> Iterator[Response]:
        tokens, session = message.get("tokens"), self.state["session"]
        time, name = seconds(message.get("timestamp")), first(message.get("id"))
        if not isinstance(tokens, dict):
            return
        if session is None or time is None or name is None:
            self.notes[UNKNOWN] += 1
            return
        main = self.state["main"]
        yield Response(
            "gemini",
            session,
            time,
            normal(_figures(tokens), self.convention),
            first(message.get("model")),
            self.state["turn"] if main else 0,
            "main" if main else "subagent",
            None if main else session,
            name,
        )


class GeminiFileReader(GeminiReader):
    """Reads the older `chats/*.json`: one object, with all messages."""

    whole_file: ClassVar[bool] = True

    def file(self, path: Path) -> Iterator[Response]:
        if path.stat().st_size > LONGEST:
            self.notes[TOO_LONG] += 1
            return
        chat = parsed(path.read_bytes())
        if chat is None:
            self.notes[NOT_JSON] += 1
        elif "sessionId" in chat:
            self._opens(chat)
            for message in mappings(chat.get("messages")):
                yield from self.value(message)


def _figures(tokens: Mapping[str, Any]) -> Tokens:
    """What tools put into the prompt is counted beside it."""
    said, tools = count(tokens.get("input")), count(tokens.get("tool"))
    figures = Tokens(
        None if said is None else said + (tools or 0),
        count(tokens.get("cached")),
        None,
        None,
        count(tokens.get("output")),
        count(tokens.get("thoughts")),
    )
    return stated(figures, tokens, ("cached", "tool"))
