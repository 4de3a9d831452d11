"""One plan's file below `snapshots/plans/`: TOML with a line for every item of a list, so that git can show it."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_compiler.lowered import PlanPrefix

SCALARS = ("cli_version", "backend", "model", "effort", "permission", "delivery", "cwd")
OPTIONAL = ("backend", "model", "effort")
LISTS = ("argv", "env", "segments")
_IN_FILE = " -> "
_ENTRY = re.compile(r"(?P<layer>\S+) (?:\((?P<opaque>.+)\)|(?P<name>.+))", re.DOTALL)
_PLACE = re.compile(r"at line (\d+), column (\d+)")
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7}|\|{7})( |$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One segment of a plan's list: a name below `segments/`, or that of an opaque part.

    `file` is the committed output that the text stands in, if any.
    """

    layer: str
    name: str
    opaque: bool
    file: str = ""


@dataclass(frozen=True, slots=True)
class PlanFile:
    """What a plan's file says."""

    cli_version: str
    backend: str | None
    model: str | None
    effort: str | None
    permission: str
    delivery: str
    cwd: str
    argv: tuple[str, ...]
    env: tuple[str, ...]
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Damage:
    """Why a file cannot be read, and where (counted from 1)."""

    message: str
    line: int = 1
    column: int = 1


def dumps(plan: PlanPrefix) -> str:
    """The file of a plan. No totals, digests or token counts: it changes only where the plan does."""
    entries = [_row(item.layer, item.name, opaque=item.opaque, file=item.file) for item in plan.segments]
    scalars = ((name, getattr(plan, name)) for name in SCALARS if name != "backend" or plan.backend)
    lines = [f"{name} = {_string(value)}" for name, value in scalars if value is not None]
    for name, items in zip(LISTS, (plan.argv, plan.env, entries), strict=True):
        lines += _list(name, items)
    return "\n".join(lines) + "\n"


def _row(layer: str, name: str, *, opaque: bool, file: str) -> str:
    if opaque:
        return f"{layer} ({name})"
    # A name that looks like a name in a file gets an empty file, so that it reads back as it was.
    return f"{layer} {name}{_IN_FILE}{file}" if file or _IN_FILE in name else f"{layer} {name}"


def _list(name: str, items: Sequence[str]) -> Iterator[str]:
    if not items:
        yield f"{name} = []"
        return
    yield f"{name} = ["
    yield from (f"  {_string(item)}," for item in items)
    yield "]"


def _string(value: str) -> str:
    """A TOML basic string; JSON's is one but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def loads(data: bytes) -> PlanFile | Damage:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return Damage("is not UTF-8", data.count(b"\n", 0, error.start) + 1)
    conflict = _CONFLICT.search(text)
    if conflict:
        return Damage("holds a merge conflict", text.count("\n", 0, conflict.start()) + 1)
    try:
        return _plan_file(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        return Damage("is not TOML", *_place(str(error), text))
    except (KeyError, TypeError, ValueError) as error:
        return Damage(f"is not the list of a plan: {error}")


def _place(message: str, text: str) -> tuple[int, int]:
    place = _PLACE.search(message)
    return (int(place[1]), int(place[2])) if place else (text.count("\n") + 1, 1)


def _plan_file(table: dict[str, Any]) -> PlanFile:
    scalars = {name: _text(table, name) for name in SCALARS}
    argv, env, segments = (_texts(table, name) for name in LISTS)
    return PlanFile(**scalars, argv=argv, env=env, entries=tuple(_entry(item) for item in segments))


def _text(table: dict[str, Any], name: str) -> Any:
    if name not in table and name in OPTIONAL:
        return None
    value = _field(table, name)
    if not isinstance(value, str):
        raise TypeError(f"`{name}` is no string")
    return value


def _texts(table: dict[str, Any], name: str) -> tuple[str, ...]:
    value = _field(table, name)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError(f"`{name}` is no list of strings")
    return tuple(value)


def _field(table: dict[str, Any], name: str) -> Any:
    if name not in table:
        raise ValueError(f"`{name}` is missing")
    return table[name]


def _entry(item: str) -> Entry:
    match = _ENTRY.fullmatch(item)
    if not match:
        raise ValueError(f"`{item}` names no layer and segment")
    if match["opaque"] is not None:
        return Entry(match["layer"], match["opaque"], opaque=True)
    name, inside, file = match["name"].rpartition(_IN_FILE)
    return Entry(match["layer"], name if inside else file, opaque=False, file=file if inside else "")


def line_of(data: bytes, entry: Entry) -> int:
    """The line a segment stands in."""
    row = _row(entry.layer, entry.name, opaque=entry.opaque, file=entry.file)
    before, found, _ = data.partition(_string(row).encode())
    return before.count(b"\n") + 1 if found else 1
