"""What lasts of every run: who ran what, in which session, what it used, how it failed, how its prompt began."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from typing import TYPE_CHECKING, Any, Self, TypeVar

from agentmux_launcher import ledger_schema, managed
from agentmux_launcher.codec import to_json
from agentmux_launcher.ledger_rows import FailureRow, Run, Session, Turn, UsageRow
from agentmux_launcher.ledger_schema import UNREADABLE, LedgerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from agentmux_launcher.manifest import LaunchPlan
    from agentmux_launcher.processes import Known

__all__ = ["UNREADABLE", "FailureRow", "Ledger", "LedgerError", "Run", "Session", "Turn", "UsageRow", "path_of"]

FILE = "ledger.sqlite3"
LATEST_PREFIXES = 100  # a launch that is being prepared has one that no run names yet
T = TypeVar("T")


def path_of(environ: Mapping[str, str]) -> Path:
    """Where the user's ledger is."""
    return managed.home(environ) / FILE


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Ledger:
    """The user's ledger, as a `with` block. Any number of processes may write at once.

    Raises:
        LedgerError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._connection = ledger_schema.connect(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def begin(self, run: Run) -> None:
        with ledger_schema.writing(self._connection):
            self._put("runs", run)

    def started(self, run_id: str, child: Known) -> None:
        """A run has another child."""
        with ledger_schema.writing(self._connection) as connection:
            connection.execute(
                "UPDATE runs SET child_pid = ?, child_started = ? WHERE run_id = ?", (child.pid, child.started, run_id)
            )

    def ended(self, run_id: str, exit_code: int) -> None:
        with ledger_schema.writing(self._connection) as connection:
            connection.execute(
                "UPDATE runs SET ended = ?, exit_code = ? WHERE run_id = ?", (time.time(), exit_code, run_id)
            )

    def turn(
        self,
        turn: Turn,
        usage: Iterable[UsageRow] = (),
        failure: FailureRow | None = None,
        session: Session | None = None,
    ) -> None:
        """A turn has ended: all that is known of it at once."""
        with ledger_schema.writing(self._connection) as connection:
            self._put("turns", turn)
            for row in usage:
                self._put("usage", row)
            if failure is not None:
                self._put("failures", failure)
            if session is not None:
                self._put("sessions", session)
                connection.execute(
                    "UPDATE runs SET session_id = ? WHERE run_id = ?", (session.session_id, session.last_run)
                )

    def keep_plan(self, plan: LaunchPlan) -> str:
        """Keep a plan, once; its digest."""
        text = json.dumps(to_json(plan), sort_keys=True, ensure_ascii=False)
        with ledger_schema.writing(self._connection) as connection:
            connection.execute("INSERT OR IGNORE INTO plans VALUES (?, ?)", (digest(text), text))
        return digest(text)

    def keep_prefix(self, prefix: Mapping[str, Any]) -> str:
        """Keep a plan's prefix as `codec.to_json` gives it, each of its texts once; its digest."""
        texts: dict[str, str] = {}
        segments = [{**each, "body": _without_text(each["body"], texts)} for each in prefix["segments"]]
        text = json.dumps({**prefix, "segments": segments}, sort_keys=True, ensure_ascii=False)
        with ledger_schema.writing(self._connection) as connection:
            connection.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", texts.items())
            connection.execute("INSERT OR IGNORE INTO prefixes VALUES (?, ?)", (digest(text), text))
        return digest(text)

    def prefix(self, wanted: str) -> dict[str, Any] | None:
        """A prefix that was kept, by its digest."""
        found = self._connection.execute("SELECT prefix FROM prefixes WHERE digest = ?", (wanted,)).fetchone()
        if found is None:
            return None
        prefix: dict[str, Any] = json.loads(found[0])
        for segment in prefix["segments"]:
            if segment["body"] is not None:
                segment["body"]["text"] = self._text(segment["body"]["text"])
        return prefix

    def vendors(self) -> dict[str, str]:
        """Who serves the model of each prefix that was kept, by digest."""
        query = "SELECT digest, json_extract(prefix, '$.vendor') FROM prefixes"
        return {digest: vendor for digest, vendor in self._connection.execute(query) if vendor is not None}

    def sweep(self, keep: int = LATEST_PREFIXES) -> int:
        """Drop prefixes that neither a run nor a session began with, but for the latest, and texts that no other holds.

        Returns:
            How many prefixes went.
        """
        query = f"SELECT count(*) FROM prefixes WHERE {ledger_schema.UNUSED}"  # noqa: S608  a text of ours
        (unused,) = self._connection.execute(query, (keep,)).fetchone()
        if unused:
            with ledger_schema.writing(self._connection) as connection:
                unused = connection.execute(f"DELETE FROM prefixes WHERE {ledger_schema.UNUSED}", (keep,)).rowcount  # noqa: S608
                connection.execute(ledger_schema.DROP_TEXTS)
        return int(unused)

    def keep_version(self, path: str, stamp: str, version: str) -> None:
        """Keep what an executable said its version is; `stamp` changes when the file does."""
        with ledger_schema.writing(self._connection) as connection:
            connection.execute("INSERT OR REPLACE INTO executables VALUES (?, ?, ?)", (path, stamp, version))

    def version(self, path: str, stamp: str) -> str | None:
        query = "SELECT version FROM executables WHERE path = ? AND stamp = ?"
        found = self._connection.execute(query, (path, stamp)).fetchone()
        return None if found is None else str(found[0])

    def runs(self, project: str | None = None) -> list[Run]:
        """All runs, the oldest first."""
        if project is None:
            return self._rows(Run, "SELECT * FROM runs ORDER BY started, run_id", ())
        return self._rows(Run, "SELECT * FROM runs WHERE project = ? ORDER BY started, run_id", (project,))

    def run(self, run_id: str) -> Run | None:
        return next(iter(self._rows(Run, "SELECT * FROM runs WHERE run_id = ?", (run_id,))), None)

    def last_used(self, project: str, agent: str, provider: str, most: int = 3) -> list[tuple[Run, float]]:
        """The last run of each prefix that an agent sent on a provider, the latest first, with its last call's end."""
        found = self._connection.execute(ledger_schema.LAST_USED, (project, agent, provider, most)).fetchall()
        return [(run, float(used)) for run_id, used in found if (run := self.run(run_id)) is not None]

    def session(self, provider: str, session_id: str) -> Session | None:
        query = "SELECT * FROM sessions WHERE provider = ? AND session_id = ?"
        return next(iter(self._rows(Session, query, (provider, session_id))), None)

    def last_session(self, project: str, agent: str, provider: str) -> Session | None:
        """The session of an agent on a provider that was used last."""
        query = (
            "SELECT * FROM sessions WHERE project = ? AND agent = ? AND provider = ?"
            " ORDER BY updated DESC, session_id LIMIT 1"
        )
        return next(iter(self._rows(Session, query, (project, agent, provider))), None)

    def turns(self, run_id: str | None = None) -> list[Turn]:
        """Those of a run, or of all."""
        return self._of_run(Turn, "turns", run_id, "turn")

    def beginnings(self) -> dict[str, tuple[float, ...]]:
        """When the turns of each run began, of the runs that did not go on with a session."""
        query = "SELECT run_id, turns.started FROM turns JOIN runs USING (run_id) WHERE resumed IS NULL ORDER BY 1, 2"
        found: dict[str, tuple[float, ...]] = {}
        for run_id, began in self._connection.execute(query):
            found[run_id] = (*found.get(run_id, ()), began)
        return found

    def usage(self, run_id: str | None = None) -> list[UsageRow]:
        """Those of a run, or of all."""
        return self._of_run(UsageRow, "usage", run_id, "turn, number")

    def failures(self, run_id: str) -> list[FailureRow]:
        return self._rows(FailureRow, "SELECT * FROM failures WHERE run_id = ? ORDER BY turn", (run_id,))

    def _of_run(self, shape: type[T], table: str, run_id: str | None, order: str) -> list[T]:
        which = "" if run_id is None else "WHERE run_id = ?"
        query = f"SELECT * FROM {table} {which} ORDER BY run_id, {order}"  # noqa: S608  names of this file
        return self._rows(shape, query, () if run_id is None else (run_id,))

    def _text(self, wanted: str) -> str:
        found = self._connection.execute("SELECT text FROM texts WHERE digest = ?", (wanted,)).fetchone()
        return str(found[0])

    def _put(self, table: str, row: Any) -> None:
        """Insert a row, or replace the one of the same key; columns are the fields."""
        fields = dataclasses.fields(row)
        names = ", ".join(field.name.rstrip("_") for field in fields)
        marks = ", ".join("?" for _ in fields)
        values = [getattr(row, field.name) for field in fields]
        self._connection.execute(f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", values)  # noqa: S608

    def _rows(self, shape: type[T], query: str, values: Sequence[str]) -> list[T]:
        cursor = self._connection.execute(query, values)
        names = [column[0] for column in cursor.description]
        return [_built(shape, dict(zip(names, row, strict=True))) for row in cursor]


def _without_text(body: Mapping[str, Any] | None, texts: dict[str, str]) -> dict[str, Any] | None:
    """The body with a digest in place of its text, which goes to `texts`."""
    if body is None:
        return None
    texts[digest(body["text"])] = body["text"]
    return {**body, "text": digest(body["text"])}


_BOOLEANS = ("forked", "retryable", "after_compaction")


def _built(shape: type[T], row: dict[str, Any]) -> T:
    if "class" in row:
        row["class_"] = row.pop("class")
    return shape(**{name: bool(value) if name in _BOOLEANS else value for name, value in row.items()})
