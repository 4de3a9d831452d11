"""Text that is safe inside Markdown: what would be markup, HTML or a link is written as itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentmux_compiler.render.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARKUP = re.compile(r"[\\*_\[\]#~!]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "`": "&#96;", "$": "&#36;"}
_NAMED = re.compile("[" + re.escape("".join(_ENTITIES)) + "]")
# GitHub turns a bare address into a link.
_ADDRESS = re.compile(r"(?<=\w)://|(?i:\bwww\.)")


def prose(text: str) -> str:
    """A sentence in which only names between backticks are marked up, as code."""
    parts = visible(text).split("`")
    if len(parts) % 2 == 0:
        return _plain(visible(text))
    return "".join(code(part) if index % 2 else _plain(part) for index, part in enumerate(parts))


def _plain(text: str) -> str:
    named = _NAMED.sub(lambda match: _ENTITIES[match[0]], text)
    # An entity's own `#` stays.
    marked = re.sub(r"(?<!&)" + _MARKUP.pattern, lambda match: f"\\{match[0]}", named)
    return _ADDRESS.sub(lambda match: match[0].replace(":", "&#58;").replace(".", "&#46;"), marked)


def html(text: str) -> str:
    """The text in a line of HTML, where Markdown is not read."""
    return _NAMED.sub(lambda match: _ENTITIES[match[0]], visible(text))


def code(text: str) -> str:
    """The text as code, whatever it holds: a fence longer than any run of backticks in it."""
    shown = visible(text)
    if not shown:
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    pad = " " if shown.startswith(("`", " ")) or shown.endswith(("`", " ")) else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def cell(markdown: str) -> str:
    """Markdown inside a table: there a bar ends the cell, even in code."""
    return markdown.replace("|", "\\|")


def fenced(lines: Sequence[str], language: str) -> list[str]:
    """Lines as a block of code."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *lines, fence]
