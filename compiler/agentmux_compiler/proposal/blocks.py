"""Markdown as blocks that may become bundles of their own: paragraphs, lists and code, cut at empty lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
SECTION = 2  # the deepest heading that begins a section


def blocks(text: str) -> tuple[str, ...]:
    r"""Cut a text at its empty lines, but never inside of a code fence or a comment.

    `text` ends with one newline, and so does each block. One empty line between two blocks belongs to neither;
    further ones, and lines of nothing but spaces, open the second. So `"\n".join(blocks(text)) == text`.
    """
    found: list[str] = []
    current: list[str] = []
    closing = ""
    for line in text.split("\n")[:-1]:
        if line or closing or not _says_something(current):
            current.append(line)
        else:
            found.append("\n".join(current) + "\n")
            current = []
        closing = _still_open(line, closing)
    last = [found.pop().removesuffix("\n"), ""] if found and not _says_something(current) else []
    return (*found, "\n".join([*last, *current]) + "\n")


def _says_something(lines: Sequence[str]) -> bool:
    """Whether a bundle of these lines would leave a trace."""
    return any(line.strip() for line in lines)


def _still_open(line: str, closing: str) -> str:
    """What will close the fence or comment that is open behind this line, empty where none is."""
    if closing == "-->":
        return "" if "-->" in line else closing
    fence = _FENCE.match(line)
    if closing:
        return "" if fence and fence[1].startswith(closing) and not line.strip(" \t`~") else closing
    if fence:
        return fence[1]
    return "-->" if "<!--" in line and "-->" not in line.rpartition("<!--")[2] else ""


def heading(block: str) -> tuple[int, str] | None:
    """Level and text of the heading that a block begins with."""
    found = _HEADING.fullmatch(block.lstrip("\n").partition("\n")[0])
    return (len(found[1]), found[2]) if found else None


def is_heading(block: str) -> bool:
    """Whether a block is a heading and nothing else."""
    return heading(block) is not None and block.strip("\n").count("\n") == 0


def sections(group: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Consecutive blocks by the section they are in; the first may begin without a heading."""
    found: list[list[str]] = []
    for block in group:
        opens = heading(block)
        if not found or (opens is not None and opens[0] <= SECTION):
            found.append([])
        found[-1].append(block)
    return tuple(map(tuple, found))


def joined(group: Sequence[str]) -> str:
    return "\n".join(group)
