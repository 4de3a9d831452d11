"""A source line with carets under the span that is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.render.visible import cells, head, source_line, tail

if TYPE_CHECKING:
    from agentmux_compiler.diagnostics import Span
    from agentmux_compiler.render.paint import Paint

LINE_WIDTH = 100
BEFORE_WIDTH = 60


def gutter(span: Span | None) -> int:
    """Columns of the line number."""
    return len(str(span.line)) if span else 1


def snippet(span: Span, source: str | None, style: str, paint: Paint) -> list[str]:
    """The frame, the line and its carets; empty where the source has no such line."""
    line = _line(source, span.line)
    if line is None:
        return []
    before, marked, after = _parts(line, span)
    bar = paint("frame", "|")
    margin = " " * gutter(span)
    carets = paint(style, "^" * max(1, cells(marked)))
    return [
        f"{margin} {bar}",
        f"{paint('frame', str(span.line))} {bar} {before}{marked}{after}".rstrip(),
        f"{margin} {bar} {' ' * cells(before)}{carets}",
    ]


def _line(source: str | None, number: int) -> str | None:
    lines = (source or "").split("\n")
    if source is None or number > len(lines):
        return None
    return lines[number - 1].removesuffix("\r")


def _parts(line: str, span: Span) -> tuple[str, str, str]:
    """Text before, in and behind the span, as shown; a long line is cut around the span."""
    start = min(span.column - 1, len(line))
    end = len(line) if span.end_line > span.line else max(start, min(span.end_column - 1, len(line)))
    before = tail(source_line(line[:start]), BEFORE_WIDTH)
    marked = head(source_line(line[start:end]), LINE_WIDTH - BEFORE_WIDTH)
    room = LINE_WIDTH - cells(before) - cells(marked)
    return before, marked, head(source_line(line[end:]), max(room, 1))
