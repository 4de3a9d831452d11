"""Our own terminal while it is a CLI's screen: every key goes through, every byte comes back, its size is followed."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from typing import TYPE_CHECKING

from agentmux_launcher.pty import size_here
from agentmux_launcher.pty.streams import CHUNK, write_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentmux_launcher.pty import Size

END_OF_INPUT = b"\x04"


class Here:
    """The terminal that this process has, as a `with` block in which it is raw."""

    def __init__(self, reads: int = 0, writes: int = 1) -> None:
        self._reads = reads
        self._writes = writes

    @property
    def size(self) -> Size:
        return size_here(self._writes)

    def write(self, data: bytes) -> None:
        write_all(self._writes, data)

    @contextlib.contextmanager
    def raw(self, keys: Callable[[bytes], object], resized: Callable[[], object]) -> Iterator[None]:
        """Give every key to `keys`, and say when the size has changed."""
        with _modes(self._reads), _size_changes(resized), _listening(self._reads, keys):
            yield


@contextlib.contextmanager
def _modes(descriptor: int) -> Iterator[None]:
    """Raw, and as it was afterwards, however the block ends."""
    if sys.platform == "win32" or not os.isatty(descriptor):
        yield
        return
    import termios  # noqa: PLC0415  not on Windows
    import tty  # noqa: PLC0415

    before = termios.tcgetattr(descriptor)
    try:
        tty.setraw(descriptor, termios.TCSANOW)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _size_changes(resized: Callable[[], object]) -> Iterator[None]:
    if not hasattr(signal, "SIGWINCH"):
        yield
        return
    before = signal.signal(signal.SIGWINCH, lambda *_: resized())
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)


@contextlib.contextmanager
def _listening(descriptor: int, keys: Callable[[bytes], object]) -> Iterator[None]:
    """A thread that reads keys until the block ends, and takes none that comes later."""
    ended, end = os.pipe()
    thread = threading.Thread(target=_listen, args=(descriptor, ended, keys), daemon=True, name="keys")
    thread.start()
    try:
        yield
    finally:
        os.close(end)
        if sys.platform != "win32":
            thread.join()
            os.close(ended)


def _listen(descriptor: int, ended: int, keys: Callable[[bytes], object]) -> None:
    with contextlib.suppress(OSError):
        while True:
            if sys.platform != "win32" and ended in select.select([descriptor, ended], [], [])[0]:
                return
            data = os.read(descriptor, CHUNK)
            keys(data or END_OF_INPUT)
            if not data:
                return
