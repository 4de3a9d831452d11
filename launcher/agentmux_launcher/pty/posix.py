"""Children on POSIX: a session of their own, a raw PTY that is its terminal, and an end when ours comes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import termios
import threading
import tty
from typing import TYPE_CHECKING, Any, Self

from agentmux_launcher.pty import child
from agentmux_launcher.pty.life import Life
from agentmux_launcher.pty.streams import Reader, Writer
from agentmux_launcher.pty.values import NOT_EXECUTABLE, NOT_FOUND, Command, Size, SpawnError, Wiring

if TYPE_CHECKING:
    from agentmux_launcher.pty import Process


def spawn(command: Command, wiring: Wiring, size: Size) -> Process:
    """See `pty.spawn`."""
    if wiring.terminal:
        from agentmux_launcher.pty import posix_terminal  # noqa: PLC0415  what it imports is for terminals only

        return posix_terminal.spawn(command, size)
    with _Ends(wiring, size) as ends:
        return _Child(_started(command, ends, controlling=wiring.stdout != "pipe"), ends)


def set_size(descriptor: int, size: Size) -> None:
    termios.tcsetwinsize(descriptor, (size.rows, size.columns))


def wrapped(command: Command, report: int, *, controlling: bool) -> list[str]:
    """The command as `child.py` runs it."""
    locale = f"={command.env['LC_CTYPE']}" if "LC_CTYPE" in command.env else ""
    told = [str(report), str(os.getpid()), "1" if controlling else "0", locale, command.cwd]
    return [sys.executable, "-I", "-S", child.__file__, *told, *command.argv]


def failure(command: Command, reported: str) -> SpawnError:
    """What `child.py` reported, in words."""
    stage, _, number = reported.partition(" ")
    reason = os.strerror(int(number)).lower()
    if stage == "executable":
        missing = int(number) in {errno.ENOENT, errno.ENOTDIR}
        return SpawnError(f"`{command.argv[0]}`: {reason}", NOT_FOUND if missing else NOT_EXECUTABLE)
    where = f"`{command.cwd}`" if stage == "folder" else "the child's terminal"
    return SpawnError(f"{where}: {reason}")


class _Ends:
    """Both ends of every stream until each has its owner; what fails on the way leaves none open."""

    def __init__(self, wiring: Wiring, size: Size) -> None:
        self._open: list[int] = []
        self.stdin, self.to_stdin = self._pipe()
        self.from_stdout, self.stdout = self._pipe() if wiring.stdout == "pipe" else self._terminal(size)
        self.from_stderr: int | None = None
        self.stderr = self.stdout
        if wiring.stderr == "pipe":
            self.from_stderr, self.stderr = self._pipe()
        self.reported, self.report = self._pipe()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._open:
            os.close(descriptor)

    def keep(self, descriptor: int) -> int:
        """An end that is its reader's or writer's from now on."""
        self._open.remove(descriptor)
        return descriptor

    def given(self) -> None:
        """The child has its own copies."""
        for descriptor in {self.stdin, self.stdout, self.stderr, self.report} & {*self._open}:
            os.close(self.keep(descriptor))

    def _pipe(self) -> tuple[int, int]:
        pair = os.pipe()
        self._open += pair
        return pair

    def _terminal(self, size: Size) -> tuple[int, int]:
        pair = os.openpty()
        self._open += pair
        tty.setraw(pair[1])
        set_size(pair[1], size)
        return pair


def _started(command: Command, ends: _Ends, *, controlling: bool) -> subprocess.Popen[bytes]:
    """The child, as fast as is safe: nothing of ours may run between `fork` and `exec` once there are threads."""
    alone = threading.active_count() == 1
    try:
        return (_forked if alone else _by_program)(command, ends, controlling=controlling)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise SpawnError(f"the child cannot be started: {error}") from error


def _forked(command: Command, ends: _Ends, *, controlling: bool) -> subprocess.Popen[bytes]:
    prepare = child.preparation(os.getpid(), terminal=controlling)
    try:
        return _popen(list(command.argv), command, ends, cwd=command.cwd, preexec_fn=prepare)
    except OSError as error:
        stage = "folder" if error.filename == command.cwd else "executable"
        raise failure(command, f"{stage} {error.errno}") from error


def _by_program(command: Command, ends: _Ends, *, controlling: bool) -> subprocess.Popen[bytes]:
    argv = wrapped(command, ends.report, controlling=controlling)
    started = _popen(argv, command, ends, pass_fds=[ends.report])
    ends.given()
    if reported := os.read(ends.reported, 100).decode():
        started.wait()
        raise failure(command, reported)
    return started


def _popen(argv: list[str], command: Command, ends: _Ends, **more: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  the CLI of a launch plan
        argv,
        env=dict(command.env),
        stdin=ends.stdin,
        stdout=ends.stdout,
        stderr=ends.stderr,
        start_new_session=True,
        **more,
    )


class _Child(Life):
    """A child behind pipes, or behind a raw PTY for what it says."""

    def __init__(self, started: subprocess.Popen[bytes], ends: _Ends) -> None:
        super().__init__(started.pid, started.wait)
        ends.given()
        self._terminal = os.dup(ends.from_stdout) if os.isatty(ends.from_stdout) else None
        self._stdin = Writer(ends.keep(ends.to_stdin))
        self._stdout = Reader(ends.keep(ends.from_stdout))
        self._stderr = None if ends.from_stderr is None else Reader(ends.keep(ends.from_stderr))

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

    def resize(self, size: Size) -> None:
        if self._terminal is not None:
            set_size(self._terminal, size)

    def release(self) -> None:
        self._stdin.close()
        self.take()
        for reader in filter(None, (self._stdout, self._stderr)):
            reader.leave()
        if self._terminal is not None:
            os.close(self._terminal)
            self._terminal = None
