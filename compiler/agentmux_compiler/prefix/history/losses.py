"""What a step from one state of the plans to the next has cost, plan by plan and in all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.diff import diff
from agentmux_compiler.report import PlanDiff
from agentmux_compiler.rules import CACHE_KEY_CHANGED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_compiler.lowered import PlanPrefix

SCENARIOS = ("relaunch", "new_prompt", "resume")
TEXT = "text"
MEASURES = (TEXT, *SCENARIOS)


@dataclass(frozen=True, slots=True)
class Loss:
    """Sums over plans. `tokens` of `text` that no longer match, and lost in each kind of session.

    `usd` is what those tokens cost more than before, where a price is known; `unknown` and `unpriced` count the plans
    of which nobody knows the tokens, or the price. `sessions` are the tokens lost to new sessions with prompts of
    their own; where nobody knows the backend, those of the text.
    """

    tokens: Mapping[str, int]
    usd: Mapping[str, float]
    unknown: int = 0
    unpriced: int = 0
    sessions: int = 0

    def __add__(self, other: Loss) -> Loss:
        return Loss(
            tokens={name: self.tokens[name] + other.tokens[name] for name in MEASURES},
            usd={name: round(self.usd[name] + other.usd[name], 6) for name in SCENARIOS},
            unknown=self.unknown + other.unknown,
            unpriced=self.unpriced + other.unpriced,
            sessions=self.sessions + other.sessions,
        )


NOTHING = Loss(dict.fromkeys(MEASURES, 0), dict.fromkeys(SCENARIOS, 0.0))


def loss_of(plan: PlanDiff) -> Loss:
    """What one plan loses."""
    text = plan.text.tokens_total - plan.text.tokens_kept
    known = {name: item for name, item in plan.scenarios.items() if item is not None and item.lost is not None}
    anew = known.get("new_prompt")
    return Loss(
        tokens={TEXT: text, **{name: (known[name].lost or 0) if name in known else 0 for name in SCENARIOS}},
        usd={name: (known[name].usd or 0.0) if name in known else 0.0 for name in SCENARIOS},
        unknown=int(len(known) < len(SCENARIOS)),
        unpriced=int(any(item.lost and item.usd is None for item in known.values())),
        sessions=_text_lost(plan) if anew is None else anew.lost or 0,
    )


def _text_lost(plan: PlanDiff) -> int:
    """All of the text where the cache is asked under another key."""
    keyed = any(change.code == CACHE_KEY_CHANGED.code and not change.masked for change in plan.changes)
    return plan.text.tokens_total - (0 if keyed else plan.text.tokens_kept)


def total(losses: Iterable[Loss]) -> Loss:
    return sum(losses, NOTHING)


@dataclass(frozen=True, slots=True)
class Step:
    """`diffs` are the plans that changed; `new` and `removed` count the others that are not in both states."""

    diffs: tuple[PlanDiff, ...]
    plans: int
    new: int
    removed: int

    @property
    def loss(self) -> Loss:
        return total(map(loss_of, self.diffs))


def step(before: Mapping[str, PlanPrefix], after: Mapping[str, PlanPrefix]) -> Step:
    """From one state to the next. Both map `AGENT/PROVIDER`, or what it has become, to plans."""
    both = [key for key in after if key in before]
    changed = (key for key in both if not same(before[key], after[key]))
    diffs = tuple(diff(before[key], after[key]) for key in changed)
    return Step(diffs, len(after), len(after) - len(both), len(before) - len(both))


def same(before: PlanPrefix, after: PlanPrefix) -> bool:
    """Whether a backend would see no difference; places in the sources do not count."""
    if before == after:
        return True
    left, right = (replace(plan, agent="", places={}, segments=()) for plan in (before, after))
    return left == right and [_seen(item) for item in before.segments] == [_seen(item) for item in after.segments]


def _seen(segment: object) -> tuple[object, ...]:
    return tuple(getattr(segment, name) for name in ("layer", "name", "text", "size", "varies_with", "breakpoint"))
