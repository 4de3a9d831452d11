"""The prefixes that a diff compares with: the snapshots, a git revision, or a project in another folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentmux_compiler import rules, snapshots
from agentmux_compiler.revisions.source_ids import ids_on_disk
from agentmux_compiler.tree import DiskTree
from agentmux_compiler.trees.git_objects import GitError
from agentmux_compiler.trees.git_tree import revision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.pipeline import Compiled
    from agentmux_compiler.revisions.outcomes import Outcome
    from agentmux_compiler.tree import Tree

    Prefixes = tuple[Mapping[str, PlanPrefix], list[Diagnostic]]
    Compile = Callable[[Tree], Compiled]

GIT = "git:"


def prefixes_at(tree: DiskTree, base: str, current: Compiled, compile_tree: Compile) -> Prefixes:
    """Plans by `AGENT/PROVIDER` at `base`: `snapshots`, `git:REV`, or a folder (a project, or one of snapshots).

    `tree` is what `current` was compiled from. Sources of another revision or folder are compiled in memory; where
    that fails, there is one error and no plan.
    """
    if base == "snapshots":
        return _accepted(DiskTree(tree.root), current.settings.snapshots, current)
    if base.startswith(GIT):
        return _revision(tree, base, current, compile_tree)
    return _folder(Path(base), base, current, compile_tree)


def _folder(folder: Path, base: str, current: Compiled, compile_tree: Compile) -> Prefixes:
    """A project, whatever else it holds; else a folder of snapshots."""
    from agentmux_compiler.revisions.outcomes import outcome_of  # noqa: PLC0415  it stands above the pipeline

    if (folder / "agents.d").is_dir():
        compiled = compile_tree(DiskTree(folder))
        return _outcome(base, outcome_of((plan.prefix for plan in compiled.plans), compiled.diagnostics))
    if not (folder / "plans").is_dir():
        return {}, [_unusable(base, "it holds neither `agents.d/` nor `plans/`")]
    plans, found = _accepted(DiskTree(folder.parent), folder.name, current)
    if not plans and not found:
        return {}, [_unusable(base, "it holds no `agents.d/`, and its `plans/` holds no plan")]
    return plans, found


def _accepted(tree: Tree, folder: str, current: Compiled) -> Prefixes:
    baseline, found = snapshots.read(tree, folder, [plan.prefix for plan in current.plans])
    return snapshots.relaid(baseline.plans), found


def _revision(tree: DiskTree, base: str, current: Compiled, compile_tree: Compile) -> Prefixes:
    from agentmux_compiler.revisions.outcomes import outcome_at  # noqa: PLC0415  it stands above the pipeline
    from agentmux_compiler.revisions.prefix_cache import prefix_cache  # noqa: PLC0415  it brings a database

    try:
        with revision(tree.root, base.removeprefix(GIT)) as then:
            if then.top and ids_on_disk(tree, then.top).stand_in(then):
                return _by_key(plan.prefix for plan in current.plans), []
            with prefix_cache(tree.root) as cache:
                return _outcome(base, outcome_at(then, cache, compile_tree).outcome)
    except GitError as error:
        return {}, [_unusable(base, str(error))]


def _outcome(base: str, outcome: Outcome) -> Prefixes:
    """The plans, unless the sources have errors: text and plans that are missing would seem new."""
    fault = outcome.fault
    if fault is None:
        return _by_key(outcome.plans), []
    at = f" in `{fault.path}`, line {fault.line}" if fault.path else ""
    message = f"the sources at `{base}` do not compile, so there is nothing to compare with"
    total = "1 error" if fault.errors == 1 else f"{fault.errors:,} errors, the first"
    note = f"{total}: {fault.code}{at}: {fault.message}"
    return {}, [rules.BROKEN_BASE.at(None, message, help="choose another base with `--base`", notes=[note])]


def _by_key(plans: Iterable[PlanPrefix]) -> dict[str, PlanPrefix]:
    return {plan.key: plan for plan in plans}


def _unusable(base: str, reason: str) -> Diagnostic:
    return rules.UNREADABLE_BASELINE.at(None, f"no baseline at `{base}`: {reason}", help="name one with `--base`")
