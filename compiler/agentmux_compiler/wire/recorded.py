"""Recorded model requests as they are read: a bare body, or a file of the recorder, on one of the known wires."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Span
from agentmux_launcher.recorder.exchange import read
from agentmux_launcher.recorder.wire import NotAPromptError, RenderedRequest

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux_compiler.diagnostics import Diagnostic

WIRES = {
    "anthropic": "Anthropic Messages",
    "responses": "OpenAI Responses",
    "chat": "OpenAI Chat",
    "gemini": "Gemini generateContent",
}
_CLIENT = re.compile(r"^([^\s/]+)/(\d[\w.+-]*)")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One request: the name it is spoken of by, its prompt, and the client and version that its headers name."""

    name: str
    request: RenderedRequest
    client: str = ""
    version: str = ""


def read_pair(before: Path, after: Path) -> tuple[tuple[Recorded, Recorded] | None, list[Diagnostic]]:
    """Both requests, or what is wrong with them.

    Raises:
        OSError: a file cannot be read.
    """
    read_both = [_read(path) for path in (before, after)]
    found = [item for item in read_both if not isinstance(item, Recorded)]
    if found:
        return None, found
    old, new = (item for item in read_both if isinstance(item, Recorded))
    if old.request.wire != new.request.wire:
        spoken = " and ".join(f"`{item.name}` is {WIRES[item.request.wire]}" for item in (old, new))
        return None, [rules.DIFFERENT_WIRES.at(None, f"two wires: {spoken}", help="compare requests of one wire")]
    return (old, new), []


def shown_name(path: Path) -> str:
    """A report holds no absolute path."""
    return path.name if path.is_absolute() else path.as_posix()


def _read(path: Path) -> Recorded | Diagnostic:
    name = shown_name(path)
    try:
        exchange = read(path)
        prompt = exchange.prompt
    except (ValueError, RecursionError) as error:
        return _unreadable(name, error)
    client = _CLIENT.match(exchange.header("user-agent"))
    return Recorded(name, prompt, *(client.groups() if client else ()))


def _unreadable(name: str, error: ValueError | RecursionError) -> Diagnostic:
    cause = error.__cause__
    span, said = Span(name), str(error).removeprefix("not a recorded request: ").replace("body", "it", 1)
    if isinstance(error, UnicodeDecodeError):
        said = "it is not UTF-8"
    elif isinstance(error, RecursionError):
        said = "it is nested too deeply"
    elif isinstance(cause, json.JSONDecodeError):
        said = f"it is not JSON: {cause.msg[:1].lower()}{cause.msg[1:]}"
        span = span if isinstance(error, NotAPromptError) else Span(name, cause.lineno, cause.colno)
    elif isinstance(cause, TypeError | KeyError | AttributeError):
        said = "it is neither a request body nor a file of the recorder"
    wires = f"known wires: {', '.join(WIRES.values())}"
    return rules.UNREADABLE_REQUEST.at(span, f"`{name}` is no recorded model request: {said}", notes=[wires])
