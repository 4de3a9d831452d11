"""The index: what was read of each file, so that only what is new is read again. It changes no figure."""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from agentmux_usage.copies import Copies
from agentmux_usage.index_tables import COLUMNS, connect, response_of, writing
from agentmux_usage.pieces import Piece, Seen
from agentmux_usage.readers.base import UNREADABLE
from agentmux_usage.response import Session
from agentmux_usage.sources import files_of
from agentmux_usage.turns import placed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

    from agentmux_usage.sources import Source

# So much is read before others get their turn.
_PORTION = 256 << 20


@dataclass(frozen=True, slots=True)
class Head:
    """A session without its responses; `totals` are how many they are and their tokens, in the order of `Tokens`.

    What is not known of a response counts for nothing in `totals`.
    """

    provider: str
    session_id: str
    began: float
    ended: float
    totals: tuple[int, ...]


class Index:
    """What the files of some sources say, as a `with` block. Any number of processes may use one at once.

    Raises:
        sqlite3.Error, OSError: it cannot be written.
    """

    def __init__(self, path: Path | None) -> None:
        self._connection = connect(path)
        self._copies = Copies(self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def update(self, sources: Iterable[Source]) -> None:
        """Read what is new in the files of `sources`, and forget all other files."""
        found = {os.fsencode(path): (path, source) for source in sources for path in files_of(source)}
        known = self._known()
        gone = [path for path in known if path not in found]
        new = [path for path, (place, source) in found.items() if not _holds(known.get(path), place, source)]
        for portion in _portions(found[path] for path in new):
            with writing(self._connection):
                for place, source in portion:
                    self._read(place, source)
                self._copies.settle()
        if gone:
            with writing(self._connection):
                for path in gone:
                    self._forget(path)
                self._copies.settle()

    def notes(self) -> Counter[str]:
        """How much was left out, by kind."""
        notes: Counter[str] = Counter()
        for (told,) in self._connection.execute("SELECT notes FROM files WHERE notes <> '{}'"):
            notes.update(json.loads(told))
        return notes

    def unreadable(self) -> str | None:
        """The first file that could not be read."""
        known = self._connection.execute("SELECT path, notes FROM files WHERE notes <> '{}' ORDER BY path")
        return next((os.fsdecode(path) for path, told in known if UNREADABLE in json.loads(told)), None)

    def heads(self) -> list[Head]:
        """The sessions in the order of their beginning."""
        return [head for head, _ in self._heads()]

    def sessions(self, since: float | None = None, until: float | None = None) -> Iterator[Session]:
        """Each session that has a response in a time, whole, in the order of their beginning."""
        chosen = [
            (head, strands)
            for head, strands in self._heads()
            if (since is None or head.ended >= since) and (until is None or head.began < until)
        ]
        numbers = [(strand, number) for number, (_, strands) in enumerate(chosen) for strand in strands]
        self._connection.execute("CREATE TEMP TABLE IF NOT EXISTS chosen (strand INTEGER PRIMARY KEY, number INTEGER)")
        self._connection.execute("DELETE FROM chosen")
        self._connection.executemany("INSERT INTO chosen VALUES (?, ?)", numbers)
        facts, paths = self._strands(), self._paths()
        rows = self._connection.execute(_CHOSEN)
        for number, group in itertools.groupby(rows, key=lambda row: int(row[-1])):
            head = chosen[number][0]
            responses = [response_of(row, facts[row[3]], paths.get(row[2])) for row in group]
            yield Session(head.provider, head.session_id, placed(responses))

    def _heads(self) -> list[tuple[Head, list[int]]]:
        facts = self._strands()
        found: dict[tuple[str, str], tuple[Head, list[int]]] = {}
        for strand, began, ended, *totals in self._connection.execute("SELECT * FROM heads"):
            name = (facts[strand][0], facts[strand][1])
            head, strands = found.get(name, (Head(*name, began, ended, (0,) * len(totals)), []))
            summed = tuple(one + two for one, two in zip(head.totals, totals, strict=True))
            head = Head(*name, min(began, head.began), max(ended, head.ended), summed)
            found[name] = (head, [*strands, strand] if strand not in strands else strands)
        return sorted(found.values(), key=lambda each: (each[0].began, each[0].provider, each[0].session_id))

    def _read(self, path: Path, source: Source) -> None:
        name = os.fsencode(path)
        before = self._seen(name)
        if before.holds(path, source):
            return  # another process has read it meanwhile
        piece = Piece(path, source, before)
        file = self._file(name)
        if piece.anew:
            self._copies.forget(file)
        self._copies.add(file, piece.responses())
        seen = piece.seen
        self._connection.execute(
            "UPDATE files SET reader = ?, size = ?, mtime_ns = ?, offset = ?, digest = ?, state = ?, notes = ?"
            " WHERE id = ?",
            (seen.reader, seen.size, seen.mtime_ns, seen.offset, seen.digest, seen.state, seen.notes, file),
        )

    def _file(self, name: bytes) -> int:
        self._connection.execute("INSERT OR IGNORE INTO files VALUES (NULL, ?, '', -1, -1, 0, '', '{}', '{}')", (name,))
        return int(self._connection.execute("SELECT id FROM files WHERE path = ?", (name,)).fetchone()[0])

    def _forget(self, name: bytes) -> None:
        self._copies.forget(self._file(name))
        self._connection.execute("DELETE FROM files WHERE path = ?", (name,))

    def _seen(self, name: bytes) -> Seen:
        row = self._connection.execute("SELECT * FROM files WHERE path = ?", (name,)).fetchone()
        return Seen(*row[2:]) if row else Seen()

    def _known(self) -> dict[bytes, Seen]:
        return {path: Seen(*rest) for _, path, *rest in self._connection.execute("SELECT * FROM files")}

    def _strands(self) -> Mapping[int, list[Any]]:
        return {strand: json.loads(facts) for strand, facts in self._connection.execute("SELECT * FROM strands")}

    def _paths(self) -> Mapping[int, str]:
        return {file: os.fsdecode(path) for file, path in self._connection.execute("SELECT id, path FROM files")}


_CHOSEN = f"""
SELECT {COLUMNS}, number FROM responses JOIN chosen USING (strand)
ORDER BY number, time, message, request"""  # noqa: S608


def _holds(known: Seen | None, path: Path, source: Source) -> bool:
    return known is not None and known.holds(path, source)


def _portions(files: Iterable[tuple[Path, Source]]) -> Iterator[list[tuple[Path, Source]]]:
    portion: list[tuple[Path, Source]] = []
    size = 0
    for path, source in files:
        portion.append((path, source))
        size += _size(path)
        if size > _PORTION:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
