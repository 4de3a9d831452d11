"""Start a child with the streams its CLI wants, behind one small protocol; POSIX and Windows each know how."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Protocol

from agentmux_launcher.pty.values import Command, Exit, Size, SpawnError, Wiring

if TYPE_CHECKING:
    from agentmux_launcher.processes import Known

__all__ = ["Command", "Exit", "Process", "Size", "Source", "SpawnError", "Wiring", "size_here", "spawn"]


class Source(Protocol):
    """The reading side of a stream of the child's."""

    def read(self) -> bytes:
        """What is there; waits for something. Empty at the end."""
        ...


class Process(Protocol):
    """A child, which heads a process group of its own."""

    @property
    def known(self) -> Known: ...

    @property
    def stdout(self) -> Source: ...

    @property
    def stderr(self) -> Source | None:
        """None where the child's errors come with its output."""
        ...

    def write(self, data: bytes) -> None:
        """Put data on the child's stdin; never waits for the child to read it."""
        ...

    def close_stdin(self) -> bool:
        """End the child's stdin behind what was written; whether it was open."""
        ...

    def wait(self) -> Exit:
        """Wait for the end of the child; until `release`, its number is nobody else's."""
        ...

    def ended(self) -> Exit | None:
        """How the child ended, None while it runs."""
        ...

    def terminate(self) -> None:
        """Ask the child's process group to end."""
        ...

    def kill(self) -> None:
        """End the child's process group."""
        ...

    def resize(self, size: Size) -> None: ...

    def release(self) -> None:
        """Close what is open; nothing may be asked of the child afterwards."""
        ...


def spawn(command: Command, wiring: Wiring, size: Size) -> Process:
    """Start a child.

    Only ever from a thread that lives as long as the child may: on Linux the child ends with it.

    Raises:
        SpawnError: there is no such executable, or no such folder, or the system refuses.
    """
    if sys.platform == "win32":
        from agentmux_launcher.pty import windows  # noqa: PLC0415  each system has its own

        return windows.spawn(command, wiring, size)
    from agentmux_launcher.pty import posix  # noqa: PLC0415

    return posix.spawn(command, wiring, size)


def size_here(descriptor: int) -> Size:
    """The size of the terminal at a descriptor, else the size that every CLI gets without one."""
    try:
        columns, rows = os.get_terminal_size(descriptor)
    except OSError:
        return Size()
    return Size(rows or Size().rows, columns or Size().columns)
