"""The end of a child on POSIX: seen without taking it away, so that nobody else gets its number or its group's."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

from agentmux_launcher import processes
from agentmux_launcher.pty.values import Exit

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentmux_launcher.processes import Known


class Life:
    """A child that heads a process group. `take` waits for it and gives its code, negative where a signal ended it."""

    def __init__(self, pid: int, take: Callable[[], int]) -> None:
        self._known = processes.known(pid)
        self._take = take
        self._exit: Exit | None = None
        self._taken = False

    @property
    def known(self) -> Known:
        return self._known

    def wait(self) -> Exit:
        return self._look(block=True) or Exit()

    def ended(self) -> Exit | None:
        return self._look(block=False)

    def signal_group(self, number: int) -> None:
        if not self._taken:
            with contextlib.suppress(OSError):
                os.killpg(self._known.pid, number)

    def terminate(self) -> None:
        self.signal_group(signal.SIGTERM)

    def kill(self) -> None:
        self.signal_group(signal.SIGKILL)

    def take(self) -> None:
        """Wait for the child and let the system forget it."""
        if not self._taken:
            code = self._take()
            self._taken = True
            self._exit = self._exit or exit_from(code)

    def _look(self, *, block: bool) -> Exit | None:
        if self._exit is None:
            self._exit = self._seen(block=block)
        return self._exit

    def _seen(self, *, block: bool) -> Exit | None:
        if not hasattr(os, "waitid"):
            return self._taken_when_ended(block=block)
        status = os.waitid(os.P_PID, self._known.pid, os.WEXITED | os.WNOWAIT | (0 if block else os.WNOHANG))
        if status is None:
            return None
        exited = status.si_code == os.CLD_EXITED
        return Exit(code=status.si_status) if exited else Exit(signal=status.si_status)

    def _taken_when_ended(self, *, block: bool) -> Exit | None:
        """Where the system has no way to look at an end without taking it away (macOS before Python 3.13)."""
        if not block:
            found = processes.look(self._known.pid)
            if found is not None and not found.dead:
                return None
        self.take()
        return self._exit


def exit_from(code: int) -> Exit:
    """From the form that `subprocess` uses: negative is a signal."""
    return Exit(code=code) if code >= 0 else Exit(signal=-code)
