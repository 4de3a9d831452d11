"""Change one value in the text of a JSON object and leave every other character as it is."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPACE = re.compile(r"[ \t\r\n]*")
_FIRST_INDENT = re.compile(r"\n([ \t]+)\S")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Member:
    """Offsets of one `"key": value` in a text: its key's quote, its value, and the end of that."""

    key: str
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class Braces:
    """An object in a text: the offsets of its braces, and what is between them."""

    open: int
    close: int
    members: tuple[Member, ...]

    def member(self, key: str) -> Member | None:
        """The last one of that name, which is the one that counts."""
        return next((item for item in reversed(self.members) if item.key == key), None)


def set_value(text: str, place: Sequence[str], value: Any) -> str:
    """Give the value at a place of keys; objects on the way are made. `text` must be a JSON object."""
    found, depth = _innermost(text, place)
    for key in reversed(place[depth + 1 :]):
        value = {key: value}
    member = found.member(place[depth])
    written = _written(text, value, depth + 1)
    if member:
        return text[: member.value] + written + text[member.end :]
    return _appended(text, found, f"{json.dumps(place[depth], ensure_ascii=False)}: {written}", depth)


def remove_value(text: str, place: Sequence[str]) -> str:
    """Take a value out, and the objects that are empty without it."""
    found, depth = _innermost(text, place)
    member = found.member(place[depth])
    if member is None or depth != len(place) - 1:
        return text
    if len(found.members) == 1 and depth:
        return remove_value(text, place[:depth])
    return _without(text, found, member)


def _innermost(text: str, place: Sequence[str]) -> tuple[Braces, int]:
    """The deepest object on the way to a place, and how many keys lead to it."""
    found, depth = _braces(text, _skip(text, 0)), 0
    while depth < len(place) - 1:
        member = found.member(place[depth])
        if member is None or text[member.value] != "{":
            break
        found, depth = _braces(text, member.value), depth + 1
    return found, depth


def _braces(text: str, at: int) -> Braces:
    members: list[Member] = []
    position = _skip(text, at + 1)
    while text[position] != "}":
        key, after = _DECODER.raw_decode(text, position)
        value = _skip(text, _skip(text, after) + 1)
        _, end = _DECODER.raw_decode(text, value)
        members.append(Member(key, position, value, end))
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return Braces(at, position, tuple(members))


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _indent(text: str) -> str:
    match = _FIRST_INDENT.search(text)
    return match[1] if match else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _written(text: str, value: Any, depth: int) -> str:
    indent = _indent(text)
    lines = json.dumps(value, indent=indent, ensure_ascii=False).split("\n")
    return (_newline(text) + indent * depth).join(lines)


def _appended(text: str, found: Braces, member: str, depth: int) -> str:
    line = _newline(text) + _indent(text) * (depth + 1)
    if not found.members:
        return text[: found.open + 1] + line + member + _newline(text) + _indent(text) * depth + text[found.close :]
    end = found.members[-1].end
    one_line = "\n" not in text[found.open : found.close]
    return text[:end] + "," + (" " if one_line else line) + member + text[end:]


def _without(text: str, found: Braces, member: Member) -> str:
    index = found.members.index(member)
    if index:
        return text[: found.members[index - 1].end] + text[member.end :]
    if len(found.members) == 1:
        return text[: found.open + 1] + text[found.close :]
    return text[: member.start] + text[found.members[1].start :]
