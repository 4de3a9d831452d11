"""Children on Windows: pipes for a CLI with frames, a pseudo console for one with a screen, a job object for both.

A pseudo console is no raw PTY: it repaints what goes through it. So stdout is a pipe here where POSIX has a raw PTY.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

from agentmux_launcher import processes
from agentmux_launcher.pty.job import Job
from agentmux_launcher.pty.streams import Reader, Writer
from agentmux_launcher.pty.values import NOT_EXECUTABLE, NOT_FOUND, Command, Exit, Size, SpawnError, Wiring

if TYPE_CHECKING:
    from agentmux_launcher.processes import Known
    from agentmux_launcher.pty import Process

_NEW_GROUP = 0x200
_POLL = 0.02


def spawn(command: Command, wiring: Wiring, size: Size) -> Process:
    """See `pty.spawn`."""
    try:
        return _Screen(_console(command, size)) if wiring.terminal else _Piped(_popen(command, wiring))
    except FileNotFoundError as error:
        raise SpawnError(f"`{command.argv[0]}`: not found", NOT_FOUND) from error
    except PermissionError as error:
        raise SpawnError(f"`{command.argv[0]}`: access denied", NOT_EXECUTABLE) from error
    except (OSError, ValueError) as error:
        raise SpawnError(f"the child cannot be started: {error}") from error


def _console(command: Command, size: Size) -> Any:
    import winpty  # type: ignore[import-not-found]  # noqa: PLC0415  on Windows only

    return winpty.PtyProcess.spawn(
        list(command.argv), cwd=command.cwd, env=dict(command.env), dimensions=(size.rows, size.columns)
    )


def _popen(command: Command, wiring: Wiring) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  the CLI of a launch plan
        list(command.argv),
        cwd=command.cwd,
        env=dict(command.env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if wiring.stderr == "pty" else subprocess.PIPE,
        bufsize=0,
        creationflags=_NEW_GROUP if os.name == "nt" else 0,
    )


class _Piped:
    """A child behind pipes."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        self._job = Job(child.pid)
        self._known = processes.known(child.pid)
        self._stdin = Writer(_descriptor(child.stdin))
        self._stdout = Reader(_descriptor(child.stdout))
        self._stderr = None if child.stderr is None else Reader(_descriptor(child.stderr))

    @property
    def known(self) -> Known:
        return self._known

    @property
    def stdout(self) -> Reader:
        return self._stdout

    @property
    def stderr(self) -> Reader | None:
        return self._stderr

    def write(self, data: bytes) -> None:
        self._stdin.write(data)

    def close_stdin(self) -> bool:
        return self._stdin.close()

    def wait(self) -> Exit:
        return Exit(code=self._child.wait())

    def ended(self) -> Exit | None:
        code = self._child.poll()
        return None if code is None else Exit(code=code)

    def terminate(self) -> None:
        """Ctrl-Break is all that can be asked of a group."""
        with contextlib.suppress(OSError):
            self._child.send_signal(getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM))

    def kill(self) -> None:
        self._job.end()

    def resize(self, size: Size) -> None:
        """A pipe has no size."""

    def release(self) -> None:
        self._stdin.close()
        self._child.wait()
        self._stdout.leave()
        if self._stderr is not None:
            self._stderr.leave()
        self._job.close()


def _descriptor(stream: Any) -> int:
    """The descriptor of a pipe, ours alone from now on."""
    copy = os.dup(stream.fileno())
    stream.close()
    return copy


class _Screen:
    """A child behind a pseudo console."""

    def __init__(self, child: Any) -> None:
        self._child = child
        self._job = Job(child.pid)
        self._known = processes.known(child.pid)

    @property
    def known(self) -> Known:
        return self._known

    @property
    def stdout(self) -> _Screen:
        return self

    @property
    def stderr(self) -> None:
        return None

    def read(self) -> bytes:
        try:
            return str(self._child.read()).encode("utf-8", "replace")
        except EOFError:
            return b""

    def write(self, data: bytes) -> None:
        with contextlib.suppress(OSError, EOFError):
            self._child.write(data.decode("utf-8", "replace"))

    def close_stdin(self) -> bool:
        """A terminal has no end but the one that somebody types."""
        return False

    def wait(self) -> Exit:
        while (ended := self.ended()) is None:
            time.sleep(_POLL)
        return ended

    def ended(self) -> Exit | None:
        return None if self._child.isalive() else Exit(code=self._child.exitstatus)

    def terminate(self) -> None:
        with contextlib.suppress(OSError):
            self._child.terminate()

    def kill(self) -> None:
        self._job.end()

    def resize(self, size: Size) -> None:
        self._child.setwinsize(size.rows, size.columns)

    def release(self) -> None:
        self._job.end()
        with contextlib.suppress(OSError):
            self._child.close()
        self._job.close()
