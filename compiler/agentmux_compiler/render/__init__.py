"""One module per output format; each renders diagnostics, a build and a diff to text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from agentmux_compiler.render.paint import PLAIN, Paint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.report import BuildReport, DiffReport

FORMATS = {
    "full": "full",
    "concise": "concise",
    "json": "machine",
    "github": "github",
    "sarif": "sarif",
    "markdown": "markdown",
}


def no_source(_path: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class View:
    """How a report is looked at: where source text comes from, colour, and the command that accepts the changes.

    `accepted` says that the report is of a build that has just done so.
    """

    source: Callable[[str], str | None] = no_source
    paint: Paint = PLAIN
    accept: str | None = None
    accepted: bool = False


class Renderer(Protocol):
    """What every format's module offers; the text ends with a newline unless it is empty."""

    def diagnostics(self, items: Sequence[Diagnostic], view: View) -> str: ...

    def build(self, report: BuildReport, view: View) -> str: ...

    def diff(self, report: DiffReport, view: View) -> str: ...


def renderer(name: str) -> Renderer:
    """The module of a format, imported only when it is asked for.

    Raises:
        KeyError: no such format.
    """
    return cast("Renderer", import_module(f"{__name__}.{FORMATS[name]}"))


if TYPE_CHECKING:
    from agentmux_compiler.render import concise, full, github, machine, markdown, sarif

    _ALL_RENDER: tuple[Renderer, ...] = (full, concise, machine, github, sarif, markdown)
