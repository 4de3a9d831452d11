"""Qwen Code's chats: a record of every call, and the lines of those calls that are part of the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from agentmux_launcher.translators.values import count, first, mapping
from agentmux_launcher.usage import Tokens, normal
from agentmux_usage.readers.base import UNKNOWN, Reader, seconds, stated
from agentmux_usage.response import Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_RECORD = "qwen-code.api_response"
# So many records may stand before the line of their response; side calls have none.
_AWAITED = 16
# Names of the agents that the CLI itself starts.
_OWN_AGENTS = "managed-"


class QwenReader(Reader):
    """Reads `chats/*.jsonl`. The line of a response counts where no record of the same figures stands before it."""

    markers: ClassVar[tuple[bytes, ...]] = (b'"qwen-code.api_response"', b'"usageMetadata"', b'"user"')

    @staticmethod
    def fresh() -> dict[str, Any]:
        return {"turn": 0, "asked": False, "awaited": []}

    def value(self, value: Mapping[str, Any]) -> Iterator[Response]:
        event = mapping(mapping(value.get("systemPayload")).get("uiEvent"))
        if event.get("event.name") == _RECORD:
            yield from self._record(value, event)
        elif value.get("type") == "user":
            self.state["asked"] = self.state["asked"] or value.get("provenance", "real_user") == "real_user"
        elif value.get("type") == "assistant" and isinstance(value.get("usageMetadata"), dict):
            yield from self._line(value)

    def _record(self, value: Mapping[str, Any], event: Mapping[str, Any]) -> Iterator[Response]:
        said = Tokens(
            count(event.get("input_token_count")),
            count(event.get("cached_content_token_count")),
            None,
            None,
            count(event.get("output_token_count")),
            count(event.get("thoughts_token_count")),
        )
        said = stated(said, event, ("cached_content_token_count",))
        agent = first(event.get("subagent_name"))
        if agent is None:
            self.state["awaited"] = [*self.state["awaited"], _key(said)][-_AWAITED:]
        yield from self._response(value, event, said, first(event.get("response_id"), value.get("uuid")), agent)

    def _line(self, value: Mapping[str, Any]) -> Iterator[Response]:
        usage = value["usageMetadata"]
        said = Tokens(
            count(usage.get("promptTokenCount")),
            count(usage.get("cachedContentTokenCount")),
            None,
            None,
            count(usage.get("candidatesTokenCount")),
            count(usage.get("thoughtsTokenCount")),
        )
        said = stated(said, usage, ("cachedContentTokenCount",))
        if _key(said) in self.state["awaited"]:
            self.state["awaited"].remove(_key(said))
        else:
            yield from self._response(value, value, said, first(value.get("uuid")), None)

    def _response(
        self, value: Mapping[str, Any], says: Mapping[str, Any], said: Tokens, name: str | None, agent: str | None
    ) -> Iterator[Response]:
        time, session = seconds(value.get("timestamp")), first(value.get("sessionId"))
        if time is None or session is None or name is None:
            self.notes[UNKNOWN] += 1
            return
        if agent is None:
            self.state.update(turn=self.state["turn"] + self.state["asked"], asked=False)
        yield Response(
            "qwen",
            session,
            time,
            normal(said, self.convention),
            first(says.get("model")),
            self.state["turn"],
            "main" if agent is None else "side" if agent.startswith(_OWN_AGENTS) else "subagent",
            first(says.get("subagent_id"), agent),
            name,
            cli_version=first(value.get("version")),
            cwd=first(value.get("cwd")),
        )


def _key(said: Tokens) -> str:
    return f"{said.input} {said.cache_read} {said.output} {said.reasoning}"
