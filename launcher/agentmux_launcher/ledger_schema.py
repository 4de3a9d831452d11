"""The tables of the ledger, and how an empty file becomes one."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VERSION = 2
_BUSY = 30.0  # seconds that one writer waits for others
_PAUSE = 0.05
_PRIMARY = 0xFF  # what an error code of SQLite means, without its detail
_FOR_GOOD = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL}

_TOKENS = """
    input_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, cache_write_1h_tokens INTEGER,
    output_tokens INTEGER, reasoning_tokens INTEGER"""

_TABLES = f"""
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, project TEXT NOT NULL, agent TEXT NOT NULL, provider TEXT NOT NULL,
    controller TEXT NOT NULL, model TEXT, effort TEXT, permission TEXT NOT NULL, cli_version TEXT,
    plan TEXT, prefix TEXT, folder TEXT NOT NULL, pid INTEGER NOT NULL, pid_started TEXT NOT NULL,
    child_pid INTEGER, child_started TEXT, session_id TEXT, resumed TEXT, forked INTEGER NOT NULL,
    started REAL NOT NULL, ended REAL, exit_code INTEGER, held TEXT
);
CREATE INDEX runs_by_start ON runs (started);
CREATE TABLE turns (
    run_id TEXT NOT NULL, turn INTEGER NOT NULL, session_id TEXT, model TEXT,
    started REAL NOT NULL, ended REAL NOT NULL, stop_reason TEXT, calls INTEGER NOT NULL, {_TOKENS},
    context_tokens INTEGER, context_window INTEGER, prefill_tokens INTEGER, usd REAL,
    PRIMARY KEY (run_id, turn)
);
CREATE TABLE usage (
    run_id TEXT NOT NULL, turn INTEGER NOT NULL, number INTEGER NOT NULL, scope TEXT NOT NULL, {_TOKENS},
    context_tokens INTEGER, context_window INTEGER, model TEXT, message_id TEXT, parent TEXT,
    time REAL, after_compaction INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, turn, number)
);
CREATE TABLE failures (
    run_id TEXT NOT NULL, turn INTEGER NOT NULL, class TEXT NOT NULL, title TEXT NOT NULL, detail TEXT NOT NULL,
    exit_code INTEGER, signal INTEGER, retryable INTEGER NOT NULL, retry_after_ms INTEGER,
    PRIMARY KEY (run_id, turn)
);
CREATE TABLE sessions (
    provider TEXT NOT NULL, session_id TEXT NOT NULL, project TEXT NOT NULL, agent TEXT NOT NULL,
    model TEXT, effort TEXT,
    permission TEXT NOT NULL, cli_version TEXT, plan TEXT, prefix TEXT, last_run TEXT NOT NULL, context_tokens INTEGER,
    counters TEXT, updated REAL NOT NULL,
    PRIMARY KEY (provider, session_id)
);
CREATE TABLE plans (digest TEXT PRIMARY KEY, plan TEXT NOT NULL);
CREATE TABLE prefixes (digest TEXT PRIMARY KEY, prefix TEXT NOT NULL);
CREATE TABLE texts (digest TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE executables (path TEXT PRIMARY KEY, stamp TEXT NOT NULL, version TEXT NOT NULL);
"""

# What makes a ledger of each version one of the next.
_CHANGES = {
    1: (
        "ALTER TABLE usage ADD COLUMN time REAL",
        "ALTER TABLE usage ADD COLUMN after_compaction INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE runs ADD COLUMN held TEXT",
    ),
}

UNUSED = """
    digest NOT IN (
        SELECT prefix FROM runs WHERE prefix IS NOT NULL UNION SELECT held FROM runs WHERE held IS NOT NULL
        UNION SELECT prefix FROM sessions WHERE prefix IS NOT NULL
    ) AND rowid <= (SELECT max(rowid) FROM prefixes) - ?"""
# For each prefix that was sent, the run that sent it last. Of a CLI with a screen of its own no turn is known; a turn
# that failed before it read anything was no call.
LAST_USED = """
    SELECT run_id, max(used) FROM (
        SELECT run_id, coalesce(held, prefix, run_id) AS sent, CASE controller WHEN 'terminal' THEN ended ELSE (
            SELECT max(turns.ended) FROM turns WHERE turns.run_id = runs.run_id AND (
                turns.prefill_tokens > 0 OR NOT EXISTS (
                    SELECT 1 FROM failures WHERE failures.run_id = turns.run_id AND failures.turn = turns.turn
                )
            )
        ) END AS used FROM runs WHERE project = ? AND agent = ? AND provider = ?
    ) WHERE used IS NOT NULL GROUP BY sent ORDER BY 2 DESC, run_id LIMIT ?"""
DROP_TEXTS = """
    DELETE FROM texts WHERE digest NOT IN (
        SELECT json_extract(part.value, '$.body.text') FROM prefixes, json_each(prefixes.prefix, '$.segments') part
        WHERE json_extract(part.value, '$.body.text') IS NOT NULL
    )"""


class LedgerError(Exception):
    """The ledger cannot be opened: not writable, not a ledger, or written by a newer agentmux."""


UNREADABLE = (LedgerError, sqlite3.Error)  # what an opened ledger that is broken raises, besides


def connect(path: Path) -> sqlite3.Connection:
    """Open the ledger, and make it if need be; any number of processes may do so at once.

    Raises:
        LedgerError
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=_BUSY, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(f"`{path}`: {error}") from error
    try:
        _prepare(connection)
    except sqlite3.Error as error:
        connection.close()
        raise LedgerError(f"`{path}`: {error}") from error
    except LedgerError:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """All of a block or nothing; it waits for other writers before it reads, so that nobody's work is lost.

    Who waited once in vain does not wait again.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        connection.execute("PRAGMA busy_timeout = 0")
        raise
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _prepare(connection: sqlite3.Connection) -> None:
    _use_wal(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    if _version(connection) < VERSION:
        with writing(connection):
            for statement in _statements(_version(connection)):
                connection.execute(statement)
            if _version(connection) < VERSION:
                connection.execute(f"PRAGMA user_version = {VERSION}")
    if _version(connection) > VERSION:
        raise LedgerError("the ledger was written by a newer agentmux, which alone can read it")


def _statements(version: int) -> list[str]:
    """What makes a file of this version (0: an empty one) a ledger of today's."""
    if version == 0:
        return _TABLES.split(";")
    return [statement for old in range(version, VERSION) for statement in _CHANGES[old]]


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _use_wal(connection: sqlite3.Connection) -> None:
    """Readers and a writer side by side. Taking it into use is the one thing SQLite does not wait for others with."""
    deadline = time.monotonic() + _BUSY
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if time.monotonic() > deadline or _PRIMARY & (error.sqlite_errorcode or 0) in _FOR_GOOD:
                raise
            time.sleep(_PAUSE)
        else:
            return
