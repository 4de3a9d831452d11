"""Anthropic Messages: the answer as its stream of events, as one message, or as an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux_launcher.recorder.answers import Answer, Failure, ServedUsage, split
from agentmux_launcher.recorder.failures import FAILURES
from agentmux_launcher.recorder.wires.reply import Ask, Piece, Speech, dumps, event

if TYPE_CHECKING:
    from collections.abc import Iterator


def _stream(answer: Answer, ask: Ask) -> Iterator[Piece]:
    opening = _message(ask, [], None, 1)
    yield _event({"type": "message_start", "message": opening})
    yield _event({"type": "ping"})
    for index, block in enumerate(_blocks(answer, ask)):
        yield from _block(index, block, answer.deltas)
    if answer.failure:
        yield _event(_error(answer.failure, ask)[1])
        return
    stop = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": stop, "usage": _usage(ask.usage, ask.usage.output_tokens)})
    yield _event({"type": "message_stop"})


def _block(index: int, block: dict[str, Any], deltas: int) -> Iterator[Piece]:
    empty, pieces = _taken_apart(block, deltas)
    yield _event({"type": "content_block_start", "index": index, "content_block": empty})
    for piece in pieces:
        yield _event({"type": "content_block_delta", "index": index, "delta": piece}, delta=True)
    yield _event({"type": "content_block_stop", "index": index})


def _taken_apart(block: dict[str, Any], deltas: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block without its content, and that content as deltas."""
    if block["type"] == "thinking":
        thoughts = [{"type": "thinking_delta", "thinking": each} for each in split(block["thinking"], deltas)]
        signed = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, signed]
    if block["type"] == "tool_use":
        text = dumps(block["input"]).decode("utf-8", "surrogatepass")
        pieces = [{"type": "input_json_delta", "partial_json": each} for each in split(text, deltas)]
        return {**block, "input": {}}, pieces
    return {"type": "text", "text": ""}, [{"type": "text_delta", "text": each} for each in split(block["text"], deltas)]


def _blocks(answer: Answer, ask: Ask) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if answer.thinking:
        blocks.append({"type": "thinking", "thinking": answer.thinking, "signature": f"sig{ask.id}"})
    if answer.full_text:
        blocks.append({"type": "text", "text": answer.full_text})
    for at, call in enumerate(answer.tool_calls):
        given = {"type": "tool_use", "id": f"toolu_{ask.id}{at}", "name": call.name, "input": dict(call.arguments)}
        blocks.append(given)
    return blocks


def _whole(answer: Answer, ask: Ask) -> dict[str, Any]:
    return _message(ask, _blocks(answer, ask), _stop_reason(answer), ask.usage.output_tokens)


def _message(ask: Ask, content: list[dict[str, Any]], stop: str | None, output: int) -> dict[str, Any]:
    return {
        "id": f"msg_{ask.id}",
        "type": "message",
        "role": "assistant",
        "model": ask.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": _usage(ask.usage, output),
    }


def _usage(usage: ServedUsage, output: int) -> dict[str, Any]:
    short, hour = usage.cache_write_tokens, usage.cache_write_1h_tokens
    return {
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": short + hour,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": hour},
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": min(usage.reasoning_tokens, output)},
        "service_tier": "standard",
    }


def _stop_reason(answer: Answer) -> str:
    return "tool_use" if answer.tool_calls else "end_turn"


def _error(failure: Failure, ask: Ask) -> tuple[int, dict[str, Any]]:
    words = FAILURES[failure.kind].anthropic
    message = failure.message or words.message.format(model=ask.model)
    error = {"type": words.type, "message": message}
    return failure.status or words.status, {"type": "error", "error": error, "request_id": f"req_{ask.id}"}


def _event(value: dict[str, Any], *, delta: bool = False) -> Piece:
    return event(value, delta=delta, name=value["type"])


SPEECH = Speech(_stream, _whole, _error)
