"""Whoever sits at the terminal, however the streams of the command are redirected."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
from typing import TYPE_CHECKING

from agentmux_launcher.pty.streams import write_all
from agentmux_launcher.supervise import Typed

if TYPE_CHECKING:
    from agentmux_launcher.supervise import Inbox

_LONGEST = 1 << 16
_PASTED = 0.02  # seconds in which the next line of what is pasted comes


class Person:
    """A terminal to ask at. Nobody is listened to before the first question."""

    def __init__(self, reads: int, writes: int) -> None:
        self._reads = reads
        self._writes = writes
        self._listening = False
        self._silenced = False

    def say(self, text: str) -> None:
        write_all(self._writes, text.encode("utf-8", "backslashreplace"))

    def ask(self, text: str) -> str:
        """Put a question and wait for a line; empty where the terminal is gone. Only before somebody listens."""
        self.say(text)
        try:
            data = os.read(self._reads, _LONGEST)
        except OSError:
            return ""
        return data.decode("utf-8", "replace").strip()

    def listen(self, inbox: Inbox) -> None:
        """Have every line they type from now on put into an inbox."""
        if not self._listening:
            self._listening = True
            threading.Thread(target=self._hear, args=(inbox,), daemon=True, name="person").start()

    def echo(self, *, on: bool) -> None:
        """Whether the terminal shows what they type. Their lines come either way."""
        if self._silenced == on and _set_echo(self._reads, on=on):
            self._silenced = not on

    def forget(self) -> None:
        """Drop what they typed and nobody read: it answers no question that they had not seen."""
        if sys.platform != "win32":
            import termios  # noqa: PLC0415  not on every system

            with contextlib.suppress(OSError, termios.error):
                termios.tcflush(self._reads, termios.TCIFLUSH)

    def _hear(self, inbox: Inbox) -> None:
        """Line by line as the terminal gives them; no buffer of Python's, whose lock would outlive the program.

        Lines that come at once were pasted, and are one.
        """
        said = b""
        with contextlib.suppress(OSError):
            while data := os.read(self._reads, _LONGEST):
                said += data
                if said.endswith(b"\n") and not _more(self._reads):
                    inbox.put(Typed(_lines(said)))
                    said = b""
        if said:
            inbox.put(Typed(_lines(said)))
        inbox.put(Typed(None))


def _more(terminal: int) -> bool:
    """Whether another line waits: a terminal gives one at a time."""
    return sys.platform != "win32" and bool(select.select([terminal], [], [], _PASTED)[0])


def _lines(said: bytes) -> str:
    text = said.decode("utf-8", "replace").replace("\r\n", "\n")
    return text.removesuffix("\n")


def _set_echo(terminal: int, *, on: bool) -> bool:
    """Whether it could be done; where another program has the terminal, it is not ours to change."""
    if sys.platform == "win32":
        return False
    import termios  # noqa: PLC0415  not on every system

    with contextlib.suppress(OSError, termios.error):
        if os.tcgetpgrp(terminal) != os.getpgrp():
            return False
        mode = termios.tcgetattr(terminal)
        mode[3] = mode[3] | termios.ECHO if on else mode[3] & ~termios.ECHO
        termios.tcsetattr(terminal, termios.TCSANOW, mode)
        return True
    return False


def somebody() -> Person | None:
    """The person at our terminal; None where there is no terminal, or it is another program's at the moment."""
    try:
        if sys.platform == "win32":
            return Person(os.open("CONIN$", os.O_RDWR), os.open("CONOUT$", os.O_RDWR))
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        if os.tcgetpgrp(terminal) == os.getpgrp():
            return Person(terminal, terminal)
    os.close(terminal)
    return None
