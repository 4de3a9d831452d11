"""A recorded request body as the prompt that the backend renders from it: pure functions, four wires.

The order of the parts is the backend's (tools before system before messages on Anthropic's wire), never that of
the JSON. What cannot change the prompt is left out: cache marks, ids of items, a string where a block could stand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agentmux_launcher.recorder.prompt import (
    Breakpoint,
    Difference,
    Json,
    Part,
    RenderedRequest,
    Wire,
    first_difference,
)

__all__ = [
    "Breakpoint",
    "Difference",
    "NotAPromptError",
    "Part",
    "RenderedRequest",
    "Wire",
    "first_difference",
    "render",
    "wire_of",
]


class NotAPromptError(ValueError):
    """The body is no model request of a known wire."""


_IDENTITY = ("metadata", "client_metadata", "prompt_cache_key", "user", "safety_identifier")
_PROMPT: dict[Wire, tuple[str, ...]] = {
    "anthropic": ("tools", "system", "messages", "cache_control"),
    "responses": ("instructions", "tools", "input"),
    "chat": ("tools", "messages"),
    "gemini": ("systemInstruction", "system_instruction", "tools", "contents"),
}
# The numbers of an opaque id differ between sessions and are not rendered.
_ITEM_IDENTITY = ("id", "cache_control")


def render(body: bytes | Json, path: str = "") -> RenderedRequest:
    """The prompt of a request body; `path` settles the wire, and the model where the path names it (Gemini).

    Raises:
        NotAPromptError: not a JSON object, or of no wire known here.
    """
    value = body if isinstance(body, Mapping) else _loads(body)
    wire = wire_of(value, path)
    marked = list(_PARTS[wire](value))
    apart = {key: each for key, each in value.items() if key not in _PROMPT[wire]}
    identity = {key: apart.pop(key) for key in _IDENTITY if key in apart}
    if wire == "gemini" and path:
        apart.setdefault("model", path.rpartition("/")[2].partition(":")[0])
    parts = tuple(part for part, _ in marked)
    marks = [Breakpoint(index, ttl) for index, (_, ttl) in enumerate(marked) if ttl]
    if parts and (last := _mark(value)):
        marks.append(Breakpoint(len(parts) - 1, last))
    return RenderedRequest(wire, parts, apart, identity, tuple(marks))


def wire_of(body: Json, path: str = "") -> Wire:
    """Which wire a request speaks: by its path where that says so, else by the fields of its body.

    Raises:
        NotAPromptError: neither says.
    """
    if "messages" in body:
        if "/chat/completions" in path:
            return "chat"
        return "anthropic" if "/messages" in path or _looks_anthropic(body) else "chat"
    if "contents" in body:
        return "gemini"
    if "input" in body:
        return "responses"
    raise NotAPromptError("body has none of `messages`, `contents`, `input`")


def _loads(body: bytes) -> Json:
    try:
        value = json.loads(body)
    except ValueError as error:
        raise NotAPromptError(f"body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise NotAPromptError("body is not a JSON object")
    return value


def _looks_anthropic(body: Json) -> bool:
    tools = _objects(body.get("tools"))
    if tools:
        return not any("function" in tool for tool in tools)
    return "system" in body or "metadata" in body or "output_config" in body


Marked = tuple[Part, str]


def _anthropic(body: Json) -> Iterator[Marked]:
    yield from _tools(_objects(body.get("tools")))
    yield from _content("system", "system", body.get("system"))
    for at, message in enumerate(_objects(body.get("messages"))):
        yield from _content("messages", f"messages[{at}]({message.get('role')}).content", message.get("content"))


def _responses(body: Json) -> Iterator[Marked]:
    if body.get("instructions"):
        yield Part("system", "instructions", str(body["instructions"])), ""
    yield from _tools(_objects(body.get("tools")))
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else _objects(given)
    for at, item in enumerate(items):
        kind = item.get("role") or item.get("type")
        if "content" in item and "role" in item:
            yield from _content("messages", f"input[{at}]({kind}).content", item["content"])
        elif isinstance(item.get("tools"), list):
            yield from _tools(_objects(item["tools"]), f"input[{at}]({kind})")
        else:
            yield Part("messages", f"input[{at}]({kind})", _compact(_rendered(item))), ""


def _chat(body: Json) -> Iterator[Marked]:
    yield from _tools(_objects(body.get("tools")))
    for at, message in enumerate(_objects(body.get("messages"))):
        place = f"messages[{at}]({message.get('role')})"
        for key, value in message.items():
            if key == "content":
                yield from _content("messages", f"{place}.content", value)
            elif key != "role" and value not in (None, []):
                yield Part("messages", f"{place}.{key}", _compact(value)), ""


def _gemini(body: Json) -> Iterator[Marked]:
    yield from _contents("system", "systemInstruction", body.get("systemInstruction", body.get("system_instruction")))
    declared = [(tool.get("functionDeclarations") or [tool]) for tool in _objects(body.get("tools"))]
    yield from _tools([each for group in declared for each in group])
    for at, content in enumerate(_objects(body.get("contents"))):
        yield from _contents("messages", f"contents[{at}]({content.get('role')})", content)


def _contents(layer: str, name: str, content: Any) -> Iterator[Marked]:
    value = content.get("parts") if isinstance(content, Mapping) else content
    yield from _content(layer, f"{name}.parts", value)


def _tools(tools: list[Json], place: str = "tools") -> Iterator[Marked]:
    for tool in tools:
        inner = tool.get("function")
        name = (inner if isinstance(inner, Mapping) else tool).get("name") or tool.get("type") or ", ".join(tool)
        grouped = _objects(tool.get("tools"))
        whole = {key: value for key, value in tool.items() if key != "tools"} if grouped else tool
        yield Part("tools", f"{place}:{name}", _compact(_rendered(whole))), _mark(tool)
        yield from _tools(grouped, f"{place}:{name}")


def _content(layer: str, name: str, value: Any) -> Iterator[Marked]:
    blocks = [{"text": value}] if isinstance(value, str) else _objects(value)
    for at, block in enumerate(blocks):
        text = _text(block)
        if text != "":
            yield Part(layer, f"{name}[{at}]", text), _mark(block)


def _text(block: Json) -> str:
    """A plain text block as its text, any other block as JSON."""
    if isinstance(block.get("text"), str) and set(block) <= _PLAIN:
        return str(block["text"])
    return _compact(_rendered(block))


_PLAIN = {"text", "type", "cache_control", "annotations", "logprobs"}


def _rendered(block: Json) -> Json:
    kept = {key: value for key, value in block.items() if key not in _ITEM_IDENTITY or _is_call_id(block, key)}
    if isinstance(kept.get("content"), list):
        kept["content"] = _simple([_rendered(each) for each in _objects(kept["content"])])
    return kept


def _is_call_id(block: Json, key: str) -> bool:
    """Anthropic's `tool_use` blocks carry in `id` what the result refers to; elsewhere that is `call_id`."""
    return key == "id" and block.get("type") in {"tool_use", "server_tool_use"}


def _simple(blocks: list[Json]) -> Any:
    if len(blocks) == 1 and set(blocks[0]) == {"type", "text"} and blocks[0]["type"] == "text":
        return blocks[0]["text"]
    return blocks


def _mark(block: Json) -> str:
    mark = block.get("cache_control")
    return str(mark.get("ttl", "5m")) if isinstance(mark, Mapping) else ""


def _objects(value: Any) -> list[Json]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _compact(value: Any) -> str:
    # Keys stay as they came: another order of keys is another prompt.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_PARTS = {"anthropic": _anthropic, "responses": _responses, "chat": _chat, "gemini": _gemini}
