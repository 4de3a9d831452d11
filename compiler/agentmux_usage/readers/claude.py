"""Claude Code's transcripts: a line for each block of a response, all of them with the figures of the response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentmux_launcher.translators.claude_figures import call_figures
from agentmux_launcher.translators.values import first, mapping, mappings, number
from agentmux_launcher.usage import normal
from agentmux_usage.readers.base import UNKNOWN, Reader, seconds, stated
from agentmux_usage.response import Response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_launcher.usage import Tokens
    from agentmux_usage.response import Kind

# The CLI's own words in the place of an answer, with figures of 0.
SYNTHETIC = "<synthetic>"
# Names of the threads in which the CLI itself asks, not a sub-agent.
SIDE_THREADS = ("acompact", "aprompt_suggestion", "aside_question")


_NAMES = ("requestId", "sessionId", "requestSessionId", "agentId")


@dataclass(slots=True)
class _Held:
    """A response of which another line may follow."""

    name: tuple[Any, ...]
    stamp: str
    value: Mapping[str, Any]
    usage: Mapping[str, Any]
    turn: int
    main: bool
    compacted: bool

    def adds(self, usage: Mapping[str, Any]) -> bool:
        """Whether figures say the same again, or more; then they stand."""
        before, now = self.usage.get("output_tokens"), usage.get("output_tokens")
        if usage == self.usage:
            return True
        if type(before) is int and type(now) is int and now > before:
            self.usage = usage
            return True
        return False


class ClaudeReader(Reader):
    """Reads `projects/**/*.jsonl`: sessions, and the files of their sub-agents."""

    _held: _Held | None = None

    @staticmethod
    def fresh() -> dict[str, Any]:
        return {"turn": 0, "asked": False, "compacted": False}

    def wants(self, line: bytes) -> bool:
        """Not results of tools, most of a transcript: they are neither a turn of the person nor a response."""
        if b'"tool_result"' in line and b'"assistant"' not in line:
            return False
        return b'"usage"' in line or b'"user"' in line or b'"compact_boundary"' in line

    def value(self, value: Mapping[str, Any]) -> Iterator[Response]:
        kind = value.get("type")
        if kind == "assistant":
            yield from self._response(value)
        elif kind == "user":
            self.state["asked"] = self.state["asked"] or _is_turn(value)
        elif kind == "system" and value.get("subtype") == "compact_boundary":
            self.state["compacted"] = True

    def _response(self, value: Mapping[str, Any]) -> Iterator[Response]:
        """A response is held back until another begins: most lines only repeat it."""
        message = mapping(value.get("message"))
        usage, held = message.get("usage"), self._held
        if message.get("model") == SYNTHETIC:
            return
        if not isinstance(usage, dict):
            self.notes[UNKNOWN] += 1
            return
        name = (message.get("id") or value.get("uuid"), *map(value.get, _NAMES))
        stamp = str(value.get("timestamp"))
        if held and held.name == name and held.stamp <= stamp and held.adds(usage):
            return
        yield from self.finish()
        main = value.get("agentId") is None and value.get("isSidechain") is not True
        turn, compacted = self._place() if main else (self.state["turn"], False)
        self._held = _Held(name, stamp, value, usage, turn, main, compacted)

    def finish(self) -> Iterator[Response]:
        held, self._held = self._held, None
        if held is None:
            return
        value, thread = held.value, first(held.value.get("agentId"))
        time, session = seconds(held.stamp), first(value.get("requestSessionId"), value.get("sessionId"))
        name = first(held.name[0])
        if time is None or session is None or name is None:
            self.notes[UNKNOWN] += 1
            return
        yield Response(
            "claude",
            session,
            time,
            normal(_figures(held.usage), self.convention),
            first(value["message"].get("model")),
            held.turn,
            "main" if held.main else _kind(thread),
            thread,
            name,
            first(value.get("requestId")),
            effort=first(value.get("effort")),
            cli_version=first(value.get("version")),
            usd=number(value.get("costUSD")),
            after_compaction=held.compacted,
            cwd=first(value.get("cwd")),
        )

    def _place(self) -> tuple[int, bool]:
        """The turn of the agent's next response, and whether it is the first after a summary."""
        compacted = self.state["compacted"]
        self.state.update(turn=self.state["turn"] + self.state["asked"], asked=False, compacted=False)
        return self.state["turn"], compacted


def _figures(usage: Mapping[str, Any]) -> Tokens:
    said = stated(call_figures(usage), usage, ("cache_read_input_tokens", "cache_creation_input_tokens"))
    split = mapping(usage.get("cache_creation"))
    return stated(said, split, ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"))


def _kind(thread: str | None) -> Kind:
    return "side" if thread and thread.startswith(SIDE_THREADS) else "subagent"


def _is_turn(value: Mapping[str, Any]) -> bool:
    """Whether the person asked: no tool, not the CLI for them, not a summary, not a note that a task of it is done."""
    told = ("isMeta", "isCompactSummary", "isSidechain", "isVisibleInTranscriptOnly")
    said = mappings(mapping(value.get("message")).get("content"))
    if any(part.get("type") == "tool_result" for part in said):
        return False
    return not any(value.get(name) for name in told) and value.get("turnOrigin") != "task_notification"
