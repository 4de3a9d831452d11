"""What the backend that a request names can serve of it after another, where a model's name says which that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.backends import UNKNOWN, choose, load_backend
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.models import matches, model_id
from agentmux_compiler.prefix.prices import break_cost, price
from agentmux_compiler.prefix.rendered import common_length
from agentmux_compiler.prefix.reuse import Block, Match, Request, after_effect, match, reusable, terms
from agentmux_compiler.prefix.scenarios import effects
from agentmux_compiler.report import Scenario
from agentmux_compiler.wire.pairing import is_head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.prefix.counters import Counter
    from agentmux_compiler.report import PlanDiff
    from agentmux_launcher.recorder.wire import Part, RenderedRequest

# Models that only their makers serve; whose cache another one meets, its name does not say.
VENDORS = {
    "anthropic": ("claude*",),
    "openai": ("gpt-[0-9]*", "o[0-9]*", "codex*"),
    "google": ("gemini*",),
}


def served_by(model: str | None) -> tuple[str, str]:
    """Vendor and backend of a model; both `unknown` where its name does not say."""
    vendor = next((vendor for vendor, globs in VENDORS.items() if model and matches(model, globs)), UNKNOWN)
    return vendor, UNKNOWN if vendor == UNKNOWN else choose(vendor, model)


def lifetime(request: RenderedRequest) -> str | None:
    """How long the earlier request asked to be kept, if all its marks say the same."""
    asked = {mark.ttl for mark in request.breakpoints}
    return asked.pop() if len(asked) == 1 else None


@dataclass(frozen=True, slots=True)
class Marked:
    """A content block: its section, its text with the role that opens its message, and whether its end is marked."""

    section: str
    text: str
    marked: bool


def blocks(request: RenderedRequest, parts: Sequence[Part]) -> tuple[Marked, ...]:
    """The prompt's parts as the blocks that a backend counts; a role is no block of its own."""
    marked = {id(request.parts[mark.index]) for mark in request.breakpoints}
    found, opening = [], ""
    for part in parts:
        if is_head(part):
            opening = part.text
        else:
            found.append(Marked(part.layer, opening + part.text, id(part) in marked))
            opening = ""
    return tuple(found)


def with_reuse(
    plan: PlanDiff,
    plans: tuple[PlanPrefix, PlanPrefix],
    sides: tuple[Sequence[Marked], Sequence[Marked]],
    asked_lifetime: str | None,
) -> PlanDiff:
    """The diff with what is served of the later request right after the earlier one, as `relaunch`."""
    before, after = plans
    backend = load_backend(after.backend) if before.backend == after.backend else None
    if backend is None:
        return plan
    name = model_id(after.vendor, after.model)
    counter = counter_for(after.vendor, after.model)
    old, new = (_request(side, counter) for side in sides)
    rules = terms(backend, name, asked_lifetime, marked=any(block.breakpoint for block in new.blocks))
    found: Match | None = match(old, new, _inside(*sides, counter))
    for effect in effects(before, after, backend):
        found = found and after_effect(found, old, effect)
    again = reusable(old, old, Match(len(old.blocks)), rules)
    now = None if found is None else reusable(old, new, found, rules)
    lost = None if now is None else max(0, again - now)
    cost = price(after.vendor, after.model)
    scenario = Scenario(
        reusable_before=again,
        reusable_after=now,
        lost=lost,
        added=max(0, new.tokens - old.tokens),
        usd=break_cost(cost, lost, rules.lifetime, new.tokens),
        prefill_seconds=None,
    )
    # A change in the last, incomplete step of a block cache loses nothing only by where the steps happen to end.
    nothing_lost = lost == 0 and again > 0 and rules.kind != "blocks"
    return replace(
        plan,
        verdict="kept" if nothing_lost and plan.verdict == "broken" else plan.verdict,
        scenarios={**plan.scenarios, "relaunch": scenario},
        price_as_of=cost.as_of if cost else None,
        ttl=rules.lifetime,
        certainty="the requests are recorded, the rules of the cache documented",
    )


def _request(side: Sequence[Marked], counter: Counter) -> Request:
    return Request(
        tuple(Block(each.section, counter.count(each.text), each.text, breakpoint=each.marked) for each in side)
    )


def _inside(before: Sequence[Marked], after: Sequence[Marked], counter: Counter) -> int:
    """Tokens at the start of the first two blocks that differ."""
    pairs = ((old.text, new.text) for old, new in zip(before, after, strict=False))
    old, new = next(((old, new) for old, new in pairs if old != new), ("", ""))
    return counter.count(old[: common_length(old, new)])
