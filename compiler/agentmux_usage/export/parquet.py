"""Responses, sessions and breaks as Parquet files, through DuckDB (the extra `parquet`)."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentmux_usage.export.outlet import CannotExport, counted
from agentmux_usage.export.rows import TABLES, TIME, records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentmux_usage.breaks import Break
    from agentmux_usage.response import Session

# What says, in the files' own metadata, that agentmux wrote them and in which form.
MARK, FORM = "agentmux_usage", "1"
MEMORY = "256MB"


class Parquet:
    """Writes `responses.parquet`, `sessions.parquet` and `breaks.parquet` into a folder, each whole or not at all.

    Rows go to a file of JSON lines beside them as they come, so that a long history does not fill memory. Files of the
    same names are replaced only if agentmux wrote them.
    """

    def __init__(self, folder: Path) -> None:
        """Raises `CannotExport`: no DuckDB, a folder that cannot be written, or a file that somebody else wrote."""
        self._folder = folder
        self._database = _connected()
        self._rows = dict.fromkeys(TABLES, 0)
        try:
            _refuse_foreign(self._database, folder)
            with _writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
                self._scratch = Path(tempfile.mkdtemp(prefix=".agentmux-", dir=folder))
        except BaseException:
            self._database.close()
            raise
        self._files = {table: (self._scratch / f"{table}.jsonl").open("wb") for table in TABLES}

    def take(self, session: Session, breaks: Iterable[Break]) -> None:
        for table, record in records(session, tuple(breaks)):
            line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
            with _writing(self._folder):
                self._files[table].write(line.encode("utf-8", "replace") + b"\n")
            self._rows[table] += 1

    def finish(self) -> str:
        with _writing(self._folder):
            for file in self._files.values():
                file.close()
        for table in TABLES:
            self._convert(table)
        with _writing(self._folder):
            for table in TABLES:
                (self._scratch / f"{table}.parquet").replace(self._folder / f"{table}.parquet")
        counts = ", ".join(counted(self._rows[table], table) for table in TABLES)
        return f"wrote {counts} to `{self._folder}`"

    def close(self) -> None:
        for file in self._files.values():
            with contextlib.suppress(OSError):  # a full disk: what is left to write is given up
                file.close()
        self._database.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _convert(self, table: str) -> None:
        columns = TABLES[table]
        read = ", ".join(f"{name}: '{'DOUBLE' if kind == TIME else kind}'" for name, kind in columns.items())
        chosen = ", ".join(
            f"to_timestamp({name}) AS {name}" if kind == TIME else name for name, kind in columns.items()
        )
        lines, made = (str(self._scratch / f"{table}.{suffix}") for suffix in ("jsonl", "parquet"))
        source = f"read_json({_quoted(_literal(lines))}, format = 'newline_delimited', columns = {{{read}}})"
        form = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{MARK}: '{FORM}'}}"
        query = f"COPY (SELECT {chosen} FROM {source}) TO {_quoted(made)} ({form})"  # noqa: S608  names are our own
        try:
            self._database.execute(query)
        except Exception as error:
            raise CannotExport(f"DuckDB cannot write `{table}.parquet`: {error}") from error


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotExport(f"cannot write into `{folder}`: {(error.strerror or str(error)).lower()}") from error


def _chosen(name: str, kind: str) -> str:
    return f"to_timestamp({name}) AS {name}" if kind == TIME else name


def _connected() -> Any:
    try:
        import duckdb  # noqa: PLC0415  an extra, and slow to load
    except ImportError as error:
        raise CannotExport("Parquet files need DuckDB", "`pip install 'agentmux-cli[parquet]'` brings it") from error
    database = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": MEMORY,
            "threads": "1",
        },
    )
    # It draws a bar on terminals where it thinks that something takes long.
    database.execute("SET enable_progress_bar = false")
    return database


def _refuse_foreign(database: Any, folder: Path) -> None:
    for table in TABLES:
        path = folder / f"{table}.parquet"
        if os.path.lexists(path) and not _ours(database, path):
            remedy = "name another folder, or move that file away"
            raise CannotExport(f"`{path}` is there, and agentmux did not write it", remedy)


def _ours(database: Any, path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    query = f"SELECT key, value FROM parquet_kv_metadata({_quoted(_literal(str(path)))})"  # noqa: S608  a quoted path
    with contextlib.suppress(Exception):  # whatever is wrong with it, it is not ours
        return (MARK.encode(), FORM.encode()) in database.execute(query).fetchall()
    return False


def _literal(path: str) -> str:
    """A path in which DuckDB sees no pattern."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _quoted(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
