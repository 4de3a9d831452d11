"""Instructions that every new session pays for, and what delivery by flag would keep of them: compiled to see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.lower import lower
from agentmux_compiler.prefix.costs import caching_of, terms_of
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.fixes import flagged
from agentmux_compiler.prefix.prices import break_cost, price
from agentmux_compiler.prefix.rendered import SECTIONS
from agentmux_compiler.prefix.scenarios import standing
from agentmux_compiler.render.words import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentmux_compiler.agent import Project
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowered import Lowered, PlanPrefix
    from agentmux_compiler.tree import Tree

BY_FILE = ("file", "folder")
# Tokens below which nobody would move a text.
WORTH_SAYING = 100


def paid_anew(project: Project, plans: Sequence[Lowered], tree: Tree) -> list[Diagnostic]:
    """A note for each plan whose own text no other session is served, if another delivery changes that."""
    candidates = {plan.prefix.key: plan for plan in plans if plan.prefix.delivery in BY_FILE}
    tokens = {key: anew for key, plan in candidates.items() if (anew := _anew(plan.prefix))}
    if not tokens:
        return []
    fixed, _ = lower(flagged(project, tokens.keys()), tree)
    by_flag = {lowered.prefix.key: lowered.prefix for lowered in fixed}
    return [fault for key in tokens for fault in _notes(candidates[key], tokens[key], by_flag)]


def _anew(plan: PlanPrefix) -> int:
    """Tokens of the plan's own instructions that a session with another prompt computes, whatever was cached before."""
    caching, counter = caching_of(plan), counter_for(plan.vendor, plan.served_model)
    # Asked first, since to count is dear: only a cache of breakpoints has text that it could serve and never does.
    if caching is None or terms_of(plan, caching).kind != "breakpoints":
        return 0
    anew = standing(plan, caching, counter).anew
    return sum(counter.count(item.text or "") for item in anew if item.name.startswith(SECTIONS))


def _notes(plan: Lowered, tokens: int, by_flag: Mapping[str, PlanPrefix]) -> list[Diagnostic]:
    prefix, fixed = plan.prefix, by_flag.get(plan.prefix.key)
    if fixed is None or plan.use is None or fixed.delivery != "flag":
        return []
    saved = _served(fixed) - _served(prefix)
    if saved < WORTH_SAYING:
        return []
    cost = break_cost(price(prefix.vendor, prefix.served_model), saved, prefix.lifetime)
    money = f" (${cost:,.4f} a session)" if cost else ""
    return [
        rules.PAID_ANEW.at(
            plan.use.place("delivery"),
            f"`{prefix.key}` pays for the {number(tokens)} tokens of its instructions anew in every session with "
            "another prompt, edited or not",
            help=f"`delivery: flag` puts them before a breakpoint: {number(saved)} tokens more would be served{money}",
            notes=(f"`{prefix.backend}` keeps entries at breakpoints only, and a file stands behind the last one",),
        )
    ]


def _served(plan: PlanPrefix) -> int:
    caching = caching_of(plan)
    if caching is None:
        return 0
    return standing(plan, caching, counter_for(plan.vendor, plan.served_model)).served["new_prompt"]
