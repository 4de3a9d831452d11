"""The core schema of YAML 1.2: what a plain scalar means."""

from __future__ import annotations

import math
import re

_WORDS = {"null": None, "true": True, "false": False, "": None, "~": None}
_WORD = re.compile(r"~?|null|Null|NULL|true|True|TRUE|false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_BASED = re.compile(r"0(?:o[0-7]{1,20}|x[0-9a-fA-F]{1,15})")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"([-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def core_value(text: str) -> str | int | float | bool | None:
    """What a plain scalar means in the core schema of YAML 1.2, whatever version a directive claims."""
    if _WORD.fullmatch(text):
        return _WORDS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    special = _SPECIAL.fullmatch(text)
    if special:
        return math.nan if special[1] is None else float(f"{special[1]}inf")
    return text
