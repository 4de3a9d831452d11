"""A CLI with its own screen: passed through as it is, to the size of the terminal, with the CLI's own exit code."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from agentmux_launcher import processes
from agentmux_launcher.pty import spawn
from agentmux_launcher.pty.values import SIGNALLED, TIMED_OUT, Exit
from agentmux_launcher.supervise import (
    GRACE,
    Child,
    Closed,
    Gone,
    Grace,
    Inbox,
    Message,
    Output,
    Resized,
    Signalled,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentmux_launcher.launch import Launch
    from agentmux_launcher.processes import Known
    from agentmux_launcher.pty.here import Here

_LEFT = 2.0


class Screen:
    """One run of a CLI on our terminal."""

    def __init__(self, launch: Launch, inbox: Inbox, here: Here, grace: Grace = GRACE) -> None:
        self._launch = launch
        self._inbox = inbox
        self._here = here
        self._grace = grace
        self._ended_by: int | None = None

    def run(self, prompt: str | None, started: Callable[[Known], object], timeout: float | None = None) -> int:
        """Until the CLI ends; its own exit code, unless it was a signal or the time that ended it.

        Raises:
            SpawnError, OSError, ValueError: it cannot be started.
        """
        command = self._launch.command(self._launch.slots(prompt))
        process = spawn(command, self._launch.wiring, self._here.size)
        started(process.known)
        child = Child(process, self._inbox, self._grace)
        try:
            with self._here.raw(process.write, lambda: self._inbox.put(Resized())):
                self._pass_through(child, None if timeout is None else time.monotonic() + timeout)
        finally:
            if not child.done:
                process.kill()
            processes.end(lambda: processes.of_run(self._launch.run_id, [process.known]), _LEFT)
            process.release()
        return (child.exit or Exit()).shown if self._ended_by is None else self._ended_by

    def _pass_through(self, child: Child, deadline: float | None) -> None:
        while not child.done:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            waits = [seconds for seconds in (child.remaining(), left) if seconds is not None]
            message = self._inbox.get(min(waits, default=None))
            if message is not None:
                self._take(message, child)
            child.tick()
            if deadline is not None and time.monotonic() >= deadline:
                deadline, self._ended_by = None, TIMED_OUT
                child.stop(lambda: False)

    def _take(self, message: Message, child: Child) -> None:
        match message:
            case Output(_, data):
                self._here.write(data)
            case Closed() | Gone():
                child.take(message)
            case Resized():
                child.process.resize(self._here.size)
            case Signalled(number):
                self._ended_by = SIGNALLED + number
                child.stop(lambda: False)
            case _:
                pass
