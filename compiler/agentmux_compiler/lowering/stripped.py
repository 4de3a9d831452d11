"""Text that a CLI removes from an instruction file before the model sees it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowering.markdown import blocks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.segment import Segment, Text

COMMENTS, FRONT_MATTER = "block-comments", "front-matter"
_OPENING, _CLOSING = "<!--", "-->"
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FRONT_MATTER = re.compile(r"---\n(?:.*?\n)?---(?:\n|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines `start` to `end` (from 0, the end excluded) that begin with a comment; `rest` is what stays of them."""

    start: int
    end: int
    rest: str


def stripped(site: Site, segments: Sequence[Segment], *, headed: bool) -> list[Diagnostic]:
    """Comments, and front matter at the very top, of text that goes into an instruction file.

    Behind our header nothing is front matter: measured, Claude Code 2.1.332, 2026-11-30.
    """
    strips, name = site.provider.instructions.strips, site.provider.name
    found: list[Diagnostic] = []
    if COMMENTS in strips:
        places = (span for segment in segments for span in comments(segment.body))
        found += [_removed(span, f"`{name}` removes this comment before the model sees it") for span in places]
    if not headed and FRONT_MATTER in strips and segments and segments[0].text.startswith("---\n"):
        body = segments[0].body
        found.append(_removed(Span(body.path, body.line(0)), f"`{name}` takes this for front matter and removes it"))
    return found


def _removed(span: Span, message: str) -> Diagnostic:
    return rules.STRIPPED_TEXT.at(span, message, help="delete it, or use `delivery: flag`, which keeps it")


def comments(body: Text) -> Iterator[Span]:
    """Where HTML comments begin that are blocks of their own, not within a list, a quote or code."""
    for block in _blocks(body.text):
        yield Span(body.path, body.line(block.start))


def as_read(strips: Collection[str], body: Text, *, top: bool) -> Text:
    """A text as it is left by a CLI that `strips`; `top`: it stands at the very beginning of its file.

    A comment goes with the blank lines behind it, and what follows it on its last line stays: measured, Claude Code
    2.1.332, 2026-11-30.
    """
    read = _without_front_matter(body) if top and FRONT_MATTER in strips else body
    return _without_comments(read) if COMMENTS in strips else read


def _without_front_matter(body: Text) -> Text:
    found = _FRONT_MATTER.match(body.text)
    if not found:
        return body
    count = body.text.count("\n", 0, found.end())
    return replace(body, text=body.text[found.end() :], lines=body.lines[count:])


def _without_comments(body: Text) -> Text:
    lines, origins = body.text.splitlines(keepends=True), list(body.lines)
    for block in reversed(list(_blocks(body.text))):
        end = block.end
        while not block.rest and end < len(lines) and not lines[end].strip():
            end += 1
        rest = block.rest.splitlines(keepends=True)
        lines[block.start : end] = rest
        origins[block.start : end] = [body.line(block.end - 1)] * len(rest)
    return replace(body, text="".join(lines), lines=tuple(origins))


def _blocks(text: str) -> Iterator[_Block]:
    if _OPENING not in text:
        return
    for token in blocks(text):
        begins = token.type == "html_block" and token.level == 0 and token.content.lstrip().startswith(_OPENING)
        if begins and token.map and _CLOSING in token.content:
            rest = _COMMENT.sub("", token.content)
            yield _Block(token.map[0], token.map[1], rest if rest.strip() else "")
