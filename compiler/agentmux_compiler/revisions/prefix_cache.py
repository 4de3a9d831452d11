"""Prefixes of earlier revisions, kept under `.agentmux/cache` by the object ids of what they were compiled from.

Nothing depends on it: what cannot be read or written is compiled again.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler import __version__
from agentmux_compiler.revisions.outcomes import Fault, Outcome
from agentmux_compiler.revisions.prefix_pack import pack, unpack
from agentmux_compiler.revisions.source_ids import SourceIds
from agentmux_compiler.tree import Entry, find
from agentmux_compiler.writing.record import package_state
from agentmux_launcher.codec import from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agentmux_compiler.trees.git_tree import GitTree

FOLDER = ".agentmux/cache"
SOURCES = "agents.d"
ROWS = 4096
_TABLE = "CREATE TABLE IF NOT EXISTS outcomes (sources TEXT, variant TEXT, ids BLOB, plans BLOB, fault TEXT)"
_INDEX = "CREATE INDEX IF NOT EXISTS by_sources ON outcomes (sources, variant)"
_FIND = "SELECT ids, plans, fault FROM outcomes WHERE sources = ? AND variant = ? ORDER BY rowid"
_KEEP = "DELETE FROM outcomes WHERE rowid <= (SELECT max(rowid) FROM outcomes) - ?"


@dataclass(frozen=True, slots=True)
class PrefixCache:
    """Outcomes by sources. `variant` names a project that was changed in memory, such as one in another order."""

    connection: sqlite3.Connection | None = None

    def find(self, tree: GitTree, variant: str = "") -> tuple[Outcome, SourceIds] | None:
        """The outcome of exactly these sources, and what was read for it."""
        folder = tree.folder_id(SOURCES)
        if self.connection is None or folder is None:
            return None
        try:
            for ids, plans, fault in self.connection.execute(_FIND, (folder, variant)):
                known = from_json(SourceIds, json.loads(zlib.decompress(ids)))
                if known.stand_in(tree):
                    return Outcome(unpack(plans), from_json(Fault, json.loads(fault)) if fault else None), known
        except (sqlite3.Error, zlib.error, ValueError, TypeError, LookupError, AttributeError):
            return None
        return None

    def keep(self, tree: GitTree, ids: SourceIds, outcome: Outcome, variant: str = "") -> None:
        folder = tree.folder_id(SOURCES)
        if self.connection is None or folder is None:
            return
        named = zlib.compress(json.dumps(to_json(ids), separators=(",", ":")).encode(), level=1)
        fault = json.dumps(to_json(outcome.fault)) if outcome.fault else None
        row = (folder, variant, named, pack(outcome.plans), fault)
        try:
            self.connection.execute("INSERT INTO outcomes VALUES (?, ?, ?, ?, ?)", row)
        except sqlite3.Error:
            return


@contextmanager
def prefix_cache(root: Path) -> Iterator[PrefixCache]:
    """The cache of a project, written when the `with` block ends well; an empty one where there can be none."""
    connection = _opened(root)
    if connection is None:
        yield PrefixCache()
        return
    with closing(connection):
        yield PrefixCache(connection)
        try:
            connection.execute(_KEEP, (ROWS,))
            connection.commit()
        except sqlite3.Error:
            return


def _opened(root: Path) -> sqlite3.Connection | None:
    """The table of this version of agentmux; those of others are removed."""
    path = f"{FOLDER}/prefixes-{__version__}-{package_state()[:12]}.sqlite"
    if find(root, path).entry not in {Entry.FILE, Entry.ABSENT}:
        return None
    try:
        _make_folder(root / FOLDER, (root / path).name)
        return _connected(root / path)
    except (OSError, sqlite3.Error):
        return None


def _make_folder(folder: Path, name: str) -> None:
    """A folder that git does not see, and of all these tables only ours in it."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".gitignore").exists():
        (folder / ".gitignore").write_bytes(b"*\n")
    for other in folder.glob("prefixes-*.sqlite*"):
        if not other.name.startswith(name):
            other.unlink()


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=0.5)
    try:
        for statement in ("PRAGMA synchronous = OFF", _TABLE, _INDEX):
            connection.execute(statement)
    except sqlite3.Error as error:
        connection.close()
        if not isinstance(error, sqlite3.OperationalError):
            path.unlink()  # no database at all: it is of no use to anybody
        raise
    return connection
