"""Codex's rollouts: a record for each response, or in older versions counters of the session that only grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from agentmux_launcher.translators.codex import figures
from agentmux_launcher.translators.values import first, mapping
from agentmux_launcher.usage import Tokens, normal, since
from agentmux_usage.readers.base import UNKNOWN, Reader, seconds, stated
from agentmux_usage.response import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from agentmux_usage.response import Kind


class CodexReader(Reader):
    """Reads `sessions/**/rollout-*.jsonl`.

    A file with records has counters beside them, which are then passed over. A copy of another session begins with that
    one's own first line behind the copy's: `root` is the first session of such a chain, so that counters which were
    copied are known again.
    """

    markers: ClassVar[tuple[bytes, ...]] = (
        b'"session_meta"',
        b'"turn_context"',
        b'"task_started"',
        b'"user_message"',
        b'"token_usage_record"',
        b'"token_count"',
        b'"compacted"',
    )

    @staticmethod
    def fresh() -> dict[str, Any]:
        return {"turn": 0, "asked": False, "compacted": False, "recorded": False, "opening": True, "counters": None}

    def value(self, value: Mapping[str, Any]) -> Iterator[Response]:
        kind, payload = str(value.get("type")), mapping(value.get("payload"))
        inner = str(payload.get("type")) if kind == "event_msg" else kind
        if inner != "session_meta":
            self.state["opening"] = False
        readers: dict[str, Callable[[Mapping[str, Any], Any], Iterator[Response]]] = {
            "session_meta": self._opens,
            "turn_context": self._places,
            "task_started": self._asks,
            "user_message": self._asks,
            "token_usage_record": self._records,
            "token_count": self._counts,
            "compacted": self._compacts,
        }
        if inner in readers:
            yield from readers[inner](payload, value.get("timestamp"))

    def _opens(self, payload: Mapping[str, Any], _stamp: Any) -> Iterator[Response]:
        yield from ()
        thread = first(payload.get("id"))
        if "session" in self.state:
            if self.state["opening"]:
                self.state["root"] = thread
            return
        spawn = mapping(mapping(mapping(payload.get("source")).get("subagent")).get("thread_spawn"))
        parent = first(payload.get("session_id"), spawn.get("parent_thread_id"))
        session = first(spawn.get("parent_thread_id"), thread) if parent == thread else first(parent, thread)
        base = first(payload.get("forked_from_id"), thread)
        self.state.update(
            session=session, thread=thread, root=base, version=payload.get("cli_version"), cwd=payload.get("cwd")
        )

    def _places(self, payload: Mapping[str, Any], _stamp: Any) -> Iterator[Response]:
        yield from ()
        settings = mapping(mapping(payload.get("collaboration_mode")).get("settings"))
        self.state["model"] = first(payload.get("model"), settings.get("model"), self.state.get("model"))
        self.state["effort"] = first(payload.get("effort"), settings.get("reasoning_effort"))
        self.state["cwd"] = first(payload.get("cwd"), self.state.get("cwd"))

    def _asks(self, _payload: Mapping[str, Any], _stamp: Any) -> Iterator[Response]:
        yield from ()
        self.state["asked"] = True

    def _records(self, payload: Mapping[str, Any], stamp: Any) -> Iterator[Response]:
        self.state["recorded"] = True
        self.state["last"] = {"payload": dict(payload), "timestamp": stamp}
        yield from self._record(payload, stamp, None)

    def _record(self, payload: Mapping[str, Any], stamp: Any, kind: Kind | None) -> Iterator[Response]:
        name, usage = first(payload.get("response_id")), mapping(payload.get("usage"))
        thread, session = first(payload.get("thread_id")), first(payload.get("session_id"))
        if not usage or name is None:
            self.notes[UNKNOWN] += 1
            return
        said = stated(figures(usage), usage, ("cached_input_tokens", "cache_write_input_tokens"))
        yield from self._response(name, said, stamp, kind, (session, thread))

    def _counts(self, payload: Mapping[str, Any], stamp: Any) -> Iterator[Response]:
        info = mapping(payload.get("info"))
        if self.state["recorded"] or not isinstance(info.get("total_token_usage"), dict):
            return
        now, last = figures(info["total_token_usage"]), info.get("last_token_usage")
        before = self.state["counters"]
        self.state["counters"] = list(_values(now))
        grown = since(now, Tokens(*before)) if before else None
        begun = grown is None or grown == now
        said = figures(last) if begun and isinstance(last, dict) else grown or now
        if not said.nothing and (grown is None or not grown.nothing):
            name = ":".join(str(value) for value in (self.state.get("root"), *_values(now)))
            yield from self._response(name, said, stamp, None, (None, None))

    def _compacts(self, payload: Mapping[str, Any], _stamp: Any) -> Iterator[Response]:
        """The response that summed up was a side call: it is told again as one."""
        last = self.state.get("last")
        self.state["compacted"] = True
        if last and last["payload"].get("response_id") == payload.get("compaction_response_id"):
            yield from self._record(last["payload"], last["timestamp"], "side")

    def _response(
        self, name: str, said: Tokens, stamp: Any, kind: Kind | None, own: tuple[str | None, str | None]
    ) -> Iterator[Response]:
        time, state = seconds(stamp), self.state
        session, thread = first(own[0], state.get("session"), own[1]), first(own[1], state.get("thread"))
        if time is None or session is None:
            self.notes[UNKNOWN] += 1
            return
        main = thread is None or thread == session
        compacted = state["compacted"] and kind is None
        state.update(turn=state["turn"] + state["asked"], asked=False, compacted=state["compacted"] and not compacted)
        yield Response(
            "codex",
            session,
            time,
            normal(said, self.convention),
            state.get("model"),
            state["turn"] if main else 0,
            kind or ("main" if main else "subagent"),
            None if main else thread,
            name,
            effort=state.get("effort"),
            cli_version=first(state.get("version")),
            after_compaction=compacted,
            cwd=first(state.get("cwd")),
        )


def _values(tokens: Tokens) -> tuple[int | None, ...]:
    return (
        tokens.input,
        tokens.cache_read,
        tokens.cache_write,
        tokens.cache_write_1h,
        tokens.output,
        tokens.reasoning,
    )
