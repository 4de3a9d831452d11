"""Where `agentmux usage` looks: our ledger, the folders of the CLIs, or paths that were named."""

from __future__ import annotations

import functools
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.broken_ledger import unreadable
from agentmux.clis import shown
from agentmux.errors import CannotRun
from agentmux_launcher import managed
from agentmux_launcher.ledger import LedgerError, path_of
from agentmux_usage.breaks import Break
from agentmux_usage.from_ledger import Kept, opened, read
from agentmux_usage.joined import joined
from agentmux_usage.response import Session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmux_usage.forensics import Known
    from agentmux_usage.report import Asked
    from agentmux_usage.sources import Source

# What was read of transcripts, below agentmux's own folder.
INDEX = "usage"


@dataclass(slots=True)
class Found:
    """What there is to report on, and how the breaks of a session are found. Nothing is read before it is asked for.

    `files` are all that can be read, `folder` is where what was read is kept. `sources` are what holds something,
    `looked` all places. `notes`, and `unfinished` (whether a run still goes on), are complete when the last session has
    been read.
    """

    sessions: Iterable[Session]
    breaks_of: Callable[[Session], Sequence[Break]]
    files: Iterable[Path]
    folder: Path
    sources: list[str] = field(default_factory=list)
    looked: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unfinished: bool = False


def found(paths: Sequence[str], asked: Asked, environ: Mapping[str, str]) -> Found:
    """The sessions of the paths; without any, those of the ledger and of all CLIs that have left transcripts.

    Reading them raises `CannotRun` where the ledger cannot be read.

    Raises:
        CannotRun: a path is not there, or is nobody's.
    """
    ledger, folder = path_of(environ), managed.home(environ) / INDEX
    kept = functools.cache(lambda: _kept(ledger))
    there = Found((), _breaks(kept, asked, ledger), (), folder)
    if paths:
        sources = _named(paths, folder, there)
        there.sources += [shown(Path(path), environ) for path in paths]
    else:
        sources = _own(environ, folder)
        _say_where(there, ledger, [each for each in sources if asked.asks(each.provider)], environ)
    there.files = _files(ledger, sources)
    # Each choice of sources has an index of its own, which is not worth its place for what is looked at once.
    told = _gathered(sources, asked, None if paths else folder, there.notes)
    there.sessions = _sessions(there, kept, told, only_told=bool(paths))
    return there


def _sessions(there: Found, kept: Callable[[], Kept], told: Iterable[Session], *, only_told: bool) -> Iterator[Session]:
    there.unfinished = any(run.ended is None and run.running for run in kept().runs)
    yield from joined(kept(), told, only_told=only_told)


def _files(ledger: Path, sources: Sequence[Source]) -> Iterator[Path]:
    from agentmux_usage.sources import files_of  # noqa: PLC0415  only where there may be transcripts

    yield from (ledger, ledger.with_name(f"{ledger.name}-wal"))
    for source in sources:
        yield from files_of(source)


def _say_where(there: Found, ledger: Path, sources: Sequence[Source], environ: Mapping[str, str]) -> None:
    for place in (ledger, *_folders(sources)):
        there.looked.append(_place(place, environ))
        there.sources += [shown(place, environ)] if os.path.exists(place) else []  # noqa: PTH110  raises nothing


def _place(path: Path, environ: Mapping[str, str]) -> str:
    return f"{shown(path, environ)}{'' if os.path.exists(path) else ' (not there)'}"  # noqa: PTH110


def _named(paths: Sequence[str], index: Path, there: Found) -> Sequence[Source]:
    """The sources at paths that were named; what is nobody's is noted, and refused where it was named itself."""
    from agentmux_usage.places import named_sources  # noqa: PLC0415  only where there may be transcripts

    for path in map(Path, paths):
        if not path.exists():
            raise CannotRun(f"`{path}` is not there")
        if not (path.is_file() or path.is_dir()):
            remedy = "what is read twice must be a file: write it into one first"
            raise CannotRun(f"`{path}` is no file and no folder", remedy=remedy)
        if path.is_file():
            path.open("rb").close()  # one that cannot be read is refused with the system's words
    sources, strange = named_sources(map(Path, paths), index)
    refused = next((path for path in map(Path, paths) if path in strange), None)
    if refused is not None:
        known = "Claude Code, Codex, Gemini and Qwen write transcripts that are known; a run's folder is read too"
        raise CannotRun(f"`{refused}` is no transcript of a known format", notes=[known])
    there.looked += paths
    if strange:
        first = f"`{strange[0]}`" + (f" and {len(strange) - 1:,} more" if len(strange) > 1 else "")
        there.notes.append(f"left out, being of no known format or unreadable: {first}")
    return sources


def _folders(sources: Iterable[Source]) -> list[Path]:
    """The folders in which the files of the CLIs' own sources lie, each once."""
    found = (
        source.root / pattern[: pattern.index("*")].rpartition("/")[0]
        for source in sources
        for pattern in source.patterns
        if "*" in pattern
    )
    return list(dict.fromkeys(found))


def _kept(ledger: Path) -> Kept:
    try:
        return read(ledger)
    except LedgerError as error:
        raise unreadable(error) from error


def _own(environ: Mapping[str, str], index: Path) -> Sequence[Source]:
    """Those of all providers, whoever is asked for, so that one index serves every question."""
    from agentmux_usage.places import catalog_sources  # noqa: PLC0415  only where there may be transcripts

    return catalog_sources(environ, index)


def _gathered(sources: Sequence[Source], asked: Asked, folder: Path | None, notes: list[str]) -> Iterator[Session]:
    from agentmux_usage.gather import gather  # noqa: PLC0415  as above

    try:
        yield from gather(sources, folder, notes, since=asked.since, until=asked.until) if sources else ()
    except sqlite3.Error as error:
        remedy = "it needs room for temporary files: free some, or name a folder that has it in `TMPDIR`"
        raise CannotRun(f"what the transcripts say cannot be added up: {error}", remedy=remedy) from error


def _breaks(kept: Callable[[], Kept], asked: Asked, ledger: Path) -> Callable[[Session], Sequence[Break]]:
    @functools.cache
    def known() -> Known:
        from agentmux_usage.forensics import NOTHING, known_of  # noqa: PLC0415  loads the facts of backends

        sessions = [session for session in joined(kept(), ()) if asked.of(session).responses]
        if not sessions:
            return NOTHING
        with opened(ledger) as here:
            return known_of(sessions, here)

    def breaks_of(session: Session) -> Sequence[Break]:
        from agentmux_usage.forensics import find_breaks  # noqa: PLC0415  as above

        return find_breaks(session, known())

    return breaks_of
