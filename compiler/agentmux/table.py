"""Plain columns for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.render.visible import cells, padded, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_compiler.render.paint import Paint


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], paint: Paint) -> str:
    """Left-aligned columns, two spaces apart; as wide as their widest cell, nothing is cut."""
    safe = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(cells, column)) for column in zip(heads, *safe, strict=True)]
    lines = [_line(row, widths) for row in (heads, *safe)]
    return "\n".join([paint("strong", lines[0]), *lines[1:]]) + "\n"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
