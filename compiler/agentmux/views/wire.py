"""`agentmux diff --wire A.json B.json`: two recorded requests, wherever they lie; no project is needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.errors import CANNOT_RUN, DONE, FINDINGS, CannotRun
from agentmux_compiler.render import View, renderer
from agentmux_compiler.render.paint import Paint

if TYPE_CHECKING:
    import argparse

    from agentmux.fail_on import FailOn
    from agentmux.streams import Streams

# What chooses plans or another baseline says nothing of two files.
_OF_PROJECTS = {"agents": "AGENT", "provider": "--provider", "base": "--base", "project": "--project"}


def run(arguments: argparse.Namespace, limit: FailOn, streams: Streams) -> int:
    """Compare the two files of `--wire`."""
    given = [name for field, name in _OF_PROJECTS.items() if getattr(arguments, field) not in (None, [], "snapshots")]
    if given:
        raise CannotRun(f"`--wire` takes two files and no `{given[0]}`")
    from agentmux_compiler.wire import diff_requests, read_pair, texts  # noqa: PLC0415  slow, and of this option alone

    before, after = map(Path, arguments.wire)
    pair, found = read_pair(before, after)
    view = View(paint=Paint(streams.out.color))
    if pair is None:
        streams.out.write(renderer(arguments.format).diagnostics(found, view))
        return CANNOT_RUN
    report = diff_requests(*pair)
    view = View(texts(pair[1]).get, view.paint)
    streams.out.write(renderer(arguments.format).diff(report, view))
    return FINDINGS if limit.reached(report.diagnostics, report.plans) else DONE
