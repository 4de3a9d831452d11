"""Values out of frames that may have any shape."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LARGEST_COUNT = 10**15


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list."""
    return [item for item in sequence(value) if isinstance(item, dict)]


def string(value: Any) -> str | None:
    """A text that says something."""
    return value if isinstance(value, str) and value else None


def first(*values: Any) -> str | None:
    """The first of these that is a text which says something."""
    for value in values:
        if isinstance(value, str) and value:
            return value
    return None


def count(value: Any) -> int | None:
    """A number of things: no sign, no fraction."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    plausible = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT
    return value if plausible else None


def milliseconds(value: Any) -> int | None:
    return count(float(round(value))) if isinstance(value, float) and abs(value) < LARGEST_COUNT else count(value)


def number(value: Any) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST_COUNT
    return float(value) if good else None


def shown(value: Any) -> str:
    """A tool's output as text: the text blocks of a list, the kind of any other block, else JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_block(item) for item in value)
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _block(value: Any) -> str:
    block = mapping(value)
    if isinstance(block.get("text"), str):
        return str(block["text"])
    kind = string(block.get("type"))
    return f"[{kind}]" if kind else shown(value)


def parsed(text: Any) -> Any:
    """A tool's input: the value of a JSON text, `{}` of an empty one, the text itself where it is no JSON."""
    if not isinstance(text, str):
        return {} if text is None else text
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return text
