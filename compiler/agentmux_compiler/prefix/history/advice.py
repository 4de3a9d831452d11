"""What would have cost less: another order, or a text in front of a breakpoint; each tried on the same commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.agent import Delivery
from agentmux_compiler.prefix.costs import caching_of, terms_of
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.history.losses import Loss, step, total
from agentmux_compiler.prefix.history.rates import rates
from agentmux_compiler.prefix.history.replay import NotCompilingError, Variation, delivered
from agentmux_compiler.prefix.history.report import Move, Replay
from agentmux_compiler.prefix.order import Order, alternatives, ranked, reordered
from agentmux_compiler.prefix.scenarios import scenarios
from agentmux_compiler.providers import load_provider

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.prefix.history.replay import Plans, Tape

# The part of a loss, one in so many, below which no other order is worth a change.
WORTH_SAYING = 100


def cheapest(tape: Tape, before: Loss) -> Replay | None:
    """The order that the rule of neighbours gives, if the commits lost less, by 1 %, when they were compiled in it.

    If they did not, that of the bundles alone, or that of the sections. An order that sessions with the same prompt
    would pay for is none.
    """
    replays = (_replayed(order, tape, before) for order in _orders(tape))
    return next((each for each in replays if each and _better(each)), None)


def _better(replay: Replay) -> bool:
    before, after = replay.before, replay.after
    saved = before.sessions - after.sessions
    worth_it = saved > 0 and saved * WORTH_SAYING >= before.sessions
    return worth_it and after.tokens["relaunch"] <= before.tokens["relaunch"]


def _orders(tape: Tape) -> Iterator[Order]:
    """What changes seldom for its size stands in front of what changes often."""
    project = tape.project(tape.states[-1])
    seen = rates(tape.pairs(), {bundle.name for bundle in project.bundles if bundle.is_global})
    if seen.bundles or seen.sections:
        sections = seen.best_sections(project.settings.sections)
        yield from alternatives(project, sections, ranked(project, seen.weight))


def _replayed(order: Order, tape: Tape, before: Loss) -> Replay | None:
    variation = Variation(repr(order), lambda project: reordered(project, order))
    try:
        after = total(step(*pair).loss for pair in tape.pairs(variation))
        last = tape.states[-1]
        once = step(tape.plans(last), tape.plans(last, variation)).loss
    except NotCompilingError:
        return None
    return Replay(order, before, after, once)


def moves(tape: Tape) -> tuple[Move, ...]:
    """Plans of the last state that a backend with breakpoints would serve better, by how they are delivered now."""
    groups: dict[str, list[str]] = {}
    for key, plan in tape.plans(tape.states[-1]).items():
        if _could_move(plan):
            groups.setdefault(plan.delivery, []).append(key)
    tried = (_moved(delivery, keys, tape) for delivery, keys in sorted(groups.items()))
    return tuple(move for move in tried if move)


def _could_move(plan: PlanPrefix) -> bool:
    caching = caching_of(plan)
    if caching is None or plan.delivery == Delivery.FLAG or load_provider(plan.provider).flag_delivery is None:
        return False
    return terms_of(plan, caching).kind == "breakpoints"


def _moved(delivery: str, keys: Collection[str], tape: Tape) -> Move | None:
    variation = Variation(f"flag {sorted(keys)}", lambda project: delivered(project, keys, Delivery.FLAG))
    last = tape.states[-1]
    try:
        move = Move(
            plans=tuple(keys),
            delivery=delivery,
            served_before=sum(_served(*pair, keys) for pair in tape.pairs()),
            served_after=sum(_served(*pair, keys) for pair in tape.pairs(variation)),
            now_before=_served(tape.plans(last), tape.plans(last), keys),
            now_after=_served(tape.plans(last, variation), tape.plans(last, variation), keys),
        )
    except NotCompilingError:
        return None
    better = move.now_after > move.now_before and move.served_after >= move.served_before
    return move if better else None


def _served(before: Plans, after: Plans, keys: Collection[str]) -> int:
    """Tokens from the cache of a new session of each plan, with a prompt of its own, where the state before was run."""
    return sum(_served_plan(before[key], after[key]) for key in keys if key in before and key in after)


def _served_plan(before: PlanPrefix, after: PlanPrefix) -> int:
    caching, counter = caching_of(after), counter_for(after.vendor, after.served_model)
    return scenarios(before, after, caching, counter)["new_prompt"].reusable_after or 0 if caching else 0
