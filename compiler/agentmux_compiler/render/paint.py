"""Colour for people: a handful of named styles, which are nothing at all where colour is off."""

from __future__ import annotations

from dataclasses import dataclass

STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "help": "1;32",
    "strong": "1",
    "dim": "2",
    "frame": "1;34",
    "kept": "32",
    "lost": "31",
}


@dataclass(frozen=True, slots=True)
class Paint:
    """Writes text in a style; the text itself is never changed."""

    color: bool = False

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.color and text else text


PLAIN = Paint()
