"""The prefixes that a diff compares with: the snapshots, a git revision, or a project in another folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentmux_compiler import rules, snapshots
from agentmux_compiler.git_objects import GitError
from agentmux_compiler.git_tree import revision
from agentmux_compiler.tree import DiskTree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.pipeline import Compiled
    from agentmux_compiler.tree import Tree

    Prefixes = tuple[Mapping[str, PlanPrefix], list[Diagnostic]]
    Compile = Callable[[Tree], Compiled]

GIT = "git:"


def prefixes_at(root: Path, base: str, current: Compiled, compile_tree: Compile) -> Prefixes:
    """Plans by `AGENT/PROVIDER` at `base`: `snapshots`, `git:REV`, or a folder (a project, or one of snapshots).

    Sources of another revision or folder are compiled in memory; what is wrong with them is reported as one error.
    """
    if base == "snapshots":
        return _accepted(DiskTree(root), current.settings.snapshots, current)
    if base.startswith(GIT):
        return _revision(root, base, compile_tree)
    folder = Path(base)
    if (folder / "plans").is_dir():
        return _accepted(DiskTree(folder.parent), folder.name, current)
    if not (folder / "agents.d").is_dir():
        return {}, [_unusable(base, "it holds neither `agents.d/` nor `plans/`")]
    return _compiled(compile_tree(DiskTree(folder)))


def _accepted(tree: Tree, folder: str, current: Compiled) -> Prefixes:
    baseline, found = snapshots.read(tree, folder, [plan.prefix for plan in current.plans])
    return baseline.plans, found


def _revision(root: Path, base: str, compile_tree: Compile) -> Prefixes:
    try:
        with revision(root, base.removeprefix(GIT)) as tree:
            return _compiled(compile_tree(tree))
    except GitError as error:
        return {}, [_unusable(base, str(error))]


def _compiled(compiled: Compiled) -> Prefixes:
    return {plan.prefix.key: plan.prefix for plan in compiled.plans}, []


def _unusable(base: str, reason: str) -> Diagnostic:
    return rules.UNREADABLE_BASELINE.at(None, f"no baseline at `{base}`: {reason}", help="name one with `--base`")
