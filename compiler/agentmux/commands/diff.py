"""`agentmux diff`: every prefix against a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux import fail_on, project
from agentmux.commands.build import accept_command
from agentmux.errors import DONE, FINDINGS
from agentmux_compiler import pipeline
from agentmux_compiler.render import View, renderer
from agentmux_compiler.render.paint import Paint

if TYPE_CHECKING:
    import argparse

    from agentmux.streams import Streams


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    limit = fail_on.parse(arguments.fail_on)
    root = project.find(arguments.project)
    agents = project.check_agents(root, arguments.agents)
    scope = pipeline.Scope(agents, project.check_providers(arguments.provider))
    report = pipeline.diff(root, pipeline.DiffOptions(scope, arguments.base))
    accept = accept_command(arguments.agents, arguments.provider) if arguments.base == "snapshots" else None
    view = View(project.source_reader(root), Paint(streams.out.color), accept)
    streams.out.write(renderer(arguments.format).diff(report, view))
    return FINDINGS if limit.reached(report.diagnostics, report.plans) else DONE
