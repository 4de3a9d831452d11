"""Frames of Claude Code, and of the CLIs that speak like it (muxcode, Qwen Code)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import Compaction, End, Event, Notice, Retry, Session, Text, Unknown
from agentmux_launcher.translators.base import Translator
from agentmux_launcher.translators.claude_figures import TurnFigures
from agentmux_launcher.translators.claude_messages import Messages, tool_result
from agentmux_launcher.translators.claude_permissions import Permissions
from agentmux_launcher.translators.values import count, first, mapping, mappings, milliseconds, sequence, shown
from agentmux_launcher.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from agentmux_launcher.usage import Convention, Start

# Frames that carry nothing which another frame does not say.
SILENT = {"control_response", "keep_alive", "tool_progress"}
SILENT_SYSTEM = {
    "background_tasks_changed",
    "session_state_changed",
    "status",
    "task_notification",
    "task_progress",
    "task_started",
    "task_updated",
    "thinking_tokens",
}
SYNTHETIC = "<synthetic>"
DONE = {"success", "completed"}
DIAGNOSTIC = "[ede_diagnostic]"
MAX_TURNS = {"error_max_turns", "max_turns"}


class ClaudeTranslator(Translator):
    """Reads frames in order. `own_words` begins a text that is the CLI's own although it streams as the model's."""

    def __init__(self, convention: Convention, start: Start, own_words: str | None = None) -> None:
        self._figures = TurnFigures(convention, start)
        self.counters = start.counters
        self._messages = Messages(convention, own_words)
        self._permissions = Permissions()
        self._session = Session()
        self._readers: dict[str, Callable[[Mapping[str, Any]], Iterator[Event | Trouble]]] = {
            "assistant": self._assistant,
            "control_cancel_request": self._permissions.withdrawn,
            "control_request": self._permissions.asked,
            "conversation_reset": _reset,
            "rate_limit_event": _rate_limit,
            "result": self._result,
            "stream_event": self._messages.stream,
            "system": self._system,
            "user": _user,
        }

    def translate(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        kind = str(frame.get("type"))
        read = self._readers.get(kind)
        if read:
            yield from read(frame)
        elif kind not in SILENT:
            yield Unknown(frame)

    def sent(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        """A frame that went to the CLI."""
        if frame.get("type") == "control_response":
            yield from self._permissions.answered(frame)

    def finish(self) -> Iterator[Event | Trouble]:
        yield from self._messages.all_ended()

    def _system(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        subtype = str(frame.get("subtype"))
        if subtype == "init":
            yield from self._init(frame)
        elif subtype == "api_retry":
            yield from self._retry(frame)
        elif subtype == "compact_boundary":
            yield _compaction(frame)
        elif subtype == "permission_denied":
            yield from self._permissions.refused(frame)
        elif subtype not in SILENT_SYSTEM:
            words = first(frame.get("content"), frame.get("message"), frame.get("text"))
            yield Notice(words, "cli") if words else Unknown(frame)

    def _init(self, frame: Mapping[str, Any]) -> Iterator[Event]:
        servers = mappings(frame.get("mcp_servers"))
        session = Session(
            first(frame.get("session_id")),
            first(frame.get("model")),
            first(frame.get("claude_code_version"), frame.get("qwen_code_version")),
            {str(server.get("name")): str(server.get("status")) for server in servers},
        )
        if session != self._session:
            self._session = session
            yield session

    def _retry(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        reason, status = first(frame.get("error")), count(frame.get("error_status"))
        delay = milliseconds(frame.get("retry_delay_ms"))
        yield from self._messages.retried(Retry(count(frame.get("attempt")), status, delay, reason))
        yield Trouble(reason or "", status, (reason,) if reason else (), "retry")

    def _assistant(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        value = mapping(frame.get("message"))
        words = shown(value.get("content"))
        if (
            first(frame.get("error"))
            or frame.get("is_api_error_message") is True
            or frame.get("isApiErrorMessage") is True
        ):
            kinds = _names(frame, "error", "api_error_type")
            yield Trouble(words or " ".join(kinds), count(frame.get("api_error_status")), kinds, "error")
        elif value.get("model") == SYNTHETIC:
            yield Notice(words, "cli")
        elif frame.get("partial") is not True:
            yield from self._messages.whole(value, first(frame.get("parent_tool_use_id")))

    def _result(self, frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
        spoke = self._messages.spoke
        yield from self._messages.turn_ended()
        failed, said = self._trouble(frame), first(frame.get("result"))
        if said and not failed and not spoke and not count(frame.get("num_turns")):
            yield Text(said)  # the answer of a command of the CLI's own, which no model was asked for
        yield from self._figures.events(frame, self._session.model)
        self.counters = self._figures.counters
        yield from self._permissions.listed(frame)
        if failed:
            yield failed
        yield End(stop_reason(frame))
        self._permissions.denied.clear()

    def _trouble(self, frame: Mapping[str, Any]) -> Trouble | None:
        """What a closing frame says went wrong; never from `subtype: success`."""
        if frame.get("is_error") is not True:
            return None
        listed = (text for text in sequence(frame.get("errors")) if isinstance(text, str))
        errors = "\n".join(text for text in listed if not text.startswith(DIAGNOSTIC))
        text = first(frame.get("result"), mapping(frame.get("error")).get("message"), frame.get("error"), errors)
        kinds = _names(frame, "terminal_reason", "subtype", "api_error", "api_error_type")
        if "aborted_tools" in kinds and self._permissions.denied:
            kinds = ("permission_denied", *kinds)
        return Trouble(text or " ".join(kinds), count(frame.get("api_error_status")), kinds, "final")


def stop_reason(frame: Mapping[str, Any]) -> str:
    """How the turn ended, in the words of `End`."""
    kinds = set(_names(frame, "terminal_reason", "subtype"))
    if any(kind.startswith("aborted") for kind in kinds):
        return "interrupted"
    if kinds & MAX_TURNS:
        return "max_turns"
    if frame.get("is_error") is True:
        return "error"
    return first(frame.get("stop_reason")) or "end_turn"


def _names(frame: Mapping[str, Any], *fields: str) -> tuple[str, ...]:
    found = (first(frame.get(field)) for field in fields)
    return tuple(name for name in found if name and name not in DONE)


def _user(frame: Mapping[str, Any]) -> Iterator[Event]:
    """Results of tools; all else that speaks as the user came from us or stands in another frame."""
    for block in mappings(mapping(frame.get("message")).get("content")):
        if block.get("type") == "tool_result":
            yield tool_result(block, first(frame.get("parent_tool_use_id")))


def _compaction(frame: Mapping[str, Any]) -> Compaction:
    known = mapping(frame.get("compact_metadata")) or mapping(frame.get("compactMetadata"))
    return Compaction(
        first(known.get("trigger")),
        count(known.get("pre_tokens", known.get("preTokens"))),
        count(known.get("post_tokens", known.get("postTokens"))),
    )


def _reset(frame: Mapping[str, Any]) -> Iterator[Event]:
    """Everything that was said is dropped, as by `/clear`."""
    yield Compaction(first(frame.get("trigger")) or "clear", None, 0)


def _rate_limit(frame: Mapping[str, Any]) -> Iterator[Event | Trouble]:
    known = mapping(frame.get("rate_limit_info"))
    status, kind = first(known.get("status")), first(known.get("rateLimitType"))
    if status == "rejected":
        yield Trouble(f"the {kind or 'rate'} limit is reached", None, ("rate_limit_rejected",), "error")
    elif status != "allowed":
        yield Notice(f"rate limit: {status} {kind or ''}".rstrip(), "cli")
