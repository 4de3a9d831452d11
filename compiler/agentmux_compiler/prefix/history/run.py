"""The history of a project: from a range of commits to what they have cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.prefix.history.advice import cheapest, moves
from agentmux_compiler.prefix.history.commits import commits, has_beginning, is_shallow
from agentmux_compiler.prefix.history.culprits import culprits, merged
from agentmux_compiler.prefix.history.losses import Step, step, total
from agentmux_compiler.prefix.history.replay import Tape, tape
from agentmux_compiler.prefix.history.report import CommitCost, History, Skipped
from agentmux_compiler.prefix.history.states import State, States, states
from agentmux_compiler.revisions.prefix_cache import prefix_cache
from agentmux_compiler.trees.git_objects import objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.report import PlanDiff

LIMIT = 50
HEAD = "HEAD"


def history(root: Path, text: str | None = None, holds: Callable[[PlanPrefix], bool] = lambda _: True) -> History:
    """Compile every commit of a range that touches the sources, and say what each has cost.

    `text` is a range (`A..B`), or a revision: then its last 50 commits that touch the sources, as those of HEAD
    without any. `holds` says which plans are looked at.

    Raises:
        GitError: no git, no repository, no such range.
    """
    asked = text or HEAD
    with objects(root) as repository, prefix_cache(root) as cache:
        span = commits(root, repository, asked)
        found = states(span, repository, cache, None if has_beginning(asked) else LIMIT)
        return _history(asked, is_shallow(root), found, tape(_all(found), cache, holds))


def _all(found: States) -> tuple[State, ...]:
    return (*((found.before,) if found.before else ()), *found.states)


def _history(asked: str, shallow: bool, found: States, played: Tape) -> History:
    steps = [step(*pair) for pair in played.pairs()]
    costs = tuple(_costs(found, played, steps))
    loss = total(cost.loss for cost in costs)
    diffs = [plan for each in steps for plan in each.diffs]
    return History(
        range=asked,
        shallow=shallow,
        before=found.before.commit if found.before else None,
        commits=costs,
        skipped=tuple(Skipped(state.commit, state.fault) for state in found.states if state.fault),
        loss=loss,
        culprits=merged(cost.culprits for cost in costs),
        replay=cheapest(played, loss) if diffs else None,
        moves=moves(played) if diffs else (),
        price_as_of=next((plan.price_as_of for plan in diffs if plan.price_as_of), None),
        methods=_methods(diffs),
    )


def _costs(found: States, played: Tape, steps: Sequence[Step]) -> Iterator[CommitCost]:
    """The first state of all has nothing to be compared with: all its plans are new."""
    if played.states and not found.before:
        plans = len(played.plans(played.states[0]))
        steps = (Step((), plans, plans, 0), *steps)
    for state, each in zip(played.states[-len(steps) :] if steps else (), steps, strict=True):
        yield CommitCost(
            commit=state.commit,
            plans=each.plans,
            changed=len(each.diffs),
            new=each.new,
            removed=each.removed,
            loss=each.loss,
            culprits=culprits(each.diffs),
        )


def _methods(plans: Iterable[PlanDiff]) -> Mapping[str, float | None]:
    """How tokens were counted, each with the widest bound of its error in per cent (None: one is unknown)."""
    bounds: dict[str, list[float | None]] = {}
    for plan in plans:
        bounds.setdefault(plan.text.method, []).append(plan.text.error_pct)
    return {method: _widest(found) for method, found in sorted(bounds.items())}


def _widest(bounds: Sequence[float | None]) -> float | None:
    known = [bound for bound in bounds if bound is not None]
    return max(known) if len(known) == len(bounds) else None
