"""Folders that agents should run in and that are not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler import rules

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from agentmux_compiler.agent import Project
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowered import OutputFile


def missing_workdirs(root: Path, project: Project, outputs: Iterable[OutputFile]) -> list[Diagnostic]:
    """Each `workdir` that is no folder on disk, and that no output will make one."""
    paths = [output.path for output in outputs]
    missing = {
        agent.place("workdir"): agent.workdir
        for agent in project.agents
        if not (root / agent.workdir).is_dir() and not any(path.startswith(f"{agent.workdir}/") for path in paths)
    }
    return [
        rules.MISSING_SOURCE.at(place, f"there is no folder `{path}`", help="make it, or correct `workdir`")
        for place, path in missing.items()
    ]
