"""OpenAI Responses: the answer as its stream of events, as one response, or as an error."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from agentmux_launcher.recorder.answers import Answer, ServedUsage, ToolCall, split
from agentmux_launcher.recorder.wires.openai import error
from agentmux_launcher.recorder.wires.reply import Ask, Piece, Speech, dumps, event

if TYPE_CHECKING:
    from collections.abc import Iterator

Event = tuple[dict[str, Any], bool]


def _stream(answer: Answer, ask: Ask) -> Iterator[Piece]:
    for number, (value, delta) in zip(itertools.count(), _events(answer, ask), strict=False):
        yield event({**value, "sequence_number": number}, delta=delta, name=value["type"])


def _events(answer: Answer, ask: Ask) -> Iterator[Event]:
    yield {"type": "response.created", "response": _response(ask, "in_progress", [])}, False
    yield {"type": "response.in_progress", "response": _response(ask, "in_progress", [])}, False
    items = _items(answer, ask)
    for at, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": at, "item": _emptied(item)}, False
        yield from _deltas(at, item, answer.deltas)
        yield {"type": "response.output_item.done", "output_index": at, "item": item}, False
    if answer.failure:
        body = error(answer.failure, ask)[1]["error"]
        failed = {"code": body["code"], "message": body["message"]}
        yield {"type": "response.failed", "response": {**_response(ask, "failed", []), "error": failed}}, False
        return
    yield {"type": "response.completed", "response": _response(ask, "completed", items)}, False


def _deltas(at: int, item: dict[str, Any], deltas: int) -> Iterator[Event]:
    place = {"item_id": item["id"], "output_index": at}
    if item["type"] == "message":
        yield from _part({**place, "content_index": 0}, "content_part", "output_text", item["content"][0], deltas)
    elif item["type"] == "reasoning":
        where = {**place, "summary_index": 0}
        yield from _part(where, "reasoning_summary_part", "reasoning_summary_text", item["summary"][0], deltas)
    else:
        field, kind = _INPUTS[item["type"]]
        for each in split(item[field], deltas):
            yield {"type": f"response.{kind}.delta", **place, "delta": each}, True
        yield {"type": f"response.{kind}.done", **place, field: item[field]}, False


_INPUTS = {
    "function_call": ("arguments", "function_call_arguments"),
    "custom_tool_call": ("input", "custom_tool_call_input"),
}


def _part(place: dict[str, Any], frame: str, kind: str, part: dict[str, Any], deltas: int) -> Iterator[Event]:
    yield {"type": f"response.{frame}.added", **place, "part": {**part, "text": ""}}, False
    for each in split(part["text"], deltas):
        yield {"type": f"response.{kind}.delta", **place, "delta": each}, True
    yield {"type": f"response.{kind}.done", **place, "text": part["text"]}, False
    yield {"type": f"response.{frame}.done", **place, "part": part}, False


def _items(answer: Answer, ask: Ask) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if answer.thinking:
        summary = [{"type": "summary_text", "text": answer.thinking}]
        items.append({"id": f"rs_{ask.id}", "type": "reasoning", "summary": summary})
    if answer.full_text:
        content = [{"type": "output_text", "text": answer.full_text, "annotations": []}]
        items.append(
            {
                "id": f"msg_{ask.id}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": content,
            }
        )
    items.extend(_call(call, f"{ask.id}{at}") for at, call in enumerate(answer.tool_calls))
    return items


def _call(call: ToolCall, number: str) -> dict[str, Any]:
    head = {"status": "completed", "call_id": f"call_{number}", "name": call.name}
    if call.namespace:
        head["namespace"] = call.namespace
    if call.text is not None:
        return {"id": f"ctc_{number}", "type": "custom_tool_call", **head, "input": call.text}
    arguments = dumps(dict(call.arguments)).decode("utf-8", "replace")
    return {"id": f"fc_{number}", "type": "function_call", **head, "arguments": arguments}


def _emptied(item: dict[str, Any]) -> dict[str, Any]:
    """An item as it is announced: nothing in it yet."""
    hollow: dict[str, Any] = {"content": [], "summary": [], "arguments": "", "input": ""}
    told = {key: hollow.get(key, value) for key, value in item.items()}
    return {**told, "status": "in_progress"} if "status" in item else told


def _response(ask: Ask, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"resp_{ask.id}",
        "object": "response",
        "created_at": ask.created,
        "status": status,
        "model": ask.model,
        "output": output,
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": True,
        "store": False,
        "usage": _usage(ask.usage) if status == "completed" else None,
    }


def _usage(usage: ServedUsage) -> dict[str, Any]:
    written = usage.cache_write_tokens + usage.cache_write_1h_tokens
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cache_read_tokens, "cache_write_tokens": written},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.prompt_tokens + usage.output_tokens,
    }


def _whole(answer: Answer, ask: Ask) -> dict[str, Any]:
    return _response(ask, "completed", _items(answer, ask))


SPEECH = Speech(_stream, _whole, error)
