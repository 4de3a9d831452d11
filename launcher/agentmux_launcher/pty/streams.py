"""Our ends of a child's streams on POSIX: reading that never takes another's descriptor, writing that never waits."""

from __future__ import annotations

import contextlib
import os
import queue
import threading

CHUNK = 1 << 16


class Reader:
    """The reading side of a pipe or a PTY.

    It closes itself at the end. Left before that, it is closed by whoever waits in `read`, and not under their feet:
    the descriptor's number may be another stream's by then.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._open = True
        self._reading = False
        self._left = False

    def read(self) -> bytes:
        """What is there; waits for something. Empty at the end, and once it was left."""
        with self._lock:
            if not self._open or self._left:
                return b""
            self._reading = True
        try:
            data = os.read(self._descriptor, CHUNK)
        except OSError:  # how a PTY ends on Linux
            data = b""
        with self._lock:
            self._reading = False
            if not data or self._left:
                self._close()
        return data

    def leave(self) -> None:
        with self._lock:
            self._left = True
            if not self._reading:
                self._close()

    def _close(self) -> None:
        if self._open:
            self._open = False
            os.close(self._descriptor)


class Writer:
    """The writing side of the child's stdin. A thread writes, so that a child which does not read holds nobody up."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._open = True
        threading.Thread(target=self._work, daemon=True, name="stdin").start()

    def write(self, data: bytes) -> None:
        if self._open:
            self._queue.put(data)

    def close(self) -> bool:
        """End the stream behind what was written; whether it was open."""
        was_open, self._open = self._open, False
        if was_open:
            self._queue.put(None)
        return was_open

    def _work(self) -> None:
        reads = True
        while (data := self._queue.get()) is not None:
            reads = reads and write_all(self._descriptor, data)
        os.close(self._descriptor)


def write_all(descriptor: int, data: bytes) -> bool:
    """Write it all; whether somebody still reads."""
    view = memoryview(data)
    with contextlib.suppress(OSError):
        while view:
            view = view[os.write(descriptor, view) :]
    return not view
