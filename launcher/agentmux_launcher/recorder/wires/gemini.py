"""Gemini generateContent: the answer as its stream, as one response, or as an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux_launcher.recorder.answers import Answer, Failure, ServedUsage, split
from agentmux_launcher.recorder.failures import FAILURES
from agentmux_launcher.recorder.wires.reply import Ask, Piece, Speech, event

if TYPE_CHECKING:
    from collections.abc import Iterator


def _stream(answer: Answer, ask: Ask) -> Iterator[Piece]:
    for each in split(answer.thinking, answer.deltas):
        yield event(_response(ask, [{"text": each, "thought": True}]), delta=True)
    for each in split(answer.full_text, answer.deltas):
        yield event(_response(ask, [{"text": each}]), delta=True)
    for call in _calls(answer, ask):
        yield event(_response(ask, [call]), delta=True)
    if answer.failure:
        yield event(_error(answer.failure, ask)[1])
        return
    yield event(_response(ask, [{"text": ""}], "STOP"))


def _calls(answer: Answer, ask: Ask) -> list[dict[str, Any]]:
    return [
        {"functionCall": {"id": f"{ask.id}{at}", "name": call.name, "args": dict(call.arguments)}}
        for at, call in enumerate(answer.tool_calls)
    ]


def _whole(answer: Answer, ask: Ask) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if answer.thinking:
        parts.append({"text": answer.thinking, "thought": True})
    if answer.full_text or not answer.tool_calls:
        parts.append({"text": answer.full_text})
    return _response(ask, [*parts, *_calls(answer, ask)], "STOP")


def _response(ask: Ask, parts: list[dict[str, Any]], finish: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(ask.usage, done=finish is not None),
        "modelVersion": ask.model,
        "responseId": ask.id,
    }


def _usage(usage: ServedUsage, *, done: bool) -> dict[str, Any]:
    """Thoughts are counted apart from the candidates; cached tokens are inside the prompt's."""
    prompt = {"promptTokenCount": usage.prompt_tokens, "cachedContentTokenCount": usage.cache_read_tokens}
    if not done:
        return {**prompt, "totalTokenCount": usage.prompt_tokens}
    return {
        **prompt,
        "candidatesTokenCount": usage.output_tokens - usage.reasoning_tokens,
        "thoughtsTokenCount": usage.reasoning_tokens,
        "totalTokenCount": usage.prompt_tokens + usage.output_tokens,
    }


def _error(failure: Failure, ask: Ask) -> tuple[int, dict[str, Any]]:
    words = FAILURES[failure.kind].gemini
    status = failure.status or words.status
    message = failure.message or words.message.format(model=ask.model)
    error: dict[str, Any] = {"code": status, "message": message, "status": words.code}
    if failure.retry_after is not None:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        error["details"] = [{"@type": kind, "retryDelay": f"{failure.retry_after:g}s"}]
    return status, {"error": error}


SPEECH = Speech(_stream, _whole, _error)
