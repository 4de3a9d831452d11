"""Values of ours inside a JSON settings file that others write too; all text that is not ours stays as it is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentmux_compiler.tree import digest
from agentmux_compiler.writing.json_text import remove_value, set_value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Place = tuple[str, ...]


class NotMergeableError(Exception):
    """The file is no JSON object; the message says why."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The file with our values in it (empty: nothing is left of it), and the values that are in the way."""

    content: bytes
    edited: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()


def keys_of(content: bytes) -> dict[str, str]:
    """JSON pointer to digest of each value of a JSON object, taken at its second level where it has one."""
    return {_pointer(place): _digest(value) for place, value in _values(json.loads(content)).items()}


def merge(
    current: bytes,
    wanted: bytes,
    known: Mapping[str, frozenset[str]],
    listed: Collection[str],
    *,
    force: bool = False,
) -> Merged:
    """Put the values of the JSON object `wanted` into `current`, and take out those that are `known` and not wanted.

    `known` holds the digests a value of ours may have by its JSON pointer. A value with another digest stays: where it
    is `listed` (the manifest says it was ours) it counts as edited, and `force` overwrites it; elsewhere it is foreign.

    Raises:
        NotMergeableError: `current` is not a JSON object in UTF-8, as with comments in it.
    """
    text, have = _parse(current)
    edited: list[str] = []
    foreign: list[str] = []
    want = _values(json.loads(wanted))
    for place in sorted({*want, *_places(known)}):
        pointer = _pointer(place)
        stands, present = _lookup(have, place)
        if stands and (place in want) and _digest(present) == _digest(want[place]):
            continue
        ours = not stands or _digest(present) in known.get(pointer, ())
        if not ours and pointer in listed and not force:
            edited.append(pointer)
        elif not ours and pointer not in listed:
            foreign.append(pointer)
        elif place in want:
            text = set_value(text, place, want[place])
        elif stands:
            text = remove_value(text, place)
    left = b"" if not json.loads(text) else text.encode()
    return Merged(left, tuple(edited), tuple(foreign))


def _parse(current: bytes) -> tuple[str, dict[str, Any]]:
    try:
        text = current.decode() if current.strip() else "{}\n"
        value = json.loads(text)
    except ValueError as error:
        raise NotMergeableError(str(error)) from error
    except RecursionError:
        raise NotMergeableError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise NotMergeableError("it is not a JSON object")
    return text, value


def _values(value: Mapping[str, Any]) -> dict[Place, Any]:
    found: dict[Place, Any] = {}
    for key, item in value.items():
        if isinstance(item, dict) and item:
            found.update({(key, below): deeper for below, deeper in item.items()})
        else:
            found[key,] = item
    return found


def _lookup(have: Mapping[str, Any], place: Place) -> tuple[bool, Any]:
    """Whether something stands at a place, and what; a value where an object should be is in the way itself."""
    value: Any = have
    for key in place:
        if not isinstance(value, dict):
            return True, value
        if key not in value:
            return False, None
        value = value[key]
    return True, value


def _digest(value: Any) -> str:
    return digest(json.dumps(value, sort_keys=True, ensure_ascii=False).encode())


def _pointer(place: Place) -> str:
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in place)


def _places(known: Mapping[str, frozenset[str]]) -> list[Place]:
    return [
        tuple(key.replace("~1", "/").replace("~0", "~") for key in pointer.removeprefix("/").split("/"))
        for pointer in known
    ]
