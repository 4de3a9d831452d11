"""Text that a CLI removes from an instruction file before the model sees it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.segment import Segment, Text

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMENT = re.compile(r" {0,3}<!--")


def stripped(site: Site, segments: Sequence[Segment]) -> list[Diagnostic]:
    """Comments, and front matter at the very top, of text that goes into an instruction file."""
    strips, name = site.provider.instructions.strips, site.provider.name
    found: list[Diagnostic] = []
    if "block-comments" in strips:
        places = (span for segment in segments for span in comments(segment.body))
        found += [_removed(span, f"`{name}` removes this comment before the model sees it") for span in places]
    if "front-matter" in strips and segments and segments[0].text.startswith("---\n"):
        body = segments[0].body
        found.append(_removed(Span(body.path, body.line(0)), f"`{name}` takes this for front matter and removes it"))
    return found


def _removed(span: Span, message: str) -> Diagnostic:
    return rules.STRIPPED_TEXT.at(span, message, help="delete it, or use `delivery: flag`, which keeps it")


def comments(body: Text) -> Iterator[Span]:
    """Where HTML comments begin that stand on lines of their own, outside of code fences."""
    fence, inside = "", False
    for index, line in enumerate(body.text.split("\n")):
        mark = _FENCE.match(line)
        if inside:
            inside = "-->" not in line
        elif fence:
            fence = "" if mark and mark[1].startswith(fence) and not line.strip(" `~") else fence
        elif mark:
            fence = mark[1]
        elif _COMMENT.match(line):
            inside = "-->" not in line
            yield Span(body.path, body.line(index))
