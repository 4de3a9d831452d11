"""Numbers and counts as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_compiler.diagnostics import Diagnostic


def number(value: int) -> str:
    """Thousands separated by commas, whatever the locale."""
    return f"{value:,}"


def count(value: int, noun: str, plural: str | None = None) -> str:
    return f"{number(value)} {noun if value == 1 else plural or noun + 's'}"


def listed(items: Iterable[str]) -> str:
    """`a`, `a and b`, or `a, b and c`."""
    *front, last = items
    return f"{', '.join(front)} and {last}" if front else last


def found(items: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`; empty where nothing was found. Notes are not counted."""
    severities = [item.severity.value for item in items]
    counts = ((severities.count(name), name) for name in ("error", "warning"))
    return ", ".join(count(total, name) for total, name in counts if total)


def whole(item: Diagnostic) -> str:
    """Message, remedy and notes as lines of one text."""
    remedy = [f"help: {item.help}"] if item.help else []
    return "\n".join([item.message, *remedy, *(f"note: {note}" for note in item.notes)])
