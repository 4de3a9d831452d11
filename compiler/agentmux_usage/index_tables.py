"""The tables of the index, and how rows of it become responses."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING, Any

from agentmux_launcher.usage import Tokens
from agentmux_usage.response import Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# Raised whenever a reader counts otherwise: an index of another version is made anew.
VERSION = 7
_MEMORY = "PRAGMA cache_size = -4096"  # KiB, which hold what is written to of a large index
_BUSY = 60.0  # seconds that one process waits for another that reads

_ROW = """
    message TEXT NOT NULL, request TEXT NOT NULL, file INTEGER NOT NULL, strand INTEGER NOT NULL, time REAL NOT NULL,
    turn INTEGER NOT NULL, input INTEGER, cache_read INTEGER, cache_write INTEGER, cache_write_1h INTEGER,
    output INTEGER, reasoning INTEGER, usd REAL, compacted INTEGER NOT NULL"""
TOKENS = ("input", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning")
COLUMNS = ", ".join(("message", "request", "file", "strand", "time", "turn", *TOKENS, "usd", "compacted"))
_TABLES = f"""
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, reader TEXT NOT NULL, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, offset INTEGER NOT NULL, digest TEXT NOT NULL, state TEXT NOT NULL, notes TEXT NOT NULL
);
CREATE TABLE strands (id INTEGER PRIMARY KEY, facts TEXT NOT NULL UNIQUE);
CREATE TABLE copies (
    {_ROW}, alone INTEGER NOT NULL DEFAULT 1, PRIMARY KEY (message, file, request)
) WITHOUT ROWID;
CREATE INDEX copies_by_file ON copies (file);
CREATE TABLE joined ({_ROW}, PRIMARY KEY (message, request)) WITHOUT ROWID;
CREATE VIEW responses AS
    SELECT {COLUMNS} FROM copies WHERE alone UNION ALL SELECT {COLUMNS} FROM joined;
CREATE TABLE heads (
    strand INTEGER NOT NULL, began REAL NOT NULL, ended REAL NOT NULL, responses INTEGER NOT NULL,
    {", ".join(f"{name} INTEGER NOT NULL" for name in TOKENS)}
);
PRAGMA user_version = {VERSION};
"""  # noqa: S608  the words are all ours


def connect(path: Path | None) -> sqlite3.Connection:
    """Open the index, or one that vanishes when closed; what is no index of this version is made anew.

    Raises:
        sqlite3.Error, OSError: it cannot be written.
    """
    if path is None:
        # An empty name is a file of its own that is deleted on closing, so that memory stays small.
        connection = sqlite3.connect("", isolation_level=None)
        connection.execute(_MEMORY)
        connection.executescript(_TABLES)
        return connection
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return _opened(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        discard(path)
        return _opened(path)


def discard(path: Path) -> None:
    """Take away an index that is broken: it is made anew the next time."""
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        path.with_name(name).unlink(missing_ok=True)


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY, isolation_level=None)
    try:
        connection.execute(_MEMORY)
        connection.execute("PRAGMA synchronous = NORMAL")
        if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            _make(connection)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _make(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    with writing(connection):
        if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            _clear(connection)
            for statement in _TABLES.split(";\n"):
                connection.execute(statement)


def _clear(connection: sqlite3.Connection) -> None:
    """Drop what another version made; a view of its may be a table here."""
    for kind, name in connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'table')"
    ).fetchall():
        connection.execute(f"DROP {kind} {name}")


@contextlib.contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """All of a block or nothing; it waits for others that write before it reads."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def facts_of(response: Response) -> tuple[Any, ...]:
    """What many responses have in common, kept once."""
    return (
        response.provider,
        response.session_id,
        response.model,
        response.kind,
        response.thread,
        response.agent,
        response.effort,
        response.cli_version,
        response.run_id,
        response.plan,
        response.prefix,
        response.cwd,
        response.calls,
        response.vendor,
    )


def row_of(response: Response, file: int, strand: int) -> tuple[Any, ...]:
    """A row in the order of `COLUMNS`."""
    tokens = response.tokens
    return (
        # Other CLIs may give other responses the same id.
        f"{response.provider}:{_writable(response.message_id)}",
        _writable(response.request_id),
        file,
        strand,
        response.time,
        response.turn,
        tokens.input,
        tokens.cache_read,
        tokens.cache_write,
        tokens.cache_write_1h,
        tokens.output,
        tokens.reasoning,
        response.usd,
        int(response.after_compaction),
    )


def response_of(row: Sequence[Any], strand: Sequence[Any], path: str | None) -> Response:
    """The response of a row in the order of `COLUMNS`, with what `facts_of` gave."""
    provider, session, model, kind, thread, agent, effort, version, run, plan, prefix, cwd, calls, vendor = strand
    return Response(
        provider,
        session,
        row[4],
        Tokens(*row[6:12]),
        model,
        row[5],
        kind,
        thread,
        row[0].partition(":")[2] or None,
        row[1] or None,
        agent,
        effort,
        version,
        row[12],
        bool(row[13]),
        run,
        plan,
        prefix,
        cwd,
        path,
        calls,
        vendor,
    )


def _writable(text: str | None) -> str:
    """A text that SQLite takes: half of a surrogate pair, which JSON may hold, is written out."""
    return text.encode("utf-8", "backslashreplace").decode() if text else ""
