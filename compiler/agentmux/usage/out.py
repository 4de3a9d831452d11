"""What `agentmux usage` gives away instead of a table: a page, Parquet files, spans for a receiver of OTLP."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.errors import CannotRun
from agentmux.whole_file import put
from agentmux_usage.export.outlet import CannotExport, Outlet, counted
from agentmux_usage.priced import usd
from agentmux_usage.report import build_each, within

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

    from agentmux.streams import Stream
    from agentmux.usage.sources import Found
    from agentmux_usage.breaks import Break
    from agentmux_usage.grouping import By
    from agentmux_usage.report import Asked
    from agentmux_usage.response import Session

# The tables of the page besides that of sessions.
GROUPS: tuple[By, ...] = ("agent", "provider", "model", "day")
# What a page of ours has near its beginning.
_SIGN, _HEAD = b"<title>agentmux usage</title>", 4096


def give_away(arguments: argparse.Namespace, asked: Asked, there: Found, err: Stream) -> int:
    """Hand every session to all that was asked for, and say where it went; the number of sessions.

    Raises:
        CannotRun: something does not take it.
    """
    count = 0
    try:
        with contextlib.ExitStack() as stack:
            outlets = [stack.enter_context(contextlib.closing(each)) for each in _outlets(arguments, asked, there)]
            for session in there.sessions:
                kept = asked.of(session)
                if kept.responses:
                    count += 1
                    breaks = within(kept, there.breaks_of(session))
                    for outlet in outlets:
                        outlet.take(kept, breaks)
            for outlet in outlets:
                err.line(outlet.finish())
    except CannotExport as error:
        raise CannotRun(error.message, remedy=error.remedy) from error
    return count


def _outlets(arguments: argparse.Namespace, asked: Asked, there: Found) -> Iterator[Outlet]:
    if arguments.html:
        yield Page(Path(arguments.html), asked, there)
    if arguments.parquet:
        from agentmux_usage.export.parquet import Parquet  # noqa: PLC0415  looks for DuckDB

        yield Parquet(Path(arguments.parquet))
    if arguments.otlp:
        from agentmux_usage.export.otlp import Otlp  # noqa: PLC0415  looks for OpenTelemetry

        yield Otlp(arguments.otlp)


def _foreign(path: Path) -> bool:
    """Whether a file holds something that is no page of ours."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return bool(head) and _SIGN not in head


class Page:
    """Writes one page, which holds all sessions at once."""

    def __init__(self, path: Path, asked: Asked, there: Found) -> None:
        """Raises `CannotExport`: somebody else wrote the file that is there."""
        if _foreign(path):
            remedy = "name another file, or move that one away"
            raise CannotExport(f"`{path}` is there, and agentmux did not write it", remedy)
        self._path = path
        self._asked = asked
        self._there = there
        self._sessions: list[Session] = []
        self._breaks: dict[tuple[str, str], tuple[Break, ...]] = {}

    def take(self, session: Session, breaks: Iterable[Break]) -> None:
        self._sessions.append(session)
        self._breaks[session.provider, session.session_id] = tuple(breaks)

    def finish(self) -> str:
        from agentmux_usage.page import page  # noqa: PLC0415  loads jinja2

        built = build_each(self._sessions, self._asked, ("session", *GROUPS), self._breaks_of)
        sources, notes = tuple(self._there.sources), tuple(self._there.notes)
        sessions, *groups = (replace(each, sources=sources, notes=(*notes, *each.notes)) for each in built)
        text = page(sessions, self._sessions, price=usd, groups=groups)
        try:
            put(self._path, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise CannotExport(f"cannot write `{self._path}`: {(error.strerror or str(error)).lower()}") from error
        return f"wrote {counted(len(self._sessions), 'sessions')} to `{self._path}`"

    def close(self) -> None:
        """There is nothing to let go of."""

    def _breaks_of(self, session: Session) -> tuple[Break, ...]:
        return self._breaks[session.provider, session.session_id]
