"""`agentmux build`: compile, write what changed, report what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux import __version__, fail_on, project
from agentmux.day import today
from agentmux.errors import DONE, FINDINGS, CannotRun
from agentmux_compiler.render import View, renderer
from agentmux_compiler.render.paint import Paint
from agentmux_compiler.rules import STALE_OUTPUT, STALE_SNAPSHOT
from agentmux_compiler.scope import Scope
from agentmux_compiler.tree import DiskTree
from agentmux_compiler.writing import record

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from agentmux.streams import Streams
    from agentmux_compiler.report import BuildReport

DRIFT = {STALE_OUTPUT.code, STALE_SNAPSHOT.code}


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    if arguments.check and arguments.accept:
        raise CannotRun("`--check` and `--accept` exclude each other")
    limit = fail_on.parse(arguments.fail_on)
    root = project.find(arguments.project)
    report = _report(root, arguments)
    accept = None if arguments.accept else accept_command(arguments.agents, arguments.provider)
    view = View(project.source_reader(root), Paint(streams.out.color), accept, accepted=arguments.accept)
    streams.out.write(renderer(arguments.format).build(report, view))
    return exit_code(report, limit)


def _report(root: Path, arguments: argparse.Namespace) -> BuildReport:
    """What the record of the last build answers, where nothing changed since; else a build."""
    agents = project.check_agents(root, arguments.agents)
    scope = Scope(agents, project.check_providers(arguments.provider))
    key = record.Key(__version__, ("build", *scope.agents, "--provider", *scope.providers), today())
    plain = not (arguments.check or arguments.accept or arguments.force)
    return (record.load_fresh(root, key) if plain else None) or _built(root, arguments, scope, key)


def _built(root: Path, arguments: argparse.Namespace, scope: Scope, key: record.Key) -> BuildReport:
    from agentmux_compiler import pipeline  # noqa: PLC0415  not imported where nothing is to be done

    options = pipeline.BuildOptions(scope, arguments.check, arguments.accept, arguments.force, key.today)
    tree = DiskTree(root)
    built = pipeline.run_build(root, options, tree)
    if built.paths and not arguments.accept:
        record.save(root, key, tree.trace, built.paths, built.report, dated=built.dated)
    return built.report


def accept_command(agents: Sequence[str], providers: Sequence[str]) -> str:
    """The command that makes what was just built the baseline."""
    return " ".join(["agentmux build", *agents, *(f"--provider {provider}" for provider in providers), "--accept"])


def exit_code(report: BuildReport, limit: fail_on.FailOn) -> int:
    """Drift counts whatever the limit: `--check` asked for it by name."""
    items = (*report.diagnostics, *report.diff.diagnostics)
    drifted = any(item.code in DRIFT for item in items)
    return FINDINGS if drifted or limit.reached(items, report.diff.plans) else DONE
