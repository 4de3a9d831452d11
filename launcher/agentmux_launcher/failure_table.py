"""The shape of what is known of a provider's failures: data, each row with where it was seen."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Literal

from agentmux_launcher.codec import from_json
from agentmux_launcher.events import FailureClass


@dataclass(frozen=True, slots=True)
class ExitCode:
    code: int
    means: FailureClass
    source: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A name that the CLI itself gives to an error, in a frame or by a pattern's group `kind`."""

    kind: str
    means: FailureClass
    source: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """Words of the CLI: a regular expression over the lines of `where`, `^` and `$` at their edges.

    `means` may be null where the groups say it: `kind` is looked up among the kinds, `status` is an HTTP status.
    `always`: also where the CLI went on to end well, or the turn did by what its last frame says.
    """

    where: Literal["frame", "stderr", "stdout"]
    pattern: str
    means: FailureClass | None
    source: str
    always: bool = False

    def search(self, text: str) -> re.Match[str] | None:
        return _compiled(self.pattern).search(text)


@dataclass(frozen=True, slots=True)
class FailureTable:
    """How a provider's CLI fails, besides what HTTP statuses and signals mean everywhere.

    `dialects` are those whose providers use this table unless they have their own; `also` names another table whose
    kinds and patterns follow its own. `exit_is_status`: the exit code
    is the low byte of an HTTP status. The first pattern that fits counts. Lines of stderr that fit `harmless` are
    written by runs that go well, too, and explain nothing.
    """

    source: str = ""
    dialects: tuple[str, ...] = ()
    also: str | None = None
    exit_is_status: bool = False
    exit_codes: tuple[ExitCode, ...] = ()
    kinds: tuple[Kind, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    harmless: tuple[str, ...] = ()

    def kind(self, name: str) -> FailureClass | None:
        return next((row.means for row in self.kinds if row.kind == name), None)

    def fatal(self, words: str) -> bool:
        """Whether a turn in whose frames these words stood has failed, however it ended."""
        return any(row.always and row.where == "frame" and row.search(words) for row in self.patterns)

    def explains(self, line: str) -> bool:
        """Whether a line of stderr may say why a run failed."""
        return not any(_compiled(pattern).search(line) for pattern in self.harmless)


NO_TABLE = FailureTable()


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


@functools.cache
def tables() -> dict[str, FailureTable]:
    """Every table that ships with the launcher, by name."""
    folder = files(__package__) / "failures"
    texts = {item.name.removesuffix(".json"): item for item in folder.iterdir() if item.name.endswith(".json")}
    return {name: from_json(FailureTable, json.loads(texts[name].read_text("utf-8"))) for name in sorted(texts)}


def table_for(provider: str, dialect: str) -> FailureTable:
    """The provider's own table, else that of its dialect, else an empty one."""
    known = tables()
    fitting = (table for table in known.values() if dialect in table.dialects)
    table = known.get(provider) or next(fitting, NO_TABLE)
    other = known[table.also] if table.also else NO_TABLE
    return replace(table, kinds=(*table.kinds, *other.kinds), patterns=(*table.patterns, *other.patterns))
