"""The stages in order: where a reader starts.

    load -> resolve -> lower (assemble, argv, files, prefix) -> diff against the baseline -> emit*, accept* -> report

Each stage takes values and returns values plus diagnostics; only the stages with * touch the disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agentmux_compiler import __version__, emit, snapshots
from agentmux_compiler.agent import Project
from agentmux_compiler.diagnostics import Diagnostic, Severity, has_errors, ordered
from agentmux_compiler.lower import lower
from agentmux_compiler.lowered import Lowered
from agentmux_compiler.lowering.output_files import filled, joined
from agentmux_compiler.lowering.workdirs import missing_workdirs
from agentmux_compiler.prefix.advice import Trial, advised
from agentmux_compiler.prefix.breakers import breakers, uncommitted
from agentmux_compiler.prefix.costs import Stated
from agentmux_compiler.prefix.diff import diff_all
from agentmux_compiler.prefix.paid_anew import paid_anew
from agentmux_compiler.report import BuildReport, DiffReport, Summary
from agentmux_compiler.resolve import resolve
from agentmux_compiler.revisions.base import prefixes_at
from agentmux_compiler.rules import BROKEN_BASE
from agentmux_compiler.scope import Scope
from agentmux_compiler.spec import load
from agentmux_compiler.tree import DiskTree, Tree, byte_order
from agentmux_compiler.writing import blocks, writes
from agentmux_compiler.writing.accept import accept, check_snapshots, foreign_files
from agentmux_compiler.writing.baseline_outputs import known_outputs
from agentmux_compiler.writing.journal import known
from agentmux_compiler.writing.ownership import outside
from agentmux_compiler.writing.write_plan import statuses

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from agentmux_compiler.agent import Settings
    from agentmux_compiler.lowered import OutputFile, PlanPrefix
    from agentmux_compiler.report import FileStatus
    from agentmux_compiler.snapshots import Baseline
    from agentmux_compiler.writing.write_plan import WritePlan

__all__ = ["BuildOptions", "Built", "Compiled", "DiffOptions", "Scope", "build", "compile_project", "diff", "run_build"]


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What `agentmux build` was asked; `today` (ISO) is what `{{DATE}}` becomes in generated files.

    Without `compare` the report says nothing of prefixes.
    """

    scope: Scope = field(default_factory=Scope)
    check: bool = False
    accept: bool = False
    force: bool = False
    today: str = ""
    compare: bool = True


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """What `agentmux diff` was asked; `base` is `snapshots`, `git:REV` or a folder."""

    scope: Scope = field(default_factory=Scope)
    base: str = "snapshots"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A project after its last pure stage: all its plans, whatever the scope of the command."""

    project: Project
    plans: tuple[Lowered, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def settings(self) -> Settings:
        return self.project.settings


@dataclass(frozen=True, slots=True)
class Built:
    """A finished build: its report, every path it looked at, and whether the date stands in what it wrote.

    `blocked` are outputs that kept it from writing anything.
    """

    report: BuildReport
    paths: tuple[str, ...] = ()
    dated: bool = False
    blocked: tuple[str, ...] = ()


def compile_project(tree: Tree) -> Compiled:
    """Sources to plans. Goes on past every error it can contain, so that one run reports them all."""
    specs, spec_found = load(tree)
    project, resolve_found = resolve(specs, tree)
    plans, lower_found = lower(project, tree)
    prefix_found = breakers(project, plans)
    found = _heard((*spec_found, *resolve_found, *lower_found, *prefix_found), project.settings)
    return Compiled(project, plans, found)


def build(root: Path, options: BuildOptions, tree: DiskTree | None = None) -> BuildReport:
    """Compile, compare with the baseline, and write what changed. With an error, nothing is written."""
    return run_build(root, options, tree).report


def run_build(
    root: Path, options: BuildOptions, tree: DiskTree | None = None, compiled: Compiled | None = None
) -> Built:
    """As `build`, with what a record of it needs.

    `tree` is read for the sources and the baseline only; `compiled` is what it was compiled to, if it was.
    """
    tree = tree or DiskTree(root)
    compiled = compiled or compile_project(tree)
    if has_errors(compiled.diagnostics):  # what a broken source leaves out would seem to be dropped
        return Built(BuildReport(compiled.diagnostics, (), _NOT_COMPARED))
    plans = compiled.plans
    baseline, found = snapshots.read(tree, compiled.settings.snapshots, [plan.prefix for plan in plans])
    accepted = snapshots.relaid(baseline.plans)
    changes = _compare(accepted, compiled, options.scope, tree) if options.compare else _NOT_COMPARED
    outputs = filled(joined(options.scope.of(plans)), plans, root, options.today)
    writing, blocked = _plan_writes(root, outputs, baseline, options)
    unreadable = () if options.accept else found  # accepting writes the baseline anew
    anew = _anew(compiled, options.scope, tree) if options.compare else ()
    unaccepted = _not_acceptable(compiled, baseline, options.scope, tree) if options.accept else []
    missing = missing_workdirs(root, compiled.project, joined(plans))
    diagnostics = ordered((*compiled.diagnostics, *unreadable, *missing, *blocked, *unaccepted, *anew))
    if options.check:
        diagnostics = ordered((*diagnostics, *_drift(writing, baseline, compiled, options.scope, tree)))
    if options.check or has_errors(diagnostics):
        blocked_paths = tuple(step.path for step in writing.blocked)
        return Built(BuildReport(diagnostics, statuses(writing, dry=True), changes), blocked=blocked_paths)
    files, refused = _emit(root, writing, compiled, baseline, options)
    written = [file.path for file in files if file.status == "written"]
    unknown = uncommitted(written, plans) if baseline.plans and (root / ".git").exists() else []
    report = BuildReport(ordered((*diagnostics, *refused, *_heard(unknown, compiled.settings))), files, changes)
    return Built(report, writing.paths, any(output.volatile for output in joined(plans)))


def diff(root: Path, options: DiffOptions) -> DiffReport:
    """Compile and compare with a baseline; write nothing."""
    tree = DiskTree(root)
    compiled = compile_project(tree)
    before, found = prefixes_at(tree, options.base, compiled, compile_project)
    broken = any(item.rule == BROKEN_BASE for item in found)
    report = _NOT_COMPARED if broken else _compare(before, compiled, options.scope, tree)
    report = replace(report, baseline=options.base)
    return replace(report, diagnostics=ordered((*compiled.diagnostics, *found, *_anew(compiled, options.scope, tree))))


_NOT_COMPARED = DiffReport("snapshots", (), Summary())


def _compare(before: Mapping[str, PlanPrefix], compiled: Compiled, scope: Scope, tree: Tree) -> DiffReport:
    """The plans against a baseline, with advice.

    There are none where sources have errors, which would make text and plans seem removed.
    """
    if has_errors(compiled.diagnostics):
        return _NOT_COMPARED
    left = {key: plan for key, plan in before.items() if scope.holds(plan.agent, plan.provider)}
    stated = Stated(compiled.settings.prefill_rate, compiled.settings.launches_per_day)
    plans = {plan.prefix.key: plan.prefix for plan in scope.of(compiled.plans)}
    report = diff_all(left, list(plans.values()), "snapshots", stated)
    return advised(report, Trial(compiled.project, tree, left, plans, stated))


def _anew(compiled: Compiled, scope: Scope, tree: Tree) -> tuple[Diagnostic, ...]:
    """What every new session pays for in any case."""
    if has_errors(compiled.diagnostics):
        return ()
    return _heard(paid_anew(compiled.project, scope.of(compiled.plans), tree), compiled.settings)


def _plan_writes(
    root: Path, outputs: tuple[OutputFile, ...], baseline: Baseline, options: BuildOptions
) -> tuple[WritePlan, list[Diagnostic]]:
    manifest, found = known(root)
    keep = emit.keep_none if options.scope.whole else outside(manifest, options.scope.holds)
    ours, tree = known_outputs(baseline), DiskTree(root)
    plan, blocked = emit.plan_writes(outputs, manifest, ours, tree, force=options.force, keep=keep)
    return plan, [*found, *blocked]


def _not_acceptable(compiled: Compiled, baseline: Baseline, scope: Scope, tree: DiskTree) -> list[Diagnostic]:
    """Why the baseline cannot be moved."""
    folder, files = compiled.settings.snapshots, snapshots.narrowed(compiled.plans, baseline, scope)
    shared = snapshots.shared_edits(compiled.plans, baseline, scope)
    agents = {plan.agent for plans in shared.values() for plan in plans}
    there = {agent.name for agent in compiled.project.agents}
    together = sorted({*scope.agents, *agents}, key=byte_order) if scope.agents and agents <= there else []
    command = " ".join(["agentmux build", *together, "--accept"])
    return [
        *foreign_files(folder, files, DiskTree(tree.root)),
        *(
            blocks.shared_snapshot(f"{folder}/segments/{name}", [plan.key for plan in shared[name]], command)
            for name in sorted(shared, key=byte_order)
        ),
    ]


def _drift(
    writing: WritePlan, baseline: Baseline, compiled: Compiled, scope: Scope, tree: DiskTree
) -> list[Diagnostic]:
    """What `--check` says; a project that never accepted a baseline has none to drift from."""
    found = emit.check(writing, DiskTree(tree.root))
    if not baseline.plans and not baseline.files:
        return found
    files = snapshots.narrowed(compiled.plans, baseline, scope)
    return [*found, *check_snapshots(compiled.settings.snapshots, files, tree)]


def _emit(
    root: Path, writing: WritePlan, compiled: Compiled, baseline: Baseline, options: BuildOptions
) -> tuple[tuple[FileStatus, ...], tuple[Diagnostic, ...]]:
    earlier, _ = known(root)
    plans = emit.launch_plans([plan.plan for plan in compiled.plans], earlier, options.scope.holds)
    manifest = emit.manifest_of(writing.outputs, plans, __version__, carried=writing.carried, folders=writing.folders)
    applied = writes.apply(root, writing, manifest)
    if not options.accept or has_errors(applied.diagnostics):
        return applied.files, applied.diagnostics
    files = snapshots.narrowed(compiled.plans, baseline, options.scope)
    accepted = accept(root, compiled.settings.snapshots, files)
    return (*applied.files, *accepted.files), (*applied.diagnostics, *accepted.diagnostics)


def _heard(diagnostics: Iterable[Diagnostic], settings: Settings) -> tuple[Diagnostic, ...]:
    """Without those that the project ignores; an error is never ignored."""
    return ordered(item for item in diagnostics if item.severity is Severity.ERROR or item.code not in settings.ignored)
