"""Markdown as its blocks: what a CLI makes of a text depends on where in it something stands."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token


@functools.lru_cache(maxsize=64)
def blocks(text: str) -> tuple[Token, ...]:
    """The tokens of a text. Every plan that reads a file asks for the same, so that the last texts are kept."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  most text needs no look at its Markdown

    return tuple(MarkdownIt().parse(text))
