"""The index's copies of responses, by file, and what they come to: each response once."""

from __future__ import annotations

import itertools
import json
import os
from typing import TYPE_CHECKING, Any

from agentmux_usage.counting import again, distinct
from agentmux_usage.index_tables import COLUMNS, TOKENS, facts_of, response_of, row_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from agentmux_usage.response import Response

# The lines of a response stand close together: so many are gathered before they are written, and so many are kept back.
_GATHERED, _KEPT = 1024, 64
_PLACES = ", ".join("?" * len(COLUMNS.split(",")))
# The words of these are all ours.
_INSERT = f"INSERT OR IGNORE INTO {{}} ({COLUMNS}) VALUES ({_PLACES})"  # noqa: S608
_ONE = f"SELECT {COLUMNS} FROM copies WHERE message = ? AND request = ? AND file = ?"  # noqa: S608
_SEVERAL = f"""
SELECT {COLUMNS}, facts, path FROM copies JOIN strands ON strands.id = strand JOIN files ON files.id = file
WHERE message IN several ORDER BY message"""  # noqa: S608
# `sum` gives up where garbage adds up to more than it can hold.
_TOTALS = ", ".join(f"CAST(total({name}) AS INTEGER)" for name in TOKENS)
_HEADS = [
    f"INSERT INTO heads SELECT strand, min(time), max(time), count(*), {_TOTALS} FROM {source} GROUP BY strand"  # noqa: S608
    for source in ("copies WHERE alone", "joined")
]


class Copies:
    """Within a transaction: `add` and `forget` files, then `settle`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._strands: dict[tuple[Any, ...], int] = {}
        connection.execute("CREATE TEMP TABLE changed (message TEXT PRIMARY KEY) WITHOUT ROWID")
        connection.execute("CREATE TEMP TABLE several (message TEXT PRIMARY KEY) WITHOUT ROWID")

    def add(self, file: int, responses: Iterable[Response]) -> None:
        """What a file says; it may have said something of the same responses before."""
        gathered: dict[tuple[str | None, str | None], Response] = {}
        for response in responses:
            name = (response.message_id, response.request_id)
            gathered[name] = again(gathered[name], response) if name in gathered else response
            if len(gathered) > _GATHERED:
                names = list(gathered)[:-_KEPT]
                self._write(file, [gathered.pop(each) for each in names])
        self._write(file, list(gathered.values()))

    def forget(self, file: int) -> None:
        self._connection.execute("INSERT OR IGNORE INTO changed SELECT message FROM copies WHERE file = ?", (file,))
        self._connection.execute("DELETE FROM copies WHERE file = ?", (file,))

    def settle(self) -> None:
        """Work out anew which copies stand alone, and what the others come to."""
        run = self._connection.execute
        run("DELETE FROM joined WHERE message IN (SELECT message FROM changed)")
        run("UPDATE copies SET alone = 1 WHERE message IN (SELECT message FROM changed) AND NOT alone")
        run(
            "INSERT INTO several"
            " SELECT message FROM copies WHERE message IN changed GROUP BY message HAVING count(*) > 1"
        )
        run("UPDATE copies SET alone = 0 WHERE message IN (SELECT message FROM several)")
        copies = run(_SEVERAL)
        rows: list[tuple[Any, ...]] = []
        for _, group in itertools.groupby(copies, key=lambda row: str(row[0])):
            rows += self._settled(list(group))
            if len(rows) > _GATHERED:
                self._insert("joined", rows)
                rows = []
        self._insert("joined", rows)
        run("DELETE FROM changed")
        run("DELETE FROM several")
        run("DELETE FROM heads")
        for sums in _HEADS:
            run(sums)

    def _settled(self, copies: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """The responses of copies that share a message's id."""
        files = {os.fsdecode(path): file for _, _, file, *_, path in copies}
        found = distinct(_response(copy) for copy in copies)
        return [self._row(each, files[each.source or ""]) for each in found]

    def _write(self, file: int, responses: Sequence[Response]) -> None:
        rows = [self._row(each, file) for each in responses]
        if self._insert("copies", rows) < len(rows):
            self._join(rows)
        self._connection.executemany("INSERT OR IGNORE INTO changed VALUES (?)", [row[:1] for row in rows])

    def _join(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Rows of which some were there, in another shape."""
        for row in rows:
            there = self._one(row)
            if there != row:
                both = again(self._stored(there), self._stored(row))
                self._connection.execute("DELETE FROM copies WHERE message = ? AND request = ? AND file = ?", row[:3])
                self._insert("copies", [self._row(both, row[2])])

    def _one(self, row: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(self._connection.execute(_ONE, row[:3]).fetchone())

    def _stored(self, row: Sequence[Any]) -> Response:
        (facts,) = self._connection.execute("SELECT facts FROM strands WHERE id = ?", (row[3],)).fetchone()
        return response_of(row, json.loads(facts), None)

    def _row(self, response: Response, file: int) -> tuple[Any, ...]:
        return row_of(response, file, self._strand(facts_of(response)))

    def _strand(self, facts: tuple[Any, ...]) -> int:
        if facts not in self._strands:
            told = json.dumps(facts)
            self._connection.execute("INSERT OR IGNORE INTO strands VALUES (NULL, ?)", (told,))
            (strand,) = self._connection.execute("SELECT id FROM strands WHERE facts = ?", (told,)).fetchone()
            self._strands[facts] = int(strand)
        return self._strands[facts]

    def _insert(self, table: str, rows: Sequence[tuple[Any, ...]]) -> int:
        """How many of the rows were not there."""
        return self._connection.executemany(_INSERT.format(table), rows).rowcount


def _response(copy: Sequence[Any]) -> Response:
    *row, facts, path = copy
    return response_of(row, json.loads(facts), os.fsdecode(path))
