"""Claude Code's transcripts: a line for each block of a response, all of them with the figures of the response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from agentmux_launcher.translators.claude_figures import call_figures
from agentmux_launcher.translators.values import first, mapping, number
from agentmux_launcher.usage import normal
from agentmux_usage.readers.base import UNKNOWN, Reader, seconds
from agentmux_usage.response import Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentmux_usage.response import Kind

# The CLI's own words in the place of an answer, with figures of 0.
SYNTHETIC = "<synthetic>"
# Names of the threads in which the CLI itself asks, not a sub-agent.
SIDE_THREADS = ("acompact", "aprompt_suggestion", "aside_question")


class ClaudeReader(Reader):
    """Reads `projects/**/*.jsonl`: sessions, and the files of their sub-agents."""

    markers: ClassVar[tuple[bytes, ...]] = (b'"usage"', b'"type":"user"', b'"compact_boundary"')

    @staticmethod
    def fresh() -> dict[str, Any]:
        return {"turn": 0, "asked": False, "compacted": False}

    def skips(self, line: bytes) -> bool:
        """Results of tools, which are most of a transcript: they are neither a turn of the person nor a response."""
        return b'"type":"tool_result"' in line and b'"type":"assistant"' not in line

    def value(self, value: Mapping[str, Any]) -> Iterator[Response]:
        kind = value.get("type")
        if kind == "assistant":
            yield from self._response(value)
        elif kind == "user":
            self.state["asked"] = self.state["asked"] or _is_turn(value)
        elif kind == "system" and value.get("subtype") == "compact_boundary":
            self.state["compacted"] = True

    def _response(self, value: Mapping[str, Any]) -> Iterator[Response]:
        message = mapping(value.get("message"))
        time, session = seconds(value.get("timestamp")), first(value.get("requestSessionId"), value.get("sessionId"))
        message_id = first(message.get("id"), value.get("uuid"))
        if message.get("model") == SYNTHETIC:
            return
        if "usage" not in message or time is None or session is None or message_id is None:
            self.notes[UNKNOWN] += 1
            return
        thread = first(value.get("agentId"))
        main = thread is None and value.get("isSidechain") is not True
        turn, compacted = self._place() if main else (self.state["turn"], False)
        yield Response(
            "claude",
            session,
            time,
            normal(call_figures(message["usage"]), self.convention),
            first(message.get("model")),
            turn,
            "main" if main else _kind(thread),
            thread,
            message_id,
            first(value.get("requestId")),
            effort=first(value.get("effort")),
            cli_version=first(value.get("version")),
            usd=number(value.get("costUSD")),
            after_compaction=compacted,
            cwd=first(value.get("cwd")),
        )

    def _place(self) -> tuple[int, bool]:
        """The turn of the agent's next response, and whether it is the first after a summary."""
        compacted = self.state["compacted"]
        self.state.update(turn=self.state["turn"] + self.state["asked"], asked=False, compacted=False)
        return self.state["turn"], compacted


def _kind(thread: str | None) -> Kind:
    return "side" if thread and thread.startswith(SIDE_THREADS) else "subagent"


def _is_turn(value: Mapping[str, Any]) -> bool:
    """Whether the person asked: not the CLI for them, not a summary, not a note that a task of it is done."""
    told = ("isMeta", "isCompactSummary", "isSidechain", "isVisibleInTranscriptOnly")
    return not any(value.get(name) for name in told) and value.get("turnOrigin") != "task_notification"
