"""What compiling the sources of one revision came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import Severity
from agentmux_compiler.lowered import PlanPrefix
from agentmux_compiler.pipeline import Compiled
from agentmux_compiler.revisions.source_ids import Recorded, SourceIds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.revisions.prefix_cache import PrefixCache
    from agentmux_compiler.tree import Tree
    from agentmux_compiler.trees.git_tree import GitTree


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a project does not compile: how many errors, and the first of them."""

    errors: int
    code: str
    message: str
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What compiling a project came to; with a fault the plans may lack text, or be missing."""

    plans: tuple[PlanPrefix, ...]
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """An outcome, what was read for it, and the whole compilation unless it came out of the cache."""

    outcome: Outcome
    ids: SourceIds
    compiled: Compiled | None = None


def outcome_at(tree: GitTree, cache: PrefixCache, compile_tree: Callable[[Tree], Compiled]) -> Known:
    """Compile the sources of a revision, unless that was done before."""
    known = cache.find(tree)
    if known:
        return Known(*known)
    recorded = Recorded(tree)
    compiled = compile_tree(recorded)
    outcome = outcome_of((plan.prefix for plan in compiled.plans), compiled.diagnostics)
    found = Known(outcome, recorded.ids, compiled)
    cache.keep(tree, found.ids, found.outcome)
    return found


def outcome_of(plans: Iterable[PlanPrefix], diagnostics: Iterable[Diagnostic]) -> Outcome:
    errors = [item for item in diagnostics if item.severity is Severity.ERROR]
    if not errors:
        return Outcome(tuple(plans))
    first, span = errors[0], errors[0].span
    at = (span.path, span.line) if span else (None, None)
    return Outcome(tuple(plans), Fault(len(errors), first.code, first.message, *at))
