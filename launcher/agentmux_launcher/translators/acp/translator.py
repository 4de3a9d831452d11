"""Frames of the Agent Client Protocol: JSON-RPC both ways, by any of the agents that speak it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import End, Event, Notice, Text, Thinking, Unknown
from agentmux_launcher.translators.acp import compaction, errors
from agentmux_launcher.translators.acp.compaction import Compactions
from agentmux_launcher.translators.acp.figures import Figures
from agentmux_launcher.translators.acp.history import History
from agentmux_launcher.translators.acp.known import EXTENSIONS, GROK_UPDATES, SERVED
from agentmux_launcher.translators.acp.permissions import Permissions
from agentmux_launcher.translators.acp.requests import LOAD, PROMPT, Asked, Requests
from agentmux_launcher.translators.acp.session import SessionState, plan
from agentmux_launcher.translators.acp.tools import Tools
from agentmux_launcher.translators.acp.turn import Turn
from agentmux_launcher.translators.base import Translator
from agentmux_launcher.translators.values import first, mapping, shown
from agentmux_launcher.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from agentmux_launcher.usage import Convention, Start

    Said = Iterator[Event | Trouble]

# With these an agent may play what was said; of a session that it copies, OpenCode 1.18.33 does.
PLAYED = {LOAD, "session/fork"}
OPENS = {"session/new", "session/resume", *PLAYED}
NEEDED = {"initialize", "authenticate", *OPENS}
STOPS = {"cancelled": "interrupted", "max_turn_requests": "max_turns"}
GROK = {"_x.ai/session_notification", "_x.ai/session/update"}


class AcpTranslator(Translator):
    """Reads what the agent writes, and what is sent to it: only that says which answer is whose."""

    def __init__(self, convention: Convention, start: Start) -> None:
        self._requests = Requests()
        self._session = SessionState()
        self._permissions = Permissions()
        self._tools = Tools()
        self._compactions = Compactions()
        self._figures = Figures(convention, start)
        self.counters = self._figures.counters
        self._turn = Turn()
        self._history = History()
        self._updates: dict[str, Callable[[Mapping[str, Any]], Said]] = {
            "agent_message_chunk": self._message,
            "agent_thought_chunk": self._thought,
            "available_commands_update": self._commands,
            "compaction_summary_chunk": _nothing,
            "compaction_update": compaction.update,
            "config_option_update": self._session.configured,
            "current_mode_update": lambda update: self._session.mode(first(update.get("currentModeId"))),
            "plan": _plan,
            "plan_removed": _plan,
            "plan_update": _plan,
            "session_info_update": lambda update: errors.codex(_codex(update)),
            "tool_call": self._tool,
            "tool_call_update": self._tool,
            "usage_update": self._window,
            "user_message_chunk": self._user,
        }

    @property
    def open(self) -> bool:
        return self._turn.open > 0

    def translate(self, frame: Mapping[str, Any]) -> Said:
        method = frame.get("method")
        if method == "session/update":
            yield from self._update(frame)
        elif method is None:
            yield from self._answered(frame)
        elif not isinstance(method, str):
            yield Unknown(frame)
        elif method == "session/request_permission" and "id" in frame:
            yield from self._permission(frame)
        elif method in GROK:
            yield from self._of_grok(frame)
        elif method == "_x.ai/mcp/server_status":
            server = mapping(frame.get("params"))
            yield from self._session.server(first(server.get("name")), first(server.get("status")))
        elif method not in EXTENSIONS and method not in SERVED:
            yield Unknown(frame)

    def sent(self, frame: Mapping[str, Any]) -> Said:
        method = frame.get("method")
        self._requests.known = True
        if not isinstance(method, str):
            yield from self._permissions.answered(str(frame.get("id")), frame)
            return
        self._requests.sent(frame, method)
        if method == PROMPT:
            self._prompted()
        elif method in OPENS:
            self._history.asked(playing=method in PLAYED)
            self._figures.session_began(resumed=method != "session/new")
        elif method == "session/cancel":
            self._turn.cancelled = True

    def finish(self) -> Said:
        yield from self._news()

    def _prompted(self) -> None:
        if not self._turn.open:
            self._tools.turn_began()
        self._turn.began()
        self._history.prompted()

    def _update(self, frame: Mapping[str, Any]) -> Said:
        update = mapping(mapping(frame.get("params")).get("update"))
        kind = update.get("sessionUpdate")
        read = self._updates.get(kind) if isinstance(kind, str) else None
        if read is None:
            yield Unknown(frame)
        elif not self._history.holds(str(kind), update):
            yield from read(update)

    def _news(self) -> Said:
        for update in self._history.news():
            yield from self._updates[update["sessionUpdate"]](update)

    def _commands(self, update: Mapping[str, Any]) -> Said:
        self._history.over()
        yield from self._session.commands(update)

    def _message(self, update: Mapping[str, Any]) -> Said:
        text, message_id = _text(update), update.get("messageId")
        if "_meta" in update:
            yield from self._figures.call(update)
        if not text:
            return
        if self._turn.is_own(text, message_id, self.own_words):
            yield from self._own(text.strip())
            return
        self._turn.said(text)
        yield Text(text, message_id if isinstance(message_id, str) and message_id else None)

    def _own(self, text: str) -> Said:
        meant = [*errors.own_words(text), *compaction.own_words(text)]
        yield from meant or (Notice(text, "cli"), Trouble(text, weight="error"))

    def _thought(self, update: Mapping[str, Any]) -> Said:
        self._turn.paused()
        if text := _text(update):
            yield Thinking(text, first(update.get("messageId")))

    def _user(self, _update: Mapping[str, Any]) -> Said:
        """What the agent heard from us."""
        self._turn.paused()
        yield from ()

    def _tool(self, update: Mapping[str, Any]) -> Said:
        self._turn.paused()
        call_id = first(update.get("toolCallId"))
        if not call_id:
            yield Unknown(update)
        elif self._compactions.is_one(call_id, update):
            yield from compaction.update(update)
        else:
            yield from self._tools.take(call_id, update)

    def _window(self, update: Mapping[str, Any]) -> Said:
        self._turn.paused()
        self._figures.window(update, running=self.open or not self._requests.known)
        yield from ()

    def _permission(self, frame: Mapping[str, Any]) -> Said:
        yield from self._news()
        params = mapping(frame.get("params"))
        call = mapping(params.get("toolCall"))
        call_id, tool = first(call.get("toolCallId")), first(call.get("name"), call.get("kind"), call.get("title"))
        if call_id:
            yield from self._tools.take(call_id, call, asked=True)
            tool = self._tools.name(call_id) or tool
        yield self._permissions.asked(str(frame.get("id")), params, tool)

    def _of_grok(self, frame: Mapping[str, Any]) -> Said:
        update = mapping(mapping(frame.get("params")).get("update"))
        kind = first(update.get("sessionUpdate"))
        if kind == "model_changed":
            yield from self._session.model(first(update.get("model_id")))
        elif kind == "retry_state":
            yield from () if self._history.playing else errors.grok(update)
        elif kind not in GROK_UPDATES:
            yield Unknown(frame)

    def _answered(self, frame: Mapping[str, Any]) -> Said:
        asked = self._requests.answered(frame)
        if asked is None:
            yield Unknown(frame)
        elif frame.get("error") is not None:
            yield from self._refused(asked, frame["error"])
        else:
            yield from self._done(asked, mapping(frame.get("result")))

    def _done(self, asked: Asked, result: Mapping[str, Any]) -> Said:
        if asked.method == PROMPT:
            yield from self._ended(result)
        elif asked.method == "initialize":
            yield from self._session.initialized(result)
        elif asked.method in OPENS:
            self._history.loaded()
            yield from self._session.began(result, first(asked.params.get("sessionId")))
        elif asked.method == "session/set_mode":
            yield from self._session.mode(first(asked.params.get("modeId")))
        elif asked.method == "session/set_model":
            yield from self._session.model(first(asked.params.get("modelId")))
        elif asked.method == "session/set_config_option":
            yield from self._session.configured(result)

    def _ended(self, result: Mapping[str, Any]) -> Said:
        yield from self._news()
        reason = first(result.get("stopReason")) or "end_turn"
        yield from self._figures.turn(result, one_call=not self._tools.called)
        self.counters = self._figures.counters
        by_itself = reason == "cancelled" and not self._turn.cancelled
        silent = reason == "end_turn" and not self._turn.spoke and not self._tools.called
        if silent or (by_itself and not self._permissions.rejected):
            yield Trouble(self._turn.own_words or ("" if silent else reason), weight="final")
        elif reason == "max_turn_requests":
            yield Trouble("", kinds=("max_turns",), weight="final")
        self._turn_ended()
        yield End(reason if by_itself else STOPS.get(reason, reason))

    def _turn_ended(self) -> None:
        self._turn.ended()
        self._tools.called = False
        self._permissions.rejected = False

    def _refused(self, asked: Asked, error: Any) -> Said:
        trouble = errors.error(error)
        if asked.method == PROMPT:
            yield from self._news()
            yield trouble
            self._turn_ended()
            yield End("error")
        elif asked.method in NEEDED:
            yield trouble
        else:
            yield Notice(f"`{asked.method}` was refused: {trouble.text}", "cli")


def _text(update: Mapping[str, Any]) -> str:
    """The words of a piece; the kind of one that has none."""
    content = update.get("content")
    text = content.get("text") if isinstance(content, dict) else content
    return text if isinstance(text, str) else shown([content]) if content else ""


def _codex(update: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(mapping(update.get("_meta")).get("codex")).get("error"))


def _nothing(_update: Mapping[str, Any]) -> Said:
    yield from ()


def _plan(update: Mapping[str, Any]) -> Said:
    yield plan(update)
