"""The piece of a file that is new since it was last looked at."""

from __future__ import annotations

import copy
import hashlib
import json
import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from agentmux_usage.readers import reader
from agentmux_usage.readers.base import NO_END, UNREADABLE, parsed
from agentmux_usage.readers.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agentmux_usage.readers.base import Reader
    from agentmux_usage.response import Response
    from agentmux_usage.sources import Source

_EDGE = 4096


@dataclass(frozen=True, slots=True)
class Seen:
    """How a file stood when it was read up to `offset`, from where `reader` goes on with its `state`.

    `digest` is of the first bytes and of those before `offset`. `notes` counts what was left out, by kind.
    """

    reader: str = ""
    size: int = -1
    mtime_ns: int = -1
    offset: int = 0
    digest: str = ""
    state: str = "{}"
    notes: str = "{}"

    def holds(self, path: Path, source: Source) -> bool:
        """Whether nothing has changed, as far as the file's size and time say."""
        try:
            stat = path.stat()
        except OSError:
            return False
        return (self.reader, self.size, self.mtime_ns) == (source.reader, stat.st_size, stat.st_mtime_ns)


class Piece:
    """What of a file has to be read: all of it, where it did not only grow (`anew`)."""

    def __init__(self, path: Path, source: Source, before: Seen) -> None:
        self.anew = not _only_grew(path, source, before)
        self.seen = Seen(source.reader) if self.anew else before
        self._path = path
        self._source = source

    def responses(self) -> Iterator[Response]:
        """To the end of the file as it is now; then `seen` says how it stood."""
        try:
            if reader(self._source.reader).whole_file:
                yield from self._whole()
            else:
                yield from self._lines()
        except OSError:
            self.seen = Seen(self._source.reader, notes=json.dumps({UNREADABLE: 1}))

    def _lines(self) -> Iterator[Response]:
        with self._path.open("rb", buffering=0) as file:
            stat = os.fstat(file.fileno())
            notes = Counter(json.loads(self.seen.notes))
            notes.pop(NO_END, None)
            reading = self._reader(notes)
            lines = Lines(file, reading.wants, self.seen.offset, notes=notes)
            for line in lines:
                yield from reading.line(line)
            state = json.dumps(reading.state, sort_keys=True)
            yield from _tail(reading, lines.tail)
            yield from reading.finish()
            digest = _digest(file, lines.offset)
        told = json.dumps(notes, sort_keys=True)
        self.seen = Seen(
            self._source.reader, stat.st_size, stat.st_mtime_ns, lines.offset, digest, state=state, notes=told
        )

    def _whole(self) -> Iterator[Response]:
        stat = self._path.stat()
        notes: Counter[str] = Counter()
        yield from self._reader(notes).file(self._path)
        self.seen = Seen(self._source.reader, stat.st_size, stat.st_mtime_ns, notes=json.dumps(notes, sort_keys=True))

    def _reader(self, notes: Counter[str]) -> Reader:
        return reader(self._source.reader)(self._source.convention, notes, json.loads(self.seen.state))


def _tail(reading: Reader, tail: bytes) -> Iterator[Response]:
    """What the last line says that has no end: it counts if it is whole, and is read again all the same."""
    if not tail.strip():
        return
    if parsed(tail) is None:
        reading.notes[NO_END] += 1
    elif reading.wants(tail):
        reading.state = copy.deepcopy(reading.state)
        yield from reading.line(tail)


def _only_grew(path: Path, source: Source, before: Seen) -> bool:
    """Whether there is more behind what was read; what has its old size and a new time may be edited anywhere."""
    if before.reader != source.reader or reader(before.reader).whole_file:
        return False
    try:
        with path.open("rb", buffering=0) as file:
            return file.seek(0, os.SEEK_END) > before.size and _digest(file, before.offset) == before.digest
    except OSError:
        return False


def _digest(file: BinaryIO, offset: int) -> str:
    """A digest of the first bytes before `offset`, and of the last."""
    file.seek(0)
    first = file.read(min(_EDGE, offset))
    file.seek(max(0, offset - _EDGE))
    last = file.read(min(_EDGE, offset))
    return hashlib.sha256(first + last).hexdigest()
