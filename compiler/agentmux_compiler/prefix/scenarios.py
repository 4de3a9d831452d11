"""What a change costs where prefixes are cached: a new session, one with another prompt, and one that goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from agentmux_compiler.lowered import PrefixSegment, ResumeRules
from agentmux_compiler.prefix.axes import changed_axes, moved_to_another_cache
from agentmux_compiler.prefix.counters import Counter
from agentmux_compiler.prefix.models import matches, model_id
from agentmux_compiler.prefix.prices import Price, break_cost
from agentmux_compiler.prefix.requests import Cell, Laid, Marks, agreement, cells_of, lay
from agentmux_compiler.prefix.resumed import Resumed, resumed
from agentmux_compiler.prefix.reuse import Block, Match, Request, Terms, after_effect, before_prompt, reusable, terms
from agentmux_compiler.report import Scenario

if TYPE_CHECKING:
    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.prefix.backends.schema import Backend  # noqa: TC004  pydantic comes with the first backend

ALL_LOST = {"tools": "lost", "system": "lost", "messages": "lost"}
UNKNOWN = Scenario(None, None, None, None, None, None)


@dataclass(frozen=True, slots=True)
class Billing:
    """What turns tokens into money and time.

    `lifetime` is the entries' (None: the backend's default), `prefill_rate` tokens per second, `age` the seconds since
    the text was cached.
    """

    price: Price | None = None
    lifetime: str | None = None
    prefill_rate: float | None = None
    age: float = 0


NO_BILL = Billing()


@dataclass(frozen=True, slots=True)
class Caching:
    """How a plan is cached: by which backend, with which breakpoints, and what its CLI does with edited text later."""

    backend: Backend
    marks: Marks
    resume: ResumeRules


@dataclass(frozen=True, slots=True)
class Standing:
    """What the cache is worth to a plan as it is, in tokens: of `tokens`, so many are served per kind of session.

    `anew` are known texts that a new session with another prompt pays for in any case, at least in part.
    """

    tokens: int
    served: Mapping[str, int]
    anew: tuple[PrefixSegment, ...]


@dataclass(frozen=True, slots=True)
class Cached:
    """A request that was sent before a change, and what its backend serves of others."""

    laid: Laid
    marks: Marks
    counter: Counter
    terms: Terms
    effects: tuple[Mapping[str, str], ...]
    billing: Billing

    def scenario(self, now: Laid, *, other_prompt: bool = False, turn: bool = False, added: int = 0) -> Scenario:
        """`now` is asked where the same request would have been; `added` tokens come behind it.

        With `turn`, both have the next turn of a conversation behind them.
        """
        again, asked = self.request, now.request
        longer = added + max(0, asked.tokens - again.tokens)
        if turn:
            again, asked = _with_turn(again), _with_turn(asked)
        before = self._served(again, Match(len(self.request.blocks)), other_prompt)
        found = self._reached(agreement(self.laid, now, self.counter))
        after = None if found is None else self._served(asked, found, other_prompt)
        lost = None if after is None else max(0, before - after)
        rate = self.billing.prefill_rate
        return Scenario(
            reusable_before=before,
            reusable_after=after,
            lost=lost,
            added=longer,
            usd=break_cost(self.billing.price, lost, self.terms.lifetime, asked.tokens),
            prefill_seconds=round(lost / rate, 3) if rate and lost is not None else None,
        )

    @property
    def request(self) -> Request:
        return self.laid.request

    @property
    def ends(self) -> tuple[tuple[Cell, int], ...]:
        """Each cell with the tokens up to its end."""
        return tuple(zip(self.laid.cells, accumulate(cell.tokens for cell in self.laid.cells), strict=True))

    def _served(self, asked: Request, found: Match, other_prompt: bool) -> int:
        """Tokens from the cache; sessions before are taken to have had different prompts."""
        shared = before_prompt(found, self.request) if other_prompt else found
        prefix = before_prompt(Match(len(self.request.blocks)), self.request).tokens(self.request)
        return reusable(self.request, asked, shared, self.terms, age=self.billing.age, units=(prefix,))

    def _reached(self, found: Match) -> Match | None:
        """What is left of an agreement when model or effort changed too; None where nobody knows."""
        left: Match | None = found
        for effect in self.effects:
            left = left and after_effect(left, self.request, effect)
        return left


def scenarios(
    before: PlanPrefix, after: PlanPrefix, caching: Caching, counter: Counter, billing: Billing = NO_BILL
) -> Mapping[str, Scenario]:
    """`relaunch`, `new_prompt` and `resume`, in tokens, dollars and seconds; what nobody knows is None.

    Figures hold within the lifetime of what was cached: after it nothing is lost by any change. The tokens of the
    first prompt and of the conversation so far are not counted.
    """
    changed = frozenset(changed_axes(before, after))
    cached = _cached(before, after, caching, counter, billing)
    new = lay(cells_of(after, counter, caching.backend.ignored.segments, changed), caching.marks)
    goes_on = resumed(cached.laid.cells, new.cells, caching.resume, (before.delivery, after.delivery))
    return {
        "relaunch": cached.scenario(new),
        "new_prompt": cached.scenario(new, other_prompt=True),
        "resume": _resumed(cached, goes_on) if goes_on else UNKNOWN,
    }


def standing(plan: PlanPrefix, caching: Caching, counter: Counter) -> Standing:
    """What sessions of this plan are served when nothing changes."""
    cached = _cached(plan, plan, caching, counter, NO_BILL)
    found = {
        "relaunch": cached.scenario(cached.laid),
        "new_prompt": cached.scenario(cached.laid, other_prompt=True),
        "resume": cached.scenario(cached.laid, turn=True),
    }
    served = {name: item.reusable_before or 0 for name, item in found.items()}
    anew = tuple(cell.segment for cell, end in cached.ends if cell.text and end > served["new_prompt"])
    return Standing(cached.request.tokens, served, anew)


def _cached(before: PlanPrefix, after: PlanPrefix, caching: Caching, counter: Counter, billing: Billing) -> Cached:
    backend, marks = caching.backend, caching.marks
    laid = lay(cells_of(before, counter, backend.ignored.segments), marks)
    marked = any(block.breakpoint for block in laid.request.blocks)
    held = terms(backend, model_id(after.vendor, after.served_model), billing.lifetime, marked=marked)
    return Cached(laid, marks, counter, held, tuple(effects(before, after, backend)), billing)


def _resumed(cached: Cached, goes_on: Resumed) -> Scenario:
    return cached.scenario(lay(goes_on.cells, cached.marks), turn=True, added=goes_on.added)


def effects(before: PlanPrefix, after: PlanPrefix, backend: Backend) -> list[dict[str, str]]:
    """What the cache keys that changed do to what was cached."""
    old, new = (model_id(after.vendor, plan.served_model) for plan in (before, after))
    found = [backend.changes.model.model_dump()] if old != new else []
    found += [ALL_LOST] if moved_to_another_cache(before, after) else []
    if before.effort != after.effort:
        rows = (row for row in backend.effort.rows if matches(new, row.models))
        found += [row.effect.model_dump() for row in islice(rows, 1)]
    return found


def _with_turn(request: Request) -> Request:
    """The request of the next turn: the client's last breakpoint moves along."""
    marked = bool(request.blocks) and request.blocks[-1].breakpoint
    return Request((*request.blocks, Block("messages", 1, "next turn", breakpoint=marked)))
