"""Change one value in the text of a JSON object and leave every other character as it is; comments may stand in it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT_OR_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_FIRST_INDENT = re.compile(r"\n([ \t]+)\S")
_NOT_SPACE = re.compile(r"\S")
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


def without_comments(text: str) -> str:
    """The text with blanks where comments stand, so that every offset stays."""
    return _COMMENT_OR_TEXT.sub(lambda match: match[0] if match[0][0] == '"' else _NOT_SPACE.sub(" ", match[0]), text)


def set_value(text: str, place: Sequence[str], value: Any) -> str:
    """Give the value at a place of keys; objects on the way are made. `text` must be a JSON object."""
    found, depth = _innermost(without_comments(text), place)
    for key in reversed(place[depth + 1 :]):
        value = {key: value}
    member = found.member(place[depth])
    written = _written(text, value, depth + 1)
    if member:
        return text[: member.value] + written + text[member.end :]
    return _appended(text, found, f"{json.dumps(place[depth], ensure_ascii=False)}: {written}", depth)


def add_item(text: str, place: Sequence[str], value: Any) -> str:
    """Put a value behind the others of the list at a place, which is made if need be."""
    plain = without_comments(text)
    found, depth = _innermost(plain, place)
    member = found.member(place[depth])
    if member is None or depth != len(place) - 1 or plain[member.value] != "[":
        return set_value(text, place, [value])
    inner = plain[member.value + 1 : member.end - 1]
    end = member.value + 1 + len(inner.rstrip())
    line = _newline(text) + _indent(text) * (depth + 2) if "\n" in inner else "" if not inner.strip() else " "
    comma = "," if inner.strip() and not inner.rstrip().endswith(",") else ""
    return text[:end] + comma + line + _written(text, value, depth + 2) + text[end:]


def remove_value(text: str, place: Sequence[str]) -> str:
    """Take a value out, and the objects that are empty without it."""
    found, depth = _innermost(without_comments(text), place)
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
