"""`agentmux prefix`: who shares which prefix; what the edits of a range have cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux import project
from agentmux.errors import DONE, FINDINGS, CannotRun
from agentmux_compiler.diagnostics import Severity
from agentmux_compiler.render import View, full
from agentmux_compiler.render.paint import Paint
from agentmux_compiler.scope import Scope
from agentmux_compiler.tree import DiskTree

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from agentmux.streams import Streams


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    root = project.find(arguments.project)
    scope = Scope((), project.check_providers(arguments.provider))
    shown = _sharing if arguments.history is None else _history
    return shown(root, scope, arguments, streams)


def _sharing(root: Path, scope: Scope, arguments: argparse.Namespace, streams: Streams) -> int:
    from agentmux.views import sharing as sharing_view  # noqa: PLC0415  a history needs none of it
    from agentmux_compiler.pipeline import compile_project  # noqa: PLC0415
    from agentmux_compiler.prefix.sharing import sharing  # noqa: PLC0415

    tree = DiskTree(root)
    compiled = compile_project(tree)
    errors = [item for item in compiled.diagnostics if item.severity is Severity.ERROR]
    if errors:
        streams.err.write(full.diagnostics(errors, View(project.source_reader(root), Paint(streams.err.color))))
        return FINDINGS
    plans = [plan.prefix for plan in compiled.plans]
    found = sharing(compiled.project, plans, tree, lambda plan: scope.holds(plan.agent, plan.provider))
    if arguments.format == "json":
        streams.out.write(sharing_view.as_json(found))
    else:
        streams.out.write(sharing_view.for_people(found, Paint(streams.out.color)))
    return DONE


def _history(root: Path, scope: Scope, arguments: argparse.Namespace, streams: Streams) -> int:
    from agentmux.views import history as history_view  # noqa: PLC0415  a tree needs none of it
    from agentmux_compiler.prefix.history.run import history  # noqa: PLC0415
    from agentmux_compiler.trees.git_objects import GitError  # noqa: PLC0415

    try:
        found = history(root, arguments.history or None, lambda plan: scope.holds(plan.agent, plan.provider))
    except GitError as error:
        remedy = "name a range, such as `HEAD~20..HEAD`, or a revision" if arguments.history else None
        raise CannotRun(f"there is no history to read: {error}", remedy=remedy) from None
    if arguments.format == "json":
        streams.out.write(history_view.as_json(found))
    else:
        streams.out.write(history_view.for_people(found, Paint(streams.out.color)))
    return DONE
