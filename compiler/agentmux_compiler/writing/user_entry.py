"""Add an entry to the text of a settings file of the user's own, in JSON or TOML; all that stands there stays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentmux_compiler.writing.json_text import add_item, set_value, without_comments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Place = tuple[str, ...]
Leaf = tuple[Place, Any]


class NotAddableError(Exception):
    """The entry cannot stand in the file; the message says why."""


class ContraryError(NotAddableError):
    """The file says the contrary: its user has chosen."""


def holds(name: str, text: str, entry: str) -> bool:
    """Whether what an entry says stands in a text already. Numbers are times, which say nothing.

    Raises:
        ContraryError: the text says the contrary.
        NotAddableError: it is not in the language of the file's `name`.
    """
    have, want = _parsed(name, text), _parsed(name, entry)
    return all(_stands(have, leaf) for leaf in _leaves(want))


def added(name: str, text: str, entry: str) -> str:
    """The text with the entry in it, in the language that the file's `name` says.

    Raises:
        NotAddableError: as `holds`, or there is no way to add it and leave all else as it is.
    """
    if holds(name, text, entry):
        return text
    if not text.strip():
        return entry.rstrip() + "\n"
    made = _appended(text, entry) if _is_toml(name) else _set(text, json.loads(entry))
    wanted = _merged(_parsed(name, text), _parsed(name, entry))
    try:
        whole = _parsed(name, made) == wanted
    except NotAddableError:
        whole = False
    if not whole:
        raise NotAddableError("the way it is written leaves no place for another entry")
    return made


def _is_toml(name: str) -> bool:
    return name.endswith(".toml")


def _parsed(name: str, text: str) -> dict[str, Any]:
    load = _toml if _is_toml(name) else _loaded
    try:
        value = load(text) if text.strip() else {}
    except ValueError as error:
        raise NotAddableError(f"it cannot be read: {error}") from None
    except RecursionError:
        raise NotAddableError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise NotAddableError("it is not an object")
    return value


def _toml(text: str) -> Any:
    import tomllib  # noqa: PLC0415  few CLIs have their settings in it

    return tomllib.loads(text)


def _loaded(text: str) -> Any:
    return json.loads(without_comments(text))


def _leaves(value: Mapping[str, Any], above: Place = ()) -> Iterator[Leaf]:
    for key, item in value.items():
        if isinstance(item, dict):
            yield from _leaves(item, (*above, key))
        else:
            yield (*above, key), item


def _stands(have: Mapping[str, Any], leaf: Leaf) -> bool:
    place, wanted = leaf
    value: Any = have
    for key in place:
        if not isinstance(value, dict):
            raise ContraryError(f"it has something else at `{'.'.join(place)}`")
        if key not in value:
            return False
        value = value[key]
    if isinstance(wanted, list) and isinstance(value, list):
        return all(item in value for item in wanted)
    if value == wanted or (_is_number(value) and _is_number(wanted)):
        return True
    raise ContraryError(f"it has something else at `{'.'.join(place)}`")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _set(text: str, entry: Mapping[str, Any]) -> str:
    for place, wanted in _leaves(entry):
        if not isinstance(wanted, list):
            text = text if _stands(_loaded(text), (place, wanted)) else set_value(text, place, wanted)
            continue
        for item in wanted:
            text = text if _stands(_loaded(text), (place, [item])) else add_item(text, place, item)
    return text


def _appended(text: str, entry: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    between = newline if text.endswith("\n") else newline * 2
    return text + between + entry.replace("\n", newline)


def _merged(have: Any, want: Any) -> Any:
    if isinstance(have, dict) and isinstance(want, dict):
        return have | {key: _merged(have[key], item) if key in have else item for key, item in want.items()}
    if isinstance(have, list) and isinstance(want, list):
        return have + [item for item in want if item not in have]
    return have if _is_number(have) else want
