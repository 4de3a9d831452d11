"""A run from its first turn to its last process: turns, questions, signals, the time, and how it all ended."""

from __future__ import annotations

import signal
import time
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from agentmux_launcher import permission, processes
from agentmux_launcher.events import End, Event, Failure, FailureClass, Notice, Permission
from agentmux_launcher.failure import TITLES
from agentmux_launcher.pty.values import FAILED_BEFORE, SIGNALLED, TIMED_OUT, SpawnError
from agentmux_launcher.supervise import Signalled, Typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agentmux_launcher.controllers.base import Controller
    from agentmux_launcher.guard import Guard
    from agentmux_launcher.processes import Known, Seen
    from agentmux_launcher.reading import Ended
    from agentmux_launcher.run_record import RunRecord
    from agentmux_launcher.supervise import Child, Inbox, Message

WELL, FAILED, DENIED = 0, 1, 5
_LEFT = 2.0  # seconds for what a CLI left behind
_ENDING = 0.5  # seconds for what is about to end, since the CLI that it belongs to has


class Host(Protocol):
    """Who shows a run, and asks a person where there is one. `chat`: that person gives the turns."""

    @property
    def chat(self) -> bool: ...

    @property
    def person(self) -> bool: ...

    def output(self, data: bytes) -> None:
        """What the CLI wrote, as it came."""

    def event(self, event: Event) -> None: ...

    def ready(self) -> None:
        """The next turn is the person's."""

    def question(self, asked: Permission) -> None:
        """Put what the CLI asks to the person; what they type comes into the inbox."""

    def typed(self, line: str | None) -> None:
        """The person typed a line; None where they will type nothing more."""

    def remaining(self) -> float | None:
        """Seconds until `tick` is due; None where nothing is."""

    def tick(self) -> None:
        """Show what has waited for its time."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended; `exit_code` as in the design of the command."""

    exit_code: int
    failure: Failure | None = None


class Conversation:
    """Ties a controller to its record and its host. It is the controller's listener."""

    def __init__(self, inbox: Inbox, host: Host, record: RunRecord, guard: Guard, timeout: float | None = None) -> None:
        self.controller: Controller
        self._inbox = inbox
        self._host = host
        self._record = record
        self._guard = guard
        self._timeout = timeout
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._questions: deque[Permission] = deque()
        self._asked: str | None = None
        self._failure: Failure | None = None
        self._denied = False
        self._closing = not host.chat
        self._person = host.person
        self._prompted = False
        self._told = False
        self._stopped: int | None = None

    def run(self, controller: Controller, prompt: str | None) -> Outcome:
        """Everything from the first turn on; at the end nothing is left of what it started."""
        self.controller = controller
        try:
            if prompt is not None:
                self._say(prompt)
            while not self._over():
                self._step()
            self._record.turn(controller)
            return self._outcome()
        finally:
            self._sweep([] if controller.child is None else [controller.child.process.known])
            self._guard.dismiss()

    def started(self, child: Known) -> None:
        self._guard.watch(child)
        self._record.started(child, self.controller)

    def output(self, data: bytes) -> None:
        self._record.output(data)
        self._host.output(data)

    def errors(self, data: bytes) -> None:
        self._record.errors(data)

    def sent(self, frame: Mapping[str, Any]) -> None:
        self._record.sent(frame)

    def event(self, event: Event) -> None:
        event = self._timed(event)
        self._record.event(event)
        self._host.event(event)
        match event:
            case Permission(chosen=None):
                self._questions.append(event)
            case Permission():
                self._settle(event)
            case Failure():
                self._failure = event
            case End():
                self._failure = None
            case _:
                pass

    def _timed(self, event: Event) -> Event:
        """Where it was our time that ran out, the failure says after how long."""
        if self._stopped != TIMED_OUT or not isinstance(event, Failure) or event.class_ is not FailureClass.TIMEOUT:
            return event
        after = f"after {self._timeout:g} second{'' if self._timeout == 1 else 's'}"
        return replace(event, detail=", ".join([after, *event.detail.splitlines()[:1]]))

    def ended(self, child: Child, end: Ended) -> None:
        self._record.ended(end)
        self._questions.clear()
        if child.stopping or self._closing:
            self._sweep([child.process.known])

    def _over(self) -> bool:
        return self.controller.child is None and (self._closing or self._stopped is not None)

    def _step(self) -> None:
        self._look_around()
        message = self._inbox.get(self._wait())
        if message is not None:
            self._take(message)
        self.controller.tick()
        self._host.tick()
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self._time_is_up()
        self._record.turn(self.controller)
        if self._record.lost and not self._told:
            self._told = True
            self.event(Notice(f"this run cannot be kept: {self._record.lost}", "agentmux"))

    def _look_around(self) -> None:
        """What is to be done before the next message is waited for."""
        self._answer()
        if not self.controller.idle:
            self._prompted = False
        elif self._closing and self.controller.child is not None and not self.controller.finishing:
            self.controller.close()
        elif not self._closing and not self._prompted and self._stopped is None:
            self._prompted = True
            self._host.ready()

    def _wait(self) -> float | None:
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        waits = [
            seconds for seconds in (self.controller.remaining(), self._host.remaining(), left) if seconds is not None
        ]
        return min(waits, default=None)

    def _take(self, message: Message) -> None:
        match message:
            case Typed(line):
                self._host.typed(line)
                self._typed(line)
            case Signalled(number):
                self._signalled(number)
            case _:
                self._guarded(lambda: self.controller.take(message))

    def _say(self, text: str) -> None:
        self._guarded(lambda: self.controller.say(text))

    def _guarded(self, work: Callable[[], object]) -> None:
        """Do what may start a process; one that cannot be started ends the run."""
        try:
            work()
        except SpawnError as error:
            missing = error.exit_code != FAILED_BEFORE
            means = FailureClass.CLI_MISSING if missing else FailureClass.BAD_ARGUMENTS
            self.event(Failure(means, TITLES[means], str(error), error.exit_code))
            self._stopped = error.exit_code

    def _typed(self, line: str | None) -> None:
        if line is None:
            self._closing, self._person = True, False
        if self._asked is not None and self._questions:
            asked = self._questions[0]
            if line is None:
                self._asked = None  # `_answer` denies it, and all that is asked from now on
            elif decision := permission.from_line(line, asked):
                self._decide(asked, decision)
            else:
                self._host.question(asked)
        elif self._host.chat and line and line.strip():
            self._say(line)
            self._prompted = False
        else:
            self._prompted = False

    def _answer(self) -> None:
        """Answer what needs nobody; ask for the rest, one after the other."""
        while self._questions and self._asked is None:
            asked = self._questions[0]
            mode = self.controller.launch.plan.permission
            decision = permission.by_policy(asked, mode, person=self._person)
            if decision is None:
                self._asked = asked.id
                self._host.question(asked)
                return
            self._denied = self._denied or (not decision.allows and permission.counts(asked, mode))
            self._decide(asked, decision)

    def _decide(self, asked: Permission, decision: permission.Decision) -> None:
        self._asked = None
        if self._questions and self._questions[0] is asked:
            self._questions.popleft()
        self.controller.answer(asked, decision)

    def _settle(self, event: Permission) -> None:
        """What was asked is answered, withdrawn, or was never asked: the CLI denied it by itself."""
        waiting = [each for each in self._questions if each.id == event.id]
        for each in waiting:
            self._questions.remove(each)
        if self._asked == event.id:
            self._asked = None
        alone = not waiting and not event.options and not self._person
        if alone and event.chosen != "cancelled" and permission.counts(event, self.controller.launch.plan.permission):
            self._denied = True

    def _signalled(self, number: int) -> None:
        chat = self._host.chat and number == signal.SIGINT
        if chat and not self.controller.idle and not self.controller.interrupted:
            self.controller.interrupt()
            return
        self._stopped = SIGNALLED + number
        self.controller.stop("stopped")

    def _time_is_up(self) -> None:
        self._deadline = None
        self._stopped = TIMED_OUT
        self.controller.stop("timed_out")

    def _sweep(self, leaders: Iterable[Known]) -> None:
        """End what the CLI left behind."""
        run_id = self.controller.launch.run_id
        for seen in processes.end(lambda: processes.of_run(run_id, leaders), _LEFT, patience=_ENDING):
            self.event(Notice(_left(seen), "agentmux"))

    def _outcome(self) -> Outcome:
        failure = self._failure
        if self._stopped is not None:
            return Outcome(self._stopped, failure)
        if failure is not None:
            return Outcome(FAILED if failure.signal is None else SIGNALLED + failure.signal, failure)
        return Outcome(DENIED if self._denied else WELL)


def _left(seen: Seen) -> str:
    return f"ended what the CLI left running: `{seen.command}` (process {seen.known.pid})"
