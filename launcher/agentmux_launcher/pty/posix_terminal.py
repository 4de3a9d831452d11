"""A CLI with a screen of its own, on POSIX: one PTY for all its streams, as its controlling terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ptyprocess import PtyProcess  # type: ignore[import-untyped]

from agentmux_launcher.pty.life import Life
from agentmux_launcher.pty.posix import failure, set_size, wrapped
from agentmux_launcher.pty.streams import Reader, Writer
from agentmux_launcher.pty.values import Command, Size, SpawnError

if TYPE_CHECKING:
    from agentmux_launcher.pty import Process


def spawn(command: Command, size: Size) -> Process:
    """See `pty.spawn`. To be called before there are threads: the library forks."""
    reported, report = os.pipe()
    os.set_inheritable(report, True)
    try:
        argv = wrapped(command, report, controlling=False)
        child = PtyProcess.spawn(argv, env=dict(command.env), dimensions=(size.rows, size.columns), pass_fds=(report,))
    except (OSError, ValueError) as error:
        os.close(reported)
        raise SpawnError(f"the child cannot be started: {error}") from error
    finally:
        os.close(report)
    with os.fdopen(reported, "rb") as file:
        words = file.read().decode()
    if words:
        child.close()
        raise failure(command, words)
    return _Screen(child)


class _Screen(Life):
    """A child behind a PTY for all its streams."""

    def __init__(self, child: PtyProcess) -> None:
        super().__init__(child.pid, lambda: os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1]))
        self._terminal = os.dup(child.fd)
        self._stdin = Writer(os.dup(child.fd))
        self._stdout = Reader(os.dup(child.fd))
        # Else the library would, late and with a pause, look after a child that is ours.
        child.fileobj.close()
        child.closed = True

    @property
    def stdout(self) -> Reader:
        return self._stdout

    @property
    def stderr(self) -> None:
        return None

    def write(self, data: bytes) -> None:
        self._stdin.write(data)

    def close_stdin(self) -> bool:
        """A terminal has no end but the one that somebody types."""
        return False

    def resize(self, size: Size) -> None:
        set_size(self._terminal, size)

    def release(self) -> None:
        self._stdin.close()
        self.take()
        self._stdout.leave()
        os.close(self._terminal)
