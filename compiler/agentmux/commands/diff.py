"""`agentmux diff`: every prefix against a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux import fail_on, project
from agentmux.commands.build import accept_command
from agentmux.errors import DONE, FINDINGS, CannotRun
from agentmux.views import wire as wire_view
from agentmux_compiler.render import View, renderer
from agentmux_compiler.render.paint import Paint
from agentmux_compiler.rules import UNREADABLE_BASELINE

if TYPE_CHECKING:
    import argparse

    from agentmux.streams import Streams
    from agentmux_compiler.report import DiffReport


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    limit = fail_on.parse(arguments.fail_on)
    if arguments.wire:
        return wire_view.run(arguments, limit, streams)
    from agentmux_compiler import pipeline  # noqa: PLC0415  two recorded requests need none of it

    root = project.find(arguments.project)
    agents = project.check_agents(root, arguments.agents)
    scope = pipeline.Scope(agents, project.check_providers(arguments.provider))
    report = pipeline.diff(root, pipeline.DiffOptions(scope, arguments.base))
    _refuse_unusable(report)
    accept = accept_command(arguments.agents, arguments.provider) if arguments.base == "snapshots" else None
    view = View(project.source_reader(root), Paint(streams.out.color), accept)
    streams.out.write(renderer(arguments.format).diff(report, view))
    return FINDINGS if limit.reached(report.diagnostics, report.plans) else DONE


def _refuse_unusable(report: DiffReport) -> None:
    """A baseline that was named and is not there is wrong usage: without it every plan would only seem new."""
    for item in report.diagnostics:
        if item.rule == UNREADABLE_BASELINE and item.span is None:
            raise CannotRun(item.message, remedy=item.help, notes=item.notes)
