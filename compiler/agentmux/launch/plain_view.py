"""Events as plain text: the answer on standard output, all else a line each on standard error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agentmux.usage.words import money
from agentmux_compiler.render.visible import head, visible
from agentmux_launcher.accounting import Account, add
from agentmux_launcher.events import (
    Compaction,
    End,
    Event,
    Failure,
    FailureClass,
    Mode,
    Notice,
    Permission,
    Plan,
    Retry,
    Text,
    ToolCall,
    ToolResult,
    Unknown,
)
from agentmux_launcher.usage import Tokens
from agentmux_launcher.window import window

if TYPE_CHECKING:
    from agentmux.streams import Streams

WIDTH = 120
OURS = {FailureClass.INTERRUPTED, FailureClass.TIMEOUT}  # how such a CLI ended is our doing
NOTICE = 400  # what a CLI says of itself ends with what to do about it


class PlainView:
    """Shows a run as it goes; nothing of it can drive a terminal."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._in_line = False
        self._message: str | None = None
        self._account = Account()

    def event(self, event: Event) -> None:
        self._account = add(self._account, event)
        if isinstance(event, Text):
            self._answer(event)
        elif isinstance(event, End):
            self._end_line()
        elif line := aside(event):
            self._end_line()
            self._streams.err.line(line)

    def close(self) -> None:
        """The end of the run, and what it used."""
        self._end_line()
        if line := used(self._account):
            self._streams.err.line(line)

    def _answer(self, event: Text) -> None:
        """A sub-agent's words are not the answer."""
        if event.parent is not None:
            return
        if event.message_id != self._message:
            self._end_line()
        self._message = event.message_id
        self._streams.out.write(readable(event.text))
        self._in_line = not event.text.endswith("\n")

    def _end_line(self) -> None:
        if self._in_line:
            self._streams.out.write("\n")
            self._in_line = False


def readable(text: str) -> str:
    """Text with its lines and tabs; all else that drives a terminal or hides is written out."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(visible(part) for part in line.split("\t")) for line in lines)


def aside(event: Event) -> str | None:
    """The line of an event that is not part of the answer; None where it has none."""
    match event:
        case ToolCall(_, name, given):
            line = f"tool {name} {_json(given)}"
        case ToolResult(ok=False, output=output):
            line = f"tool failed: {output}"
        case Permission(chosen=str(chosen), tool=tool):
            line = f"permission for {tool}: {chosen}"
        case Retry():
            line = _retry(event)
        case Plan() | Mode() | Compaction():
            line = _of_session(event)
        case Failure(class_, title):
            line = f"failed ({class_}): {title}" + _evidence(event)
        case Notice(text):
            line = text
        case Unknown(frame):
            line = f"unknown frame: {_json(frame)}"
        case _:
            return None
    if isinstance(event, Failure):
        return visible(line)
    return head(visible(line), NOTICE if isinstance(event, Notice) else WIDTH)


def _of_session(event: Plan | Mode | Compaction) -> str:
    match event:
        case Plan(steps):
            said = (f"{step.text} ({step.status})" if step.status else step.text for step in steps)
            return f"plan: {'; '.join(said) or 'none any more'}"
        case Mode(mode):
            return f"mode {mode}"
        case Compaction(trigger, before, after):
            return f"conversation compacted ({trigger}): {_count(before)} to {_count(after)} tokens"


def used(so_far: Account) -> str | None:
    """What a run used, in one line; a figure that is not known has no place in it."""
    tokens, size = so_far.tokens or Tokens(), window(so_far)
    part = f" of {_count(size.tokens)}" if size else ""
    figures = [
        (tokens.input, "uncached"),
        (tokens.cache_read, "from the cache"),
        (tokens.cache_write, "written for 5 min"),
        (tokens.cache_write_1h, "written for 1 h"),
        (tokens.output, "out"),
        (so_far.context, f"in the context{part}"),
    ]
    said = [f"{_count(number)} {what}" for number, what in figures if number is not None]
    said += [] if so_far.usd is None else [money(so_far.usd)]
    return f"tokens: {', '.join(said)}" if said else None


def _evidence(failure: Failure) -> str:
    """What it is known by: its words, else how the CLI ended."""
    if failure.detail:
        return f": {failure.detail}"
    if failure.class_ in OURS:
        return ""
    if failure.signal is not None:
        return f" (signal {failure.signal})"
    return f" (exit code {failure.exit_code})" if failure.exit_code else ""


def _retry(event: Retry) -> str:
    words = [str(word) for word in (event.status, event.reason) if word is not None]
    wait = "" if event.retry_after_ms is None else f" in {event.retry_after_ms} ms"
    return f"asking again{wait}: {' '.join(words)}" if words else f"asking again{wait}"


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"
