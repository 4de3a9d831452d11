"""Claude Code's transcripts: blocks, results of tools, sub-agents, forks, and all that is no response."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .source import Source, line, stamp

if TYPE_CHECKING:
    from pathlib import Path

    from .truth import Truth

LONGEST = (8 << 20) + 1
UNKNOWN = {"type": "assistant", "message": {"usage": {"input_tokens": 1}}}
PLAIN = {"type": "file-history-snapshot", "messageId": "x", "snapshot": {"usage of disk": 1}}


@dataclass(slots=True)
class Conversation:
    """Lines of a session or of a sub-agent's thread, and how its context stands."""

    session: str
    thread: str | None
    time: float
    context: int = 0


def write(home: Path, source: Source, truth: Truth) -> None:
    folder = home / ".claude" / "projects" / "-home-dev-app"
    folder.mkdir(parents=True)
    shape = source.shape
    for number in range(shape.sessions):
        session = source.name()
        spoken = Conversation(session, None, number * 3600.0)
        lines = [each for call in range(shape.calls) for each in _exchange(spoken, source, truth, asked=call % 4 == 0)]
        end = b""
        if source.chance(shape.untidy):
            lines[len(lines) // 2 : len(lines) // 2] = _untidy(shape.large, truth)
            end = _torn(spoken, source)
            truth.notes["no end"] += 1
        (folder / f"{session}.jsonl").write_bytes(b"".join(lines) + end)
        if source.chance(shape.subagents):
            _subagent(folder / session / "subagents", spoken, source, truth)
        if source.chance(shape.forks):
            _fork(folder, lines, spoken, source, truth)
        truth.forget()


def _exchange(spoken: Conversation, source: Source, truth: Truth, *, asked: bool) -> list[bytes]:
    """What the person or a tool says, and a response in one to three blocks, of which the last knows the output."""
    known, spoken.time = spoken.context, spoken.time + source.random.uniform(1, 30)
    said = _prompt(spoken, source) if asked else _result(spoken, source)
    hour = source.random.randint(0, 3) == 0
    written = source.random.randint(200, 2000)
    last = {
        "input": source.random.randint(1, 40),
        "cache_read": known,
        "cache_write": 0 if hour else written,
        "cache_write_1h": written if hour else 0,
        "output": source.random.randint(20, 900),
    }
    spoken.context += written + last["output"]
    name = f"msg_{source.random.getrandbits(80):020x}"
    request = None if source.chance(source.shape.no_request) else f"req_{source.random.getrandbits(80):020x}"
    truth.response("claude", spoken.session, "subagent" if spoken.thread else "main", last)
    blocks = source.random.randint(1, 3)
    lines = [said]
    for block in range(blocks):
        figures = last if block == blocks - 1 else {**last, "output": source.random.randint(1, 8)}
        lines.append(_block(spoken, source, name, request, figures))
        truth.told("claude", name, request, figures, last)
    return lines


def _base(spoken: Conversation, source: Source) -> dict[str, Any]:
    thread = {} if spoken.thread is None else {"agentId": spoken.thread}
    return {
        "parentUuid": source.name(),
        "isSidechain": spoken.thread is not None,
        **thread,
        "cwd": "/home/dev/app",
        "sessionId": spoken.session,
        "version": "2.1.332",
    }


def _end(spoken: Conversation, source: Source) -> dict[str, Any]:
    return {"uuid": source.name(), "timestamp": stamp(spoken.time)}


def _prompt(spoken: Conversation, source: Source) -> bytes:
    message = {"role": "user", "content": source.text(80)}
    return line({**_base(spoken, source), "type": "user", "message": message, **_end(spoken, source)})


def _result(spoken: Conversation, source: Source) -> bytes:
    text = source.text(source.shape.text)
    message = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": text}]}
    told = {"usage": {"output_tokens": 99}, "stdout": text}
    value = {**_base(spoken, source), "type": "user", "message": message, "toolUseResult": told}
    return line({**value, **_end(spoken, source)})


def _block(spoken: Conversation, source: Source, name: str, request: str | None, figures: dict[str, int]) -> bytes:
    spoken.time += 0.25
    usage = {
        "input_tokens": figures["input"],
        "cache_creation_input_tokens": figures["cache_write"] + figures["cache_write_1h"],
        "cache_read_input_tokens": figures["cache_read"],
        "cache_creation": {
            "ephemeral_5m_input_tokens": figures["cache_write"],
            "ephemeral_1h_input_tokens": figures["cache_write_1h"],
        },
        "output_tokens": figures["output"],
        "service_tier": "standard",
    }
    content = [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"usage": source.text(200)}}]
    message = {"id": name, "type": "message", "role": "assistant", "model": "claude-sonnet-5-5", "content": content}
    told = {} if request is None else {"requestId": request}
    value = {**_base(spoken, source), "message": {**message, "usage": usage}, **told, "type": "assistant"}
    return line({**value, **_end(spoken, source)})


def _subagent(folder: Path, spoken: Conversation, source: Source, truth: Truth) -> None:
    folder.mkdir(parents=True)
    thread = f"a{source.random.getrandbits(64):016x}"
    beside = Conversation(spoken.session, thread, spoken.time - 5)
    lines = [each for call in range(3) for each in _exchange(beside, source, truth, asked=call == 0)]
    (folder / f"agent-{thread}.jsonl").write_bytes(b"".join(lines))


def _fork(folder: Path, lines: list[bytes], spoken: Conversation, source: Source, truth: Truth) -> None:
    """Another session that begins with a copy of this one, under its own id; newer versions say whose it was."""
    session = source.name()
    names_first = source.chance(0.5)
    copied = lines[: len(lines) * 2 // 3]
    beside = Conversation(session, None, spoken.time + 60, spoken.context)
    own = [each for call in range(4) for each in _exchange(beside, source, truth, asked=call == 0)]
    old, new = f'"sessionId":"{spoken.session}"'.encode(), f'"sessionId":"{session}"'.encode()
    if names_first:
        new += f',"requestSessionId":"{spoken.session}"'.encode()
    told = [each.replace(old, new) for each in copied]
    (folder / f"{session}.jsonl").write_bytes(b"".join([*told, *own]))
    _told_again(copied, truth)


def _told_again(lines: list[bytes], truth: Truth) -> None:
    for each in lines:
        truth.notes["too long"] += len(each) > LONGEST
        if b'"type":"assistant"' not in each or (value := json.loads(each)) == UNKNOWN:
            if not each.startswith(b"{"):
                truth.notes["not json"] += 1
            truth.notes["unknown"] += each == line(UNKNOWN)
            continue
        usage = value["message"]["usage"]
        split = usage["cache_creation"]
        figures = {
            "input": usage["input_tokens"],
            "cache_read": usage["cache_read_input_tokens"],
            "cache_write": split["ephemeral_5m_input_tokens"],
            "cache_write_1h": split["ephemeral_1h_input_tokens"],
            "output": usage["output_tokens"],
        }
        truth.told("claude", value["message"]["id"], value.get("requestId"), figures, figures)


def _untidy(large: int, truth: Truth) -> list[bytes]:
    """Lines of other kinds, a line without sense, a large one: none of them is a response."""
    truth.notes["not json"] += 1
    truth.notes["unknown"] += 1
    lines = [line(PLAIN), b"\0\0 half of a line was lost\n", line(UNKNOWN)]
    if large:
        lines.append(line({"type": "file-history-snapshot", "snapshot": "x" * large}))
        truth.notes["too long"] += len(lines[-1]) > LONGEST
    return lines


def _torn(spoken: Conversation, source: Source) -> bytes:
    """The beginning of a line that was being written: a response that nobody knows yet."""
    figures = dict.fromkeys(("input", "cache_read", "cache_write", "cache_write_1h", "output"), 7)
    whole = _block(spoken, source, "msg_torn", None, figures)
    return whole[: len(whole) * 2 // 3]
