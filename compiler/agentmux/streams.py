"""Standard output and error: UTF-8 with LF on every system, colour decided once for each."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T", str, bytes)


@dataclass(slots=True)
class Stream:
    """Where text goes. Once its reader has gone (`| head`), it swallows the rest: the exit code still counts.

    It swallows the rest, too, once it took no more (a full disk), and then `failed` says why.
    """

    file: TextIO
    color: bool = False
    vital: bool = True
    closed: bool = field(default=False, init=False)
    failed: OSError | None = field(default=None, init=False)

    def write(self, text: str) -> None:
        """Put text out.

        Raises:
            OSError: the stream takes no more; said once, and only where what it takes are results.
        """
        if text:
            self._put(self.file, text)

    def write_bytes(self, data: bytes) -> None:
        """Bytes as they are, where the stream takes any; raises as `write`."""
        buffer = getattr(self.file, "buffer", None)
        if buffer is None:
            self.write(data.decode("utf-8", "replace"))
        elif data:
            self._put(buffer, data)

    def _put(self, file: IO[T], data: T) -> None:
        if self.closed:
            return
        try:
            file.write(data)
            file.flush()
        except BrokenPipeError:
            self._close()
        except OSError as error:
            self._close()
            self.failed = error
            if self.vital:
                raise

    def _close(self) -> None:
        self.closed = True
        _discard(self.file)

    def line(self, text: str) -> None:
        self.write(text + "\n")


@dataclass(frozen=True, slots=True)
class Streams:
    """Results go to `out`, messages about the run to `err`."""

    out: Stream
    err: Stream


def standard(color: str = "auto", environ: Mapping[str, str] | None = None) -> Streams:
    """The process's own streams; `color` is what `--color` said: auto, always or never."""
    variables = os.environ if environ is None else environ
    out, err = _utf8(_opened(sys.stdout)), _utf8(_opened(sys.stderr))
    return Streams(
        Stream(out, wants_color(out, color, variables)), Stream(err, wants_color(err, color, variables), vital=False)
    )


def wants_color(file: TextIO, color: str, environ: Mapping[str, str]) -> bool:
    """`--color` before NO_COLOR before FORCE_COLOR before whether it is a terminal that can."""
    if color != "auto":
        return color == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return environ["FORCE_COLOR"] != "0"
    return file.isatty() and environ.get("TERM") != "dumb"


def _opened(file: TextIO | None) -> TextIO:
    """The stream, or nowhere for one that was closed before the start (`>&-`): the exit code still counts."""
    return file if file is not None else Path(os.devnull).open("w", encoding="utf-8")


def _utf8(file: TextIO) -> TextIO:
    """Whatever the locale and the system: the same bytes. A lone surrogate is written as an escape."""
    if isinstance(file, io.TextIOWrapper):
        file.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    return file


def _discard(file: TextIO) -> None:
    """Point the descriptor at nothing, else the interpreter complains when it flushes at its end."""
    try:
        descriptor = file.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
