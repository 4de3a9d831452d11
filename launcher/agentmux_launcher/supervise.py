"""One child from its start to its end: its streams into an inbox, and the ladder down which it is stopped."""

from __future__ import annotations

import enum
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from agentmux_launcher.pty.values import Exit

if TYPE_CHECKING:
    from agentmux_launcher.pty import Process, Source

Stream = Literal["stdout", "stderr"]

_WAITING = 64  # chunks of a stream that may wait in an inbox; a child that says more waits too


@dataclass(frozen=True, slots=True)
class Output:
    """Bytes of the child's stdout."""

    child: Child = field(repr=False)
    data: bytes
    taken: Callable[[], object] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Errors:
    """Bytes of the child's stderr."""

    child: Child = field(repr=False)
    data: bytes
    taken: Callable[[], object] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Closed:
    """A stream of the child's has ended."""

    child: Child = field(repr=False)
    stream: Stream


@dataclass(frozen=True, slots=True)
class Gone:
    """The child has ended; a stream of it may still be open, since others can hold it."""

    child: Child = field(repr=False)
    exit: Exit


@dataclass(frozen=True, slots=True)
class Typed:
    """A line that a person typed, without its end; None where there will be no other."""

    line: str | None


@dataclass(frozen=True, slots=True)
class Signalled:
    """The launcher got a signal."""

    number: int


@dataclass(frozen=True, slots=True)
class Resized:
    """The terminal of the launcher has another size."""


Message = Output | Errors | Closed | Gone | Typed | Signalled | Resized


class Inbox:
    """All that a launcher waits for, in the order in which it came. `put` may be called from a signal handler."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Message] = queue.SimpleQueue()

    def put(self, message: Message) -> None:
        self._queue.put(message)

    def get(self, seconds: float | None) -> Message | None:
        """The next message; None where there was none in time."""
        try:
            message = self._queue.get(timeout=seconds)
        except queue.Empty:
            return None
        if isinstance(message, Output | Errors):
            message.taken()
        return message


class State(enum.StrEnum):
    """Where a child is."""

    INIT = "init"
    RUNNING = "running"
    DONE = "done"


class Rung(enum.IntEnum):
    """How far down the ladder a child had to be pushed."""

    NONE = 0
    ASKED = 1
    TERMINATED = 2
    KILLED = 3


@dataclass(frozen=True, slots=True)
class Grace:
    """How many seconds a child has at each rung, and when it has nothing more to do.

    `drained` is for its streams once it ended, and for what it left behind.
    """

    asked: float = 3.0
    terminated: float = 5.0
    drained: float = 2.0
    finished: float = 30.0


GRACE = Grace()


class Child:
    """A child with its threads. Nothing here waits: `take` what the inbox gives, and `tick` when `due` has come."""

    def __init__(self, process: Process, inbox: Inbox, grace: Grace = GRACE) -> None:
        self.process = process
        self.state = State.INIT
        self.rung = Rung.NONE
        self.exit: Exit | None = None
        self.cut = False
        self._grace = grace
        self._due: float | None = None
        self._open: set[Stream] = {"stdout"} if process.stderr is None else {"stdout", "stderr"}
        self._begin(inbox)

    @property
    def done(self) -> bool:
        return self.state is State.DONE

    @property
    def stopping(self) -> bool:
        return self.rung is not Rung.NONE

    def remaining(self) -> float | None:
        """Seconds until `tick` is due; None where nothing is."""
        return None if self._due is None else max(0.0, self._due - time.monotonic())

    def take(self, message: Closed | Gone) -> None:
        """What of the child has ended."""
        if isinstance(message, Closed):
            self._open.discard(message.stream)
        else:
            self.exit = message.exit
            self._due = time.monotonic() + self._grace.drained
        if self.exit is not None and not self._open:
            self._done()

    def finish(self) -> None:
        """Nothing more is wanted of the child: its stdin ends, and it may take its time."""
        self.process.close_stdin()
        if self.rung is Rung.NONE and self.exit is None:
            self._due = time.monotonic() + self._grace.finished

    def stop(self, ask: Callable[[], bool]) -> None:
        """Take the first rung: `ask` in the protocol, which says whether there was a way, and end the stdin.

        The second call kills.
        """
        if self.done or self.exit is not None:
            return
        if self.rung is not Rung.NONE:
            self._kill()
            return
        self.rung = Rung.ASKED
        asked = ask()
        closed = self.process.close_stdin()
        self._due = time.monotonic() + (self._grace.asked if asked or closed else 0)

    def tick(self) -> None:
        """Take the next rung if its time has come."""
        if self._due is None or time.monotonic() < self._due or self.done:
            return
        if self.exit is not None or self.rung is Rung.KILLED:
            self.cut = bool(self._open)
            self._done()
        elif self.rung is Rung.TERMINATED:
            self._kill()
        else:
            self.rung = Rung.TERMINATED
            self.process.terminate()
            self._due = time.monotonic() + self._grace.terminated

    def _kill(self) -> None:
        self.rung = Rung.KILLED
        self.process.kill()
        self._due = time.monotonic() + self._grace.drained

    def _done(self) -> None:
        self._due = None
        self.state = State.DONE

    def _begin(self, inbox: Inbox) -> None:
        _thread("stdout", lambda: _pass_on(self, "stdout", self.process.stdout, inbox))
        if (errors := self.process.stderr) is not None:
            _thread("stderr", lambda: _pass_on(self, "stderr", errors, inbox))
        _thread("wait", lambda: inbox.put(Gone(self, self.process.wait())))
        self.state = State.RUNNING


def _pass_on(child: Child, stream: Stream, source: Source, inbox: Inbox) -> None:
    slots = threading.Semaphore(_WAITING)
    kind = Output if stream == "stdout" else Errors
    while data := source.read():
        slots.acquire()
        inbox.put(kind(child, data, slots.release))
    inbox.put(Closed(child, stream))


def _thread(name: str, work: Callable[[], object]) -> None:
    threading.Thread(target=work, daemon=True, name=name).start()
