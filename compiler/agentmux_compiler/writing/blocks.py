"""Why a path must not be touched, and what is stale, as diagnostics."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.tree import Entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowered import OutputFile
    from agentmux_compiler.tree import Found

_CONFLICT = re.compile(rb"^<{7} .*^={7}\r?$.*^>{7} ", re.MULTILINE | re.DOTALL)


def foreign_file(output: OutputFile) -> Diagnostic:
    return rules.FOREIGN_FILE.at(
        output.at,
        f"`{output.path}` was not written by agentmux and stands where an output should go",
        help=f"run `agentmux adopt {output.path}` to make its text a source, or move the file away"
        if output.lines
        else "move the file away; what is to stay of it goes into the source of this output",
        notes=_wanted_by(output),
    )


def foreign_value(output: OutputFile, pointers: Sequence[str]) -> Diagnostic:
    """JSON pointers of values that somebody else gave another value."""
    return rules.FOREIGN_FILE.at(
        output.at,
        f"{_listed(pointers)} in `{output.path}` was not written by agentmux, and stands where our value goes",
        help="remove it there, or give it another name in `agents.d/`",
        notes=_wanted_by(output),
    )


def not_mergeable(output: OutputFile, reason: str) -> Diagnostic:
    return rules.FOREIGN_FILE.at(
        output.at,
        f"`{output.path}` was not written by agentmux, and no value can be added to it: {reason}",
        help="make it a plain JSON object, without comments, or move it away",
        notes=_wanted_by(output),
    )


def edited_output(path: str, current: bytes, wanted: bytes) -> Diagnostic:
    if has_conflict(current, wanted):
        return rules.EDITED_OUTPUT.at(
            Span(path, first_difference(current, wanted)),
            f"`{path}` holds a merge conflict",
            help="resolve the conflict in the sources, then run `agentmux build --force` to write it anew",
        )
    return rules.EDITED_OUTPUT.at(
        Span(path, first_difference(current, wanted)),
        f"`{path}` was edited since it was built",
        help=f"run `agentmux adopt {path}` to carry the edit to its sources, or `agentmux build --force` to drop it",
    )


def edited_value(path: str, pointers: Sequence[str]) -> Diagnostic:
    return rules.EDITED_OUTPUT.at(
        Span(path),
        f"{_listed(pointers)} in `{path}` was edited since it was built",
        help="make the change in `agents.d/`, then run `agentmux build --force` to drop it here",
    )


def edited_orphan(path: str) -> Diagnostic:
    return rules.EDITED_OUTPUT.at(
        Span(path),
        f"`{path}` is not built any more, but was edited since it was",
        help="delete it yourself, or run `agentmux build --force` to have it removed",
    )


def in_the_way(output: OutputFile, found: Found) -> Diagnostic:
    """Something that is no regular file stands at an output's path, or something that is no folder on the way."""
    return replace(met_on_the_way(output.path, found), span=output.at, notes=_wanted_by(output))


def met_on_the_way(path: str, found: Found) -> Diagnostic:
    """As `in_the_way`, where only the path is known."""
    if found.entry is Entry.LINK:
        return rules.OUTPUT_BEHIND_LINK.at(
            Span(path),
            f"{_link(path, found.path)} is a symlink, and nothing is written through one",
            help=f"remove the link `{found.path}`, then run `agentmux build`",
        )
    what = {Entry.FILE: "a file", Entry.FOLDER: "a folder"}.get(found.entry, "neither a file nor a folder")
    return cannot_write(path, f"`{found.path}` is {what}", remedy=f"move `{found.path}` away")


def _link(path: str, link: str) -> str:
    return f"`{path}`" if path == link else f"`{link}`, on the way to `{path}`,"


def changed_meanwhile(path: str) -> Diagnostic:
    return cannot_write(path, "it changed while the build ran", remedy="run `agentmux build` again")


def out_of_bounds(output: OutputFile) -> Diagnostic:
    return rules.NOT_WRITABLE.at(
        output.at, f"`{output.path}` is no place for an output: it leaves the project, or is git's own"
    )


def cannot_write(path: str, reason: str, *, remedy: str | None = None) -> Diagnostic:
    return rules.NOT_WRITABLE.at(Span(path), f"`{path}` cannot be written: {reason}", help=remedy)


def stale_output(path: str, current: bytes | None, wanted: bytes | None) -> Diagnostic:
    """`current` is what stands there (None: nothing), `wanted` what a build would leave there (None: nothing)."""
    if wanted is None:
        what, line = "is not built any more", 1
    elif current is None:
        what, line = "is missing", 1
    elif current == wanted:
        what, line = "has not the executable bit that its source has, or has one too many", 1
    elif current.replace(b"\r\n", b"\n") == wanted:
        what, line = "has CRLF line ends, and a build writes LF", 1
    else:
        what, line = "is not what a build would write", first_difference(current, wanted)
    return rules.STALE_OUTPUT.at(
        Span(path, line), f"`{path}` {what}", help="run `agentmux build` and commit the result"
    )


def stale_snapshot(path: str, current: bytes | None, wanted: bytes | None) -> Diagnostic:
    """As `stale_output`, for a file of the baseline."""
    if wanted is None:
        what, line = "belongs to no plan any more", 1
    elif current is None:
        what, line = "is missing", 1
    else:
        what, line = "is not what the sources give", first_difference(current, wanted)
    return rules.STALE_SNAPSHOT.at(
        Span(path, line), f"`{path}` {what}", help="run `agentmux build --accept` and commit the result"
    )


def foreign_snapshot(path: str) -> Diagnostic:
    return rules.FOREIGN_FILE.at(
        Span(path),
        f"`{path}` was not written by agentmux and stands where snapshots should go",
        help="move it away, or give snapshots another folder: `paths: {snapshots: FOLDER}` in `agents.d/_project.yaml`",
    )


def shared_snapshot(path: str, others: Sequence[str], command: str) -> Diagnostic:
    """`others` are plans that the command at hand does not accept, `command` is one that accepts them too."""
    return rules.STALE_SNAPSHOT.at(
        Span(path),
        f"`{path}` cannot be accepted for some plans only: {_listed(others)} hold its old text too",
        help=f"run `{command}` to accept them together, or `agentmux build --accept` to accept all",
    )


def has_conflict(current: bytes, wanted: bytes) -> bool:
    """Whether a file holds git's conflict markers that its sources do not quote."""
    return bool(_CONFLICT.search(current)) and not _CONFLICT.search(wanted)


def first_difference(left: bytes, right: bytes) -> int:
    """The first line, counted from 1, in which two files differ."""
    pairs = zip_longest(left.split(b"\n"), right.split(b"\n"))
    return next((number for number, (ours, theirs) in enumerate(pairs, 1) if ours != theirs), 1)


def _wanted_by(output: OutputFile) -> tuple[str, ...]:
    return (f"wanted by {_listed(output.owners)}",) if output.owners else ()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
