"""From files to sessions: what sources hold, each response once, through an index where there is a place for one."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from typing import TYPE_CHECKING

from agentmux_usage.index import Index
from agentmux_usage.index_tables import discard
from agentmux_usage.readers.base import NO_END, NOT_JSON, TOO_LONG, UNKNOWN, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from agentmux_usage.response import Session
    from agentmux_usage.sources import Source

_TOLD = {
    NOT_JSON: ("{} line is no JSON object and was left out", "{} lines are no JSON objects and were left out"),
    TOO_LONG: ("{} line is longer than 8 MiB and was left out", "{} lines are longer than 8 MiB and were left out"),
    NO_END: ("the last line of {} file has no end yet", "the last lines of {} files have no end yet"),
    UNKNOWN: ("{} line has a shape that is not known", "{} lines have a shape that is not known"),
    UNREADABLE: ("{} file or folder could not be read", "{} files or folders could not be read"),
}


def gather(
    sources: Sequence[Source],
    index_folder: Path | None = None,
    notes: list[str] | None = None,
    *,
    since: float | None = None,
    until: float | None = None,
) -> Iterator[Session]:
    """The sessions that have a response from `since` until before `until`, each whole, in the order of their beginning.

    With `index_folder` only what is new since the last time is read. What was left out is told in `notes`.
    """
    with opened(sources, index_folder) as index:
        if notes is not None:
            notes += told(index.notes(), index.unreadable())
        yield from index.sessions(since, until)


@contextlib.contextmanager
def opened(sources: Sequence[Source], index_folder: Path | None = None) -> Iterator[Index]:
    """The index of some sources, with all that is new in it; one that vanishes where it cannot be kept."""
    path = index_folder / _name(sources) if index_folder else None
    with contextlib.ExitStack() as stack:
        try:
            index = stack.enter_context(Index(path))
            index.update(sources)
        except (sqlite3.Error, OSError) as error:
            stack.close()
            if path and isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                discard(path)
            index = stack.enter_context(Index(None))
            index.update(sources)
        yield index


def told(notes: Mapping[str, int], unreadable: str | None = None) -> list[str]:
    """Counts of what was left out, in words, with the first file that could not be read."""
    named = {UNREADABLE: f": `{unreadable}`" + (" is the first" if notes[UNREADABLE] > 1 else "")} if unreadable else {}
    kinds = [kind for kind in sorted(notes) if notes[kind]]
    return [_TOLD[kind][notes[kind] != 1].format(f"{notes[kind]:,}") + named.get(kind, "") for kind in kinds]


def _name(sources: Sequence[Source]) -> str:
    """One index for each choice of sources, so that no other choice has to be read anew."""
    told = {f"{each.reader}\0{(each.asked or each.root).absolute()}\0{each.convention}" for each in sources}
    digest = hashlib.sha256("\n".join(sorted(told)).encode("utf-8", "surrogatepass")).hexdigest()
    return f"usage-{digest[:16]}.sqlite3"
