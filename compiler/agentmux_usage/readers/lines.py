"""The lines of a transcript that matter, whatever its size: the others are never decoded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from agentmux_usage.readers.base import NO_END, NOT_JSON, TOO_LONG

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 1 << 20
# A response is far smaller: no model says more than 512 KiB at once. What is longer is a snapshot of files, say.
LONGEST = 8 << 20
# What may stand around an object: white space, a byte order mark, zeros of a disk that lost its power.
_AROUND = b" \t\r\0\xef\xbb\xbf"


@dataclass(slots=True)
class Lines:
    """The whole lines behind `offset` that somebody `wants`; `tail` is what stands behind the last one.

    `offset` moves on with them. A line that has no end yet may get one: it stays behind `offset`, so that it is read
    again. `notes` counts what was left out, by kind.
    """

    file: BinaryIO
    wants: Callable[[bytes], bool]
    offset: int = 0
    tail: bytes = b""
    notes: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[bytes]:
        self.file.seek(self.offset)
        rest = b""
        while chunk := self.file.read(BLOCK):
            end = chunk.rfind(b"\n")
            if end < 0:
                rest = rest + chunk
                if len(rest) > LONGEST:
                    rest = self._skip(len(rest))
                continue
            block, rest = rest + chunk[: end + 1], chunk[end + 1 :]
            whole = len(block)
            yield from self._found(self._without_long(block))
            self.offset += whole
        self.tail = rest

    def _without_long(self, block: bytes) -> bytes:
        """Only the first line of a block can be long: the others are within what was read at once."""
        end = block.find(b"\n")
        if end <= LONGEST:
            return block
        self.notes[TOO_LONG] += 1
        return block[end + 1 :]

    def _found(self, block: bytes) -> Iterator[bytes]:
        wants = self.wants
        for line in block.split(b"\n"):
            if line[:1] == b"{" and line[-1:] == b"}":
                if wants(line):
                    yield line
            elif line.strip(b" \t\r"):
                bare = line.strip(_AROUND)
                if not (bare[:1] == b"{" and bare[-1:] == b"}"):
                    self.notes[NOT_JSON] += 1
                elif wants(bare):
                    yield bare

    def _skip(self, length: int) -> bytes:
        """Pass over a line that is too long, of which `length` bytes were read; gives what was read behind its end."""
        begin = self.offset
        self.offset += length
        while chunk := self.file.read(BLOCK):
            end = chunk.find(b"\n")
            if end >= 0:
                self.notes[TOO_LONG] += 1
                self.offset += end + 1
                # What follows is read once more, so that its lines begin a block.
                self.file.seek(self.offset)
                return b""
            self.offset += len(chunk)
        self.offset = begin
        self.notes[NO_END] += 1
        return b""
