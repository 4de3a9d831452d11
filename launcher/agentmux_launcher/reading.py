"""Follow one process of a CLI: bytes in, events out, and in the end why it failed if it did."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agentmux_launcher import frames
from agentmux_launcher.events import (
    Compaction,
    End,
    Event,
    Failure,
    Notice,
    Permission,
    Retry,
    Text,
    Thinking,
    ToolCall,
    Unknown,
    Usage,
)
from agentmux_launcher.failure import HEAD, TAIL, Evidence, classify
from agentmux_launcher.failure_table import NO_TABLE, FailureTable, table_for
from agentmux_launcher.translators import DIALECTS, translator
from agentmux_launcher.trouble import Trouble
from agentmux_launcher.usage import FRESH, Convention, Start, Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from agentmux_launcher.manifest import LaunchPlan

# What only a turn that is under way says; the rest may also come between two turns.
OF_A_TURN = (Text, Thinking, ToolCall, Permission, Retry, Usage)
DID = (Text, ToolCall)
BOTH_WAYS = {"dir", "frame"}


@dataclass(frozen=True, slots=True)
class Reading:
    """How a process is to be read: data of its plan.

    `lasting`: it takes many turns, so that a turn's failure is told at the turn's end; else that waits for the exit,
    which is part of it. `convention` is the dialect's own unless given; `own_words` begin texts that are the CLI's.
    """

    dialect: str
    failures: FailureTable = NO_TABLE
    start: Start = FRESH
    convention: Convention | None = None
    lasting: bool = False
    longest_line: int = frames.LONGEST_LINE
    own_words: tuple[str, ...] = ()


def reading_of(plan: LaunchPlan, start: Start = FRESH, *, lasting: bool = False) -> Reading:
    """How a process of a plan is read."""
    table = table_for(plan.provider, plan.frames)
    return Reading(plan.frames, table, start, plan.usage, lasting=lasting, own_words=plan.own_words)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended. A code or signal of null is not known, or was none; `by` says who ended it."""

    code: int | None = None
    signal: int | None = None
    by: Literal["itself", "stopped", "timed_out", "not_found", "not_executable"] = "itself"


def ended(returncode: int | None) -> Ended:
    """How a process ended, from what `subprocess` calls a return code: a signal is negative."""
    return Ended(signal=-returncode) if returncode is not None and returncode < 0 else Ended(returncode)


class Reader:
    """Reads what one process writes, chunk by chunk, in any cutting."""

    def __init__(self, reading: Reading, watch: Callable[[Mapping[str, Any]], object] | None = None) -> None:
        """`watch` gets every frame that came, before the events of it."""
        self._reading = reading
        self._watch = watch
        self._framed = DIALECTS[reading.dialect].framed
        self._translator = translator(reading.dialect, reading.start, reading.convention, reading.own_words)
        self._out = frames.Splitter(reading.longest_line)
        self._err = frames.Splitter(reading.longest_line)
        self._stray: deque[str] = deque(maxlen=TAIL)
        self._head: list[str] = []
        self._tail: deque[str] = deque(maxlen=TAIL)
        self._troubles: list[Trouble] = []
        self._pending: Failure | None = None
        self._of_last_turn = 0
        self._told = self._opened = self._did = self._did_in_turn = self._closed = self._cut = False

    @property
    def counters(self) -> Tokens | None:
        """What the session's counters stand at; see `usage.Start`. After half a turn nobody knows."""
        whole = (self._closed or not self._opened) and not self._translator.open
        return self._translator.counters if whole else None

    def stdout(self, chunk: bytes) -> Iterator[Event]:
        for item in self._out.feed(chunk):
            yield from self._item(item)

    def stderr(self, chunk: bytes) -> Iterator[Event]:
        for item in self._err.feed(chunk):
            yield from self._aside(item)

    def sent(self, frame: Mapping[str, Any]) -> Iterator[Event]:
        """A frame that went to the CLI."""
        yield from self._translated(self._translator.sent(frame))

    def close(self, end: Ended) -> Iterator[Event]:
        """The end of both streams and of the process."""
        for item in self._err.close():
            yield from self._aside(item)
        for item in self._out.close():
            yield from self._item(item)
        yield from self._translated(self._translator.finish())
        failure = self._last(end)
        if failure:
            yield failure

    def _item(self, item: frames.Item) -> Iterator[Event]:
        if isinstance(item, frames.Frame) and self._framed:
            self._opened = True
            if self._watch is not None:
                self._watch(item.value)
            yield from self._frame(item.value)
        elif isinstance(item, frames.Half) and self._framed:
            self._cut = True
            yield Unknown(item.text)
        elif isinstance(item, frames.TooLong):
            yield _left_out(item)
        else:
            text = _words(item)
            self._stray.append(text)
            self._did = self._did or not self._framed
            yield Notice(text, "stdout")

    def _frame(self, value: Mapping[str, Any]) -> Iterator[Event]:
        if value.keys() != BOTH_WAYS:
            yield from self._translated(self._translator.translate(value))
            return
        inner = value["frame"]
        if isinstance(inner, dict):
            turned = self._translator.sent if value["dir"] == "in" else self._translator.translate
            yield from self._translated(turned(inner))

    def _aside(self, item: frames.Item) -> Iterator[Event]:
        if isinstance(item, frames.TooLong):
            yield _left_out(item)
            return
        text = _words(item)
        if text:
            (self._tail if len(self._head) == HEAD else self._head).append(text)
            yield Notice(text, "stderr")

    def _translated(self, items: Iterable[Event | Trouble]) -> Iterator[Event]:
        for item in items:
            if isinstance(item, Trouble):
                self._troubles.append(item)
                continue
            if self._closed and isinstance(item, OF_A_TURN):
                yield from self._next_turn()
            if _did(item):
                self._did = self._did_in_turn = True
            yield item
            if isinstance(item, End):
                yield from self._end_turn()

    def _next_turn(self) -> Iterator[Event]:
        """A failure that waited for the exit did not end the process."""
        if self._pending:
            yield self._pending
        del self._troubles[: self._of_last_turn]
        self._pending, self._of_last_turn, self._told, self._closed = None, 0, False, False

    def _end_turn(self) -> Iterator[Event]:
        self._closed = True
        table = self._reading.failures
        failed = any(
            each.weight == "final" or (each.weight == "error" and table.fatal(each.text)) for each in self._troubles
        )
        spoke, self._did_in_turn = self._did_in_turn, False
        failure = classify(self._evidence(Ended(), spoke=spoke, closed=True), table) if failed else None
        if failure and self._reading.lasting:
            self._told = True
            yield failure
        elif failure:
            self._pending = failure
        if not self._pending:
            self._troubles = []
        self._of_last_turn = len(self._troubles)

    def _last(self, end: Ended) -> Failure | None:
        """What the end of the process says, unless that was told."""
        by_itself = end.by == "itself" and end.signal is None
        closed = self._closed and not self._translator.open
        if self._told and by_itself and closed:
            return None
        return classify(self._evidence(end, spoke=self._did, closed=closed), self._reading.failures)

    def _evidence(self, end: Ended, *, spoke: bool, closed: bool) -> Evidence:
        return Evidence(
            end.code,
            end.signal,
            end.by,
            (*self._head, *self._tail),
            tuple(self._stray),
            tuple(self._troubles),
            opened=self._opened,
            spoke=spoke,
            closes=self._translator.closes,
            closed=closed,
            cut=self._cut,
        )


def replay(stdout: bytes, stderr: bytes, end: Ended, reading: Reading) -> Iterator[Event]:
    """The events of a recording; what came on stderr follows what came on stdout, since nobody wrote down when."""
    reader = Reader(reading)
    yield from reader.stdout(stdout)
    yield from reader.stderr(stderr)
    yield from reader.close(end)


def _did(event: Event) -> bool:
    """Whether the model did something, or the CLI at a person's word; what it compacts by itself answers nothing."""
    asked = isinstance(event, Compaction) and event.trigger not in {None, "auto"}
    return asked or isinstance(event, DID)


def _words(item: frames.Item) -> str:
    raw = item.line.decode("utf-8", "replace") if isinstance(item, frames.Frame) else getattr(item, "text", "")
    return frames.without_escapes(raw)


def _left_out(item: frames.TooLong) -> Notice:
    return Notice(f"a line of more than {item.limit} bytes was left out; it begins `{item.begins}`", "agentmux")
