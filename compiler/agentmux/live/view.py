"""A run on a terminal: the answer as it streams, all else folded to a line, and what it costs in a row below."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text as Line

from agentmux.launch.plain_view import aside, readable
from agentmux.live import question, status, words
from agentmux.live.folding import Folding
from agentmux.live.screen import Screen
from agentmux_compiler.render.visible import TAB, visible
from agentmux_launcher.accounting import Account, add
from agentmux_launcher.events import (
    Compaction,
    End,
    Event,
    Failure,
    Mode,
    Notice,
    Permission,
    Plan,
    Retry,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
)
from agentmux_launcher.window import near_compaction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentmux.launch.run_host import About
    from agentmux.streams import Stream
    from agentmux_launcher.person import Person

PROMPT = "> "
PAUSE = 0.1  # seconds between two drawings
SECOND = 1.0


class LiveView:
    """Draws at most every `PAUSE`; between two drawings things wait."""

    def __init__(self, out: Stream, about: About, size: Callable[[], tuple[int, int]] | None = None) -> None:
        self._about = about
        self._screen = Screen(out, size)
        self._folding = Folding()
        self._account = Account(model=about.model, windows=about.windows)
        self._person: Person | None = None
        self._chat = False
        self._prompts = False
        self._asked: str | None = None
        self._text: list[str] = []
        self._message: str | None = None
        self._warned = False
        self._told = self._account
        self._due: float | None = 0.0
        self._drawn = 0.0

    def attend(self, person: Person | None, *, chat: bool) -> None:
        self._person, self._chat = person, chat
        self._echo(on=False)

    def output(self, data: bytes) -> None:
        """Bytes are nothing for people."""

    def event(self, event: Event) -> None:
        self._account = add(self._account, event)
        if isinstance(event, Text):
            self._answer(event)
        else:
            self._aside(event)
        self._soon()

    def ready(self) -> None:
        """The figures so far stay above the prompt, since no row stands below it."""
        self._finish()
        if self._account != self._told:
            self._told = self._account
            parts = status.status(None, "", None, self._account, self._about.elapsed())[3:]
            self._screen.line(status.fitted(parts, self._screen.width))
        self._prompt()

    def question(self, asked: Permission) -> None:
        """Where the question does not repeat the input of a call, it is the one the call had."""
        self._end_thought()
        given = asked.input if asked.input is not None else self._folding.given(asked.tool_call_id)
        self._put(question.question(replace(asked, input=given), self._screen.width))
        self._asked = None if self._prompts else asked.id
        self._prompt()

    def typed(self, line: str | None) -> None:
        """What was typed while no prompt stood was not shown."""
        if self._prompts:
            self._no_prompt(line=line is not None)
        elif self._chat and line and line.strip():
            rows = [visible(row.replace("\t", TAB)) for row in line.split("\n")]
            marks = [PROMPT, *[" " * len(PROMPT)] * len(rows)]
            self._put([Line(f"{mark}{row}", status.DIM) for mark, row in zip(marks, rows, strict=False)])
        self._soon()

    def remaining(self) -> float | None:
        return None if self._due is None else max(0.0, self._due - time.monotonic())

    def tick(self) -> None:
        if self._due is not None and time.monotonic() >= self._due:
            self._draw()

    def close(self) -> None:
        """Nothing is left below, and a line says what the run came to."""
        self._no_prompt(line=False)
        self._finish()
        if said := status.summary(self._account, self._about.elapsed()):
            self._screen.line(Line(said, status.DIM))
        self._screen.draw([])
        self._due = None
        self._echo(on=True)

    def _answer(self, event: Text) -> None:
        """A sub-agent's words are not the answer."""
        if event.parent is not None:
            return
        self._end_thought()
        if event.message_id != self._message:
            self._flush()
            self._screen.end_line()
        self._message = event.message_id
        self._text.append(event.text)

    def _aside(self, event: Event) -> None:
        now = self._about.clock()
        if isinstance(event, Thinking):
            if event.parent is None:
                self._folding.thinks(event, now)
            return
        lines = self._lines(event, now)
        if lines or isinstance(event, ToolCall):
            self._end_thought()
        self._put(lines)
        self._warn()

    def _lines(self, event: Event, now: float | None) -> list[Line]:
        """The lines of an event that stay."""
        width = self._screen.width
        lines: list[Line] = []
        match event:
            case ToolCall():
                self._folding.called(event, now)
            case ToolResult():
                lines = self._folding.returned(event, now, width)
            case End(stop_reason):
                lines = [*self._folding.end(width), *words.ended(stop_reason)]
                self._flush()
                self._screen.end_line()
            case Failure():
                lines = [*self._folding.end(width), words.failure(aside(event) or "")]
            case Permission(chosen=str(chosen)):
                self._settled(event, now)
                lines = [words.answered(event, chosen)]
            case Plan(steps):
                lines = self._folding.planned(steps, width)
            case Mode(name):
                lines = [words.dim(f"mode: {name}")]
            case Retry() | Compaction() | Notice() | Unknown():
                lines = [words.dim(aside(event) or "")]
            case _:
                pass
        return lines

    def _warn(self) -> None:
        """Once, each time the context comes near to its end."""
        near = near_compaction(self._account)
        if near and not self._warned:
            self._put([Line(status.compacts(self._account), status.WARNING)])
        self._warned = near

    def _end_thought(self) -> None:
        self._put(self._folding.thought(self._about.clock(), self._screen.width))

    def _put(self, lines: Sequence[Line]) -> None:
        """Lines that stay, behind the text that came before them."""
        if lines:
            self._flush()
        for line in lines:
            self._screen.line(line)

    def _flush(self, *, whole: bool = True) -> None:
        """Unless the `whole` text is wanted, half an end of a line waits, and a half line while somebody writes."""
        text, self._text = "".join(self._text), []
        if not whole:
            end = text.rfind("\n") + 1 if self._prompts else len(text) - text.endswith("\r")
            text, rest = text[:end], text[end:]
            self._text = [rest] if rest else []
        if text:
            self._screen.text(readable(text))

    def _finish(self) -> None:
        """Everything that is under way ends here."""
        self._end_thought()
        self._put(self._folding.end(self._screen.width))
        self._flush()
        self._screen.end_line()

    def _prompt(self) -> None:
        self._screen.end_line()
        self._screen.prompt(PROMPT)
        self._echo(on=True)
        self._prompts, self._due = True, None

    def _no_prompt(self, *, line: bool) -> None:
        self._screen.answered(line=line)
        self._prompts, self._asked = False, None
        self._echo(on=False)

    def _settled(self, event: Permission, now: float | None) -> None:
        """Answered, or withdrawn while the person thinks about it."""
        self._folding.answered(event.tool_call_id, now)
        if self._asked == event.id:
            self._no_prompt(line=False)

    def _soon(self) -> None:
        """Draw, now if the last time is long enough ago and nobody writes."""
        now = time.monotonic()
        due = (now if self._prompts else self._drawn) + PAUSE
        self._due = due if self._due is None else min(due, self._due)
        if now >= self._due:
            self._draw()

    def _draw(self) -> None:
        self._flush(whole=False)
        elapsed = self._about.elapsed()
        row = self._folding.row(self._about.clock(), self._screen.width)
        parts = status.status(self._about.agent, self._about.provider, self._about.model, self._account, elapsed)
        self._screen.draw([*([row] if row else []), status.fitted(parts, self._screen.width)])
        self._drawn = time.monotonic()
        rest = SECOND if elapsed is None else SECOND - elapsed % SECOND
        self._due = None if self._prompts else self._drawn + max(PAUSE, rest)

    def _echo(self, *, on: bool) -> None:
        if self._person is not None:
            self._person.echo(on=on)
