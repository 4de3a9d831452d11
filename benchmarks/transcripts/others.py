"""Codex's rollouts, old and new, and the chats of Gemini and Qwen Code."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from .source import Source, line, stamp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .truth import Truth

Figures = dict[str, int]


def _calls(source: Source) -> Iterator[tuple[int, Figures]]:
    """Numbers of calls with their figures, over a context that grows."""
    context = 8000
    for call in range(source.shape.calls):
        new, output = source.random.randint(50, 3000), source.random.randint(10, 900)
        cached = context // 128 * 128 if call else 0
        reasoning = source.random.randint(0, output)
        yield call, {"all": context + new, "cache_read": cached, "output": output, "reasoning": reasoning}
        context += new + output


def _last(figures: Figures) -> Figures:
    """Each token of the input in one place."""
    return {
        "input": figures["all"] - figures["cache_read"],
        "cache_read": figures["cache_read"],
        "output": figures["output"],
    }


def codex(home: Path, source: Source, truth: Truth) -> None:
    """Half of the sessions as versions wrote them that knew no records; their forks copy all of them, at a new time."""
    folder = home / ".codex" / "sessions" / "2026" / "06" / "01"
    folder.mkdir(parents=True)
    for number in range(source.shape.sessions):
        session = f"019e{number:04x}-{source.name()[9:]}"
        records = number % 2 == 0
        total: Counter[str] = Counter()
        lines = [_meta(session, number * 3600.0)]
        lines += _rollout(session, source, truth, total, records=records)
        (folder / f"rollout-{number:05}-{session}.jsonl").write_bytes(b"".join(lines))
        if not records and source.chance(source.shape.forks):
            _codex_fork(folder, session, lines, source, truth, total)


def _meta(session: str, time: float, **more: str) -> bytes:
    payload = {"id": session, "cwd": "/home/dev/app", "cli_version": "0.171.0", "source": "exec", **more}
    return line({"timestamp": stamp(time), "type": "session_meta", "payload": payload})


def _rollout(session: str, source: Source, truth: Truth, total: Counter[str], *, records: bool) -> list[bytes]:
    """The calls of a session whose counters stand at `total`."""
    lines = []
    time = source.random.uniform(0, 80_000)
    for call, figures in _calls(source):
        time += 10
        if call % 4 == 0:
            lines.append(_event(time, {"type": "task_started", "turn_id": str(call)}))
            context = {"cwd": "/home/dev/app", "model": "gpt-5.5", "effort": "high"}
            lines.append(line({"timestamp": stamp(time), "type": "turn_context", "payload": context}))
        output = {"type": "function_call_output", "output": source.text(source.shape.text)}
        lines.append(line({"timestamp": stamp(time), "type": "response_item", "payload": output}))
        total.update(figures)
        truth.response("codex", session, "main", _last(figures))
        if records:
            payload = {"thread_id": session, "session_id": session, "response_id": f"resp_{session}_{call}"}
            lines.append(
                line(
                    {
                        "timestamp": stamp(time),
                        "type": "token_usage_record",
                        "payload": {**payload, "usage": _codex_usage(figures)},
                    }
                )
            )
        info = {"total_token_usage": _codex_usage(total), "last_token_usage": _codex_usage(figures)}
        counted = _event(time, {"type": "token_count", "info": info})
        lines += [counted] * source.random.randint(1, 2)
        lines.append(_event(time, {"type": "token_count", "info": None}))
    return lines


def _codex_usage(figures: Figures) -> Figures:
    return {
        "input_tokens": figures["all"],
        "cached_input_tokens": figures["cache_read"],
        "output_tokens": figures["output"],
        "reasoning_output_tokens": figures["reasoning"],
        "total_tokens": figures["all"] + figures["output"],
    }


def _event(time: float, payload: dict[str, Any]) -> bytes:
    return line({"timestamp": stamp(time), "type": "event_msg", "payload": payload})


def _codex_fork(  # noqa: PLR0913, PLR0917  all that a fork is made of
    folder: Path, base: str, lines: list[bytes], source: Source, truth: Truth, total: Counter[str]
) -> None:
    session = f"019f{source.name()[4:]}"
    time = 90_000.0
    copied = [b'{"timestamp":"' + stamp(time).encode() + each[each.index(b'","type"') :] for each in lines]
    own = _rollout(session, source, truth, total, records=False)
    told = [_meta(session, time, forked_from_id=base), *copied, *own]
    (folder / f"rollout-9-{session}.jsonl").write_bytes(b"".join(told))


def gemini(home: Path, source: Source, truth: Truth) -> None:
    """Every response a second time with its tool's result, and the whole history once more where a session goes on."""
    folder = home / ".gemini" / "tmp" / "app" / "chats"
    folder.mkdir(parents=True)
    for number in range(source.shape.sessions):
        session, time = source.name(), number * 3600.0
        lines = [line({"sessionId": session, "startTime": stamp(time), "kind": "main"})]
        history = []
        for call, figures in _calls(source):
            time += 10
            user = {"id": source.name(), "timestamp": stamp(time), "type": "user"}
            lines.append(line({**user, "content": [{"text": source.text(source.shape.text)}]}))
            message = _gemini_message(figures, time, source)
            history.append(message)
            lines += [line(message), line({**message, "toolCalls": [{"id": "x", "result": source.text(100)}]})]
            truth.response("gemini", session, "main", _last(figures))
            if call == source.shape.calls // 2:
                lines.append(line({"$set": {"messages": history}, "lastUpdated": stamp(time)}))
        (folder / f"session-{number:05}.jsonl").write_bytes(b"".join(lines))


def _gemini_message(figures: Figures, time: float, source: Source) -> dict[str, Any]:
    tokens = {
        "input": figures["all"],
        "cached": figures["cache_read"],
        "output": figures["output"] - figures["reasoning"],
        "thoughts": figures["reasoning"],
        "tool": 0,
    }
    said = {"id": source.name(), "timestamp": stamp(time), "type": "gemini", "content": source.text(100)}
    return {**said, "tokens": tokens, "model": "gemini-2.5-pro"}


def qwen(home: Path, source: Source, truth: Truth) -> None:
    """A record of every call and the line of its response; one side call in each session; no record in some."""
    folder = home / ".qwen" / "projects" / "-home-dev-app" / "chats"
    folder.mkdir(parents=True)
    for number in range(source.shape.sessions):
        session, time = source.name(), number * 3600.0
        lines = []
        for call, figures in _calls(source):
            time += 10
            base = {"sessionId": session, "timestamp": stamp(time), "cwd": "/home/dev/app", "version": "0.24.4"}
            side = call == source.shape.calls - 1
            name = {"uuid": source.name()}
            parts = [{"text": source.text(source.shape.text)}]
            message = {"role": "user", "parts": parts}
            lines.append(line({**name, **base, "type": "user", "provenance": "real_user", "message": message}))
            if side or number % 3:
                lines.append(line({"uuid": source.name(), **base, **_qwen_record(figures, session, call, side=side)}))
            if not side:
                lines.append(line({"uuid": source.name(), **base, **_qwen_line(figures)}))
            truth.response("qwen", session, "side" if side else "main", _last(figures))
        (folder / f"{session}.jsonl").write_bytes(b"".join(lines))


def _qwen_record(figures: Figures, session: str, call: int, *, side: bool) -> dict[str, Any]:
    event = {
        "event.name": "qwen-code.api_response",
        "response_id": f"chatcmpl-{session}-{call}",
        "model": "qwen3-coder-plus",
        "input_token_count": figures["all"],
        "output_token_count": figures["output"],
        "cached_content_token_count": figures["cache_read"],
        "thoughts_token_count": figures["reasoning"],
    }
    agent = {"subagent_name": "managed-auto-memory-extractor", "subagent_id": "managed-1"} if side else {}
    return {"type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": {**event, **agent}}}


def _qwen_line(figures: Figures) -> dict[str, Any]:
    usage = {
        "promptTokenCount": figures["all"],
        "candidatesTokenCount": figures["output"],
        "thoughtsTokenCount": figures["reasoning"],
        "cachedContentTokenCount": figures["cache_read"],
    }
    return {"type": "assistant", "model": "qwen3-coder-plus", "message": {"role": "model"}, "usageMetadata": usage}
