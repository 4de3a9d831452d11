"""What every controller of a CLI with frames does: start a process, read it, see it to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from agentmux_launcher.events import Event, Session
from agentmux_launcher.pty import SpawnError, spawn
from agentmux_launcher.reading import Ended, Reader, reading_of
from agentmux_launcher.startup import first_turn
from agentmux_launcher.supervise import (
    GRACE,
    Child,
    Closed,
    Errors,
    Gone,
    Grace,
    Inbox,
    Message,
    Output,
    Resized,
    Signalled,
    Typed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agentmux_launcher.events import Permission
    from agentmux_launcher.launch import Launch
    from agentmux_launcher.permission import Decision
    from agentmux_launcher.processes import Known
    from agentmux_launcher.pty import Command
    from agentmux_launcher.usage import Start

Why = Literal["itself", "stopped", "timed_out"]


class Listener(Protocol):
    """Who hears what becomes of a run, in its order."""

    def started(self, child: Known) -> None:
        """A process of the CLI has begun."""

    def output(self, data: bytes) -> None:
        """Bytes of its stdout, as they came."""

    def errors(self, data: bytes) -> None:
        """Bytes of its stderr, as they came."""

    def sent(self, frame: Mapping[str, Any]) -> None:
        """A frame that went to it."""

    def event(self, event: Event) -> None:
        """What the bytes mean."""

    def ended(self, child: Child, end: Ended) -> None:
        """The process has ended, and everything of it was heard; its number is still its own."""


class Controller:
    """One agent on one CLI, turn by turn. Nothing here waits: `take` what the inbox gives, and `tick` when it is time.

    `session_id` is the session as the CLI names it; `child` the process that runs, if one does; `start` how it began,
    or the next one will. `finishing`: it was told that nothing more comes. `interrupted`: the turn that runs was.
    """

    lasting = False
    _watch: Callable[[Mapping[str, Any]], object] | None = None

    def __init__(self, launch: Launch, inbox: Inbox, listener: Listener, grace: Grace = GRACE) -> None:
        self.launch = launch
        self.listener = listener
        self.session_id = None if launch.fork else launch.session_id
        self.child: Child | None = None
        self._inbox = inbox
        self._grace = grace
        self._reader: Reader | None = None
        self.start: Start = launch.start
        self.finishing = False
        self.interrupted = False
        self._first = True
        self._why: Why = "itself"

    @property
    def idle(self) -> bool:
        """Whether no turn runs."""
        raise NotImplementedError

    @property
    def counters(self) -> Any:
        """What the session's counters stand at, for whoever goes on with it."""
        return self._reader.counters if self._reader else self.start.counters

    def say(self, text: str) -> None:
        """A turn of the user's; while another runs, the CLI decides what becomes of it, or it waits.

        Raises:
            SpawnError: a process was needed and could not be started.
        """
        raise NotImplementedError

    def interrupt(self) -> None:
        """End the turn that runs, and what waits behind it."""
        raise NotImplementedError

    def answer(self, asked: Permission, decision: Decision) -> None:
        """Answer what the CLI asked, where it can be answered."""

    def ask_to_stop(self) -> bool:
        """Ask in the CLI's own protocol; whether there is a way."""
        return False

    def close(self) -> None:
        """There will be no other turn."""
        self.finishing = True
        if self.child is not None:
            self.child.finish()

    def stop(self, why: Why) -> None:
        """End the process, politely at first; the second time at once."""
        if self._why == "itself":
            self._why = why
        if self.child is not None:
            self.child.stop(self.ask_to_stop)

    def remaining(self) -> float | None:
        """Seconds until `tick` is due; None where nothing is."""
        return self.child.remaining() if self.child else None

    def take(self, message: Message) -> None:
        """What came of the process that runs."""
        if isinstance(message, Typed | Signalled | Resized) or message.child is not self.child or self._reader is None:
            return
        match message:
            case Output(_, data):
                self.listener.output(data)
                self._hear(self._reader.stdout(data))
            case Errors(_, data):
                self.listener.errors(data)
                self._hear(self._reader.stderr(data))
            case Closed(child) | Gone(child):
                child.take(message)
        self._look()

    def tick(self) -> None:
        if self.child is not None:
            self.child.tick()
            self._look()

    def heard(self, event: Event) -> None:
        """An event of the process that runs."""
        if isinstance(event, Session) and event.session_id:
            self.session_id = event.session_id
        self.listener.event(event)

    def gone(self) -> None:
        """The process that ran has ended, and all it said was heard."""

    def _begin(self, slots: Mapping[str, str]) -> Child:
        process = spawn(self._command(slots), self.launch.wiring, self.launch.size)
        self.listener.started(process.known)
        self.child = Child(process, self._inbox, self._grace)
        self._reader = Reader(reading_of(self.launch.plan, self.start, lasting=self.lasting), self._watch)
        self._why, self._first, self.finishing, self.interrupted = "itself", False, False, False
        return self.child

    def _command(self, slots: Mapping[str, str]) -> Command:
        try:
            return self.launch.command(slots)
        except (OSError, ValueError) as error:
            raise SpawnError(str(error)) from error

    def _turn(self, text: str) -> str:
        """What is said, as it goes to the CLI: in front of a new session's first turn stands its opening."""
        new = self._first and self.launch.session_id is None
        return first_turn(self.launch.opening, text) if new else text

    def _slots(self, prompt: str | None = None) -> dict[str, str]:
        if self._first:
            return self.launch.slots(prompt)
        slots = {**self.launch.always, "resume": self.session_id, "prompt": prompt}
        return {name: value for name, value in slots.items() if value is not None}

    def _hear(self, events: Iterable[Event]) -> None:
        for event in events:
            self.heard(event)

    def _look(self) -> None:
        if self.child is None or not self.child.done or self._reader is None:
            return
        child, self.child = self.child, None
        end = self._end_of(child)
        self._hear(self._reader.close(end))
        self.listener.ended(child, end)
        child.process.release()
        self.gone()

    def _end_of(self, child: Child) -> Ended:
        """A child that ended before anybody stopped it did so by itself; one that took too long to end, did end."""
        if child.stopping and self._why == "itself":
            return Ended()
        end = child.exit
        why = self._why if child.stopping else "itself"
        return Ended(by=why) if end is None else Ended(end.code, end.signal, why)
