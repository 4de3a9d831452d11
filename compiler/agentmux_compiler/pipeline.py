"""The stages in order: where a reader starts.

    load -> resolve -> lower (assemble, argv, files, prefix) -> diff against the baseline -> emit*, accept* -> report

Each stage takes values and returns values plus diagnostics; only the stages with * touch the disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler import emit, snapshots
from agentmux_compiler.diagnostics import Diagnostic, has_errors, ordered
from agentmux_compiler.lower import lower
from agentmux_compiler.prefix.diff import diff_all
from agentmux_compiler.report import BuildReport, DiffReport, FileStatus
from agentmux_compiler.resolve import resolve
from agentmux_compiler.spec import load
from agentmux_compiler.tree import DiskTree, Tree

if TYPE_CHECKING:
    from pathlib import Path

    from agentmux_compiler.agent import Project, Settings
    from agentmux_compiler.lowered import Lowered


@dataclass(frozen=True, slots=True)
class Scope:
    """Which plans a command is about; empty means all."""

    agents: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()

    def holds(self, agent: str, provider: str) -> bool:
        return (not self.agents or agent in self.agents) and (not self.providers or provider in self.providers)

    @property
    def whole(self) -> bool:
        return not self.agents and not self.providers


@dataclass(frozen=True, slots=True)
class Compiled:
    """A project after its last pure stage."""

    project: Project
    plans: tuple[Lowered, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def settings(self) -> Settings:
        return self.project.settings


def compile_project(tree: Tree) -> Compiled:
    """Sources to plans. Goes on past every error it can contain, so that one run reports them all."""
    specs, spec_found = load(tree)
    project, resolve_found = resolve(specs, tree)
    plans, lower_found = lower(project, tree)
    return Compiled(project, plans, ordered((*spec_found, *resolve_found, *lower_found)))


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What `agentmux build` was asked."""

    scope: Scope = Scope()
    check: bool = False
    accept: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """What `agentmux diff` was asked; `base` is `snapshots`, `git:REV` or a folder."""

    scope: Scope = Scope()
    base: str = "snapshots"


def build(root: Path, options: BuildOptions) -> BuildReport:
    """Compile, compare with the baseline, and write what changed. With an error, nothing is written."""
    raise NotImplementedError


def diff(root: Path, options: DiffOptions) -> DiffReport:
    """Compile and compare with a baseline; write nothing."""
    raise NotImplementedError
