"""Plain columns for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.render.visible import cells, visible

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from agentmux_compiler.render.paint import Paint


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], paint: Paint, right: Container[int] = ()) -> str:
    """Columns two spaces apart, as wide as their widest cell: nothing is cut. `right` holds indexes of numbers."""
    safe = [[visible(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(map(cells, column)) for column in zip(*safe, strict=True)]
    first, *others = (_line(row, widths, right) for row in safe)
    return "\n".join([paint("strong", first), *others]) + "\n"


def _line(row: Sequence[str], widths: Sequence[int], right: Container[int]) -> str:
    gaps = (" " * (width - cells(cell)) for cell, width in zip(row, widths, strict=True))
    columns = enumerate(zip(row, gaps, strict=True))
    return "  ".join(gap + cell if index in right else cell + gap for index, (cell, gap) in columns).rstrip()
