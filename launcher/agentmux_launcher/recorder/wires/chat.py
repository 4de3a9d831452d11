"""OpenAI Chat Completions: the answer as chunks, as one completion, or as an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentmux_launcher.recorder.answers import Answer, ServedUsage, split
from agentmux_launcher.recorder.wires.openai import error
from agentmux_launcher.recorder.wires.reply import Ask, Piece, Speech, dumps, event


def _stream(answer: Answer, ask: Ask) -> Iterator[Piece]:
    yield _chunk(ask, {"role": "assistant", "content": ""})
    for each in split(answer.thinking, answer.deltas):
        yield _chunk(ask, {"reasoning_content": each}, delta=True)
    for each in split(answer.full_text, answer.deltas):
        yield _chunk(ask, {"content": each}, delta=True)
    for at, call in enumerate(_calls(answer, ask)):
        yield from _call(at, call, answer.deltas, ask)
    if answer.failure:
        yield event(error(answer.failure, ask)[1])
        return
    yield _chunk(ask, {}, finish=_finish_reason(answer))
    if _wants_usage(ask):
        yield event({**_head(ask), "choices": [], "usage": _usage(ask.usage)})
    yield Piece(b"data: [DONE]\n\n")


def _call(at: int, call: dict[str, Any], deltas: int, ask: Ask) -> Iterator[Piece]:
    function = {"name": call["function"]["name"], "arguments": ""}
    yield _chunk(ask, {"tool_calls": [{"index": at, **call, "function": function}]})
    for each in split(call["function"]["arguments"], deltas):
        yield _chunk(ask, {"tool_calls": [{"index": at, "function": {"arguments": each}}]}, delta=True)


def _calls(answer: Answer, ask: Ask) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{ask.id}{at}",
            "type": "function",
            "function": {"name": call.name, "arguments": dumps(dict(call.arguments)).decode("utf-8", "replace")},
        }
        for at, call in enumerate(answer.tool_calls)
    ]


def _whole(answer: Answer, ask: Ask) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.full_text or None}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if answer.tool_calls:
        message["tool_calls"] = _calls(answer, ask)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(answer)}
    return {**_head(ask), "object": "chat.completion", "choices": [choice], "usage": _usage(ask.usage)}


def _chunk(ask: Ask, given: dict[str, Any], *, finish: str | None = None, delta: bool = False) -> Piece:
    choice = {"index": 0, "delta": given, "logprobs": None, "finish_reason": finish}
    return event({**_head(ask), "choices": [choice]}, delta=delta)


def _head(ask: Ask) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{ask.id}",
        "object": "chat.completion.chunk",
        "created": ask.created,
        "model": ask.model,
    }


def _usage(usage: ServedUsage) -> dict[str, Any]:
    written = usage.cache_write_tokens + usage.cache_write_1h_tokens
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.prompt_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens, "cache_write_tokens": written},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def _wants_usage(ask: Ask) -> bool:
    options = ask.parameters.get("stream_options")
    return isinstance(options, Mapping) and bool(options.get("include_usage"))


def _finish_reason(answer: Answer) -> str:
    return "tool_calls" if answer.tool_calls else "stop"


SPEECH = Speech(_stream, _whole, error)
