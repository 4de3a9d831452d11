"""The states that the sources went through: one for each commit that touches them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentmux_compiler.pipeline import Compiled, compile_project
from agentmux_compiler.prefix.history.commits import Commit, Range, read
from agentmux_compiler.revisions.outcomes import Known, outcome_at
from agentmux_compiler.revisions.prefix_cache import SOURCES
from agentmux_compiler.trees.git_tree import GitTree, tree_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_compiler.revisions.outcomes import Fault
    from agentmux_compiler.revisions.prefix_cache import PrefixCache
    from agentmux_compiler.trees.git_objects import Objects


@dataclass(frozen=True, slots=True)
class State:
    """The sources as `commit` left them, and what they compile to."""

    commit: Commit
    tree: GitTree
    known: Known

    @property
    def fault(self) -> Fault | None:
        return self.known.outcome.fault

    @property
    def compiled(self) -> Compiled:
        """The whole compilation; made anew where only its outcome was kept."""
        return self.known.compiled or compile_project(self.tree)


@dataclass(frozen=True, slots=True)
class States:
    """States in the order of time. `before` is the state that the first commit found (None: there was none)."""

    before: State | None
    states: tuple[State, ...]


def states(span: Range, repository: Objects, cache: PrefixCache, limit: int | None) -> States:
    """One for each commit that touches the sources.

    With a `limit`, the newest so many, back to where `agents.d/` appeared; the state before them is one that compiles.
    """
    found: list[State] = []
    for commit in _newest_first(span, repository):
        tree = tree_at(repository, commit.id)
        if limit is not None and len(found) > limit and not found[-1].fault:
            return _in_time(found, begins=False)
        if limit is not None and found and tree.folder_id(SOURCES) is None:
            return _in_time(found, begins=True)
        if found and found[-1].known.ids.stand_in(tree):
            found[-1] = replace(found[-1], commit=commit)
        else:
            found.append(State(commit, tree, outcome_at(tree, cache, compile_project)))
    enough = limit is not None and len(found) > limit
    return _in_time(found, begins=span.before is None and not enough and _is_root(found))


def _newest_first(span: Range, repository: Objects) -> Iterator[Commit]:
    for id_ in span.commits:
        yield read(repository, id_)
    if span.before:
        yield span.before


def _is_root(found: list[State]) -> bool:
    """Whether nothing is before the oldest state; a shallow clone ends at a commit that has a parent."""
    return bool(found) and found[-1].commit.parent is None


def _in_time(found: list[State], *, begins: bool) -> States:
    """The oldest first; it is what the others are compared with, unless the sources begin with it."""
    ordered = tuple(reversed(found))
    if begins or not ordered:
        return States(None, ordered)
    return States(None if ordered[0].fault else ordered[0], ordered[1:])
