"""Conflicts that a merge left in a source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Diagnostic, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

_OURS, _BETWEEN, _THEIRS = (re.compile(each) for each in ("<{7} ", "={7}$", ">{7}(?: |$)"))
_FENCE = re.compile(" {0,3}(`{3,}|~{3,})(.*)")


def find_conflicts(path: str, text: str) -> list[Diagnostic]:
    """One AMX115 for each conflict, at its first line; in Markdown, a fenced block may show one."""
    if "<<<<<<< " not in text:
        return []
    lines = text.split("\n")
    shown = frozenset() if path.endswith((".yaml", ".yml")) else _fenced(lines)
    found: list[Diagnostic] = []
    index = 0
    while index < len(lines):
        end = _end(lines, index) if _OURS.match(lines[index]) and index not in shown else None
        if end is not None:
            found.append(_conflict(path, index + 1, end + 1))
        index = index + 1 if end is None else end + 1
    return found


def _end(lines: Sequence[str], start: int) -> int | None:
    """The last line of the conflict that begins at `start`, if one does."""
    between = next((index for index in range(start, len(lines)) if _BETWEEN.match(lines[index])), len(lines))
    return next((index for index in range(between, len(lines)) if _THEIRS.match(lines[index])), None)


def _fenced(lines: Sequence[str]) -> frozenset[int]:
    """Indices of the lines of fenced blocks; one that nothing closes goes on to the end."""
    shown: set[int] = set()
    fence = ""
    for index, line in enumerate(lines):
        match = _FENCE.match(line)
        if fence:
            shown.add(index)
            closes = match and match[1].startswith(fence) and not match[2].strip()
            fence = "" if closes else fence
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
    return frozenset(shown)


def _conflict(path: str, line: int, end: int) -> Diagnostic:
    return rules.CONFLICT_MARKER.at(
        Span(path, line),
        f"a merge conflict, up to line {end}",
        help="keep the lines that are meant, and delete the three lines that git marked them with",
    )
