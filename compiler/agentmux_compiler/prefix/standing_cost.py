"""What every session pays for a plan's prefix although nothing changes: each text's tokens, by turns and price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.certainty import certainty
from agentmux_compiler.prefix.costs import caching_of, terms_of
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.prices import MILLION, Rates, price
from agentmux_compiler.prefix.requests import cells_of
from agentmux_compiler.prefix.scenarios import standing

if TYPE_CHECKING:
    from agentmux_compiler.lowered import PlanPrefix, PrefixSegment

OWN = ("agents/", "bundles/", "skills/", "flags/", "native/", "header.md")


@dataclass(frozen=True, slots=True)
class SegmentCost:
    """One text of ours, or all of the CLI's own (`path` is None).

    `served_new_prompt` are its tokens that a new session with another prompt is served from the cache. `usd_first` is
    what the first session pays over its turns, `usd_next` what one with another prompt pays after it.
    """

    layer: str
    name: str
    path: str | None
    line: int | None
    tokens: int
    served_new_prompt: int | None
    usd_first: float | None
    usd_next: float | None


@dataclass(frozen=True, slots=True)
class StandingCost:
    """The standing price of a plan over `turns` turns a session; what nobody knows is None.

    `minimum` is in tokens; below it nothing is ever cached. `served` is by kind of session.
    """

    agent: str
    provider: str
    vendor: str
    backend: str
    model: str | None
    turns: int
    tokens: int
    method: str
    error_pct: float | None
    segments: tuple[SegmentCost, ...]
    minimum: int | None = None
    below_minimum: bool = False
    served: Mapping[str, int] | None = None
    usd_first: float | None = None
    usd_next: float | None = None
    usd_per_day: float | None = None
    price_as_of: str | None = None
    ttl: str | None = None
    certainty: str | None = None


@dataclass(frozen=True, slots=True)
class _Bill:
    """Prices of one plan: `rates` are its model's, `lifetime` that of its entries."""

    rates: Rates | None
    lifetime: str | None
    turns: int
    cached: bool

    def of(self, tokens: int, served: int) -> float | None:
        """Dollars for tokens of which so many are served on the first turn already; afterwards all are."""
        if self.rates is None:
            return None
        if not self.cached:
            return tokens * self.turns * self.rates.input / MILLION
        if self.rates.read is None:
            return None
        anew = tokens - served
        once = anew * self.rates.stored(self.lifetime) + served * self.rates.read
        return (once + tokens * (self.turns - 1) * self.rates.read) / MILLION


def standing_cost(plan: PlanPrefix, turns: int, launches_per_day: float | None = None) -> StandingCost:
    """What sessions of so many turns pay; without a known backend only the tokens are."""
    counter, caching = counter_for(plan.vendor, plan.served_model), caching_of(plan)
    rules = terms_of(plan, caching) if caching else None
    ignored = caching.backend.ignored.segments if caching else ()
    cells = cells_of(plan, counter, ignored)
    ends = list(accumulate(cell.tokens for cell in cells))
    total = ends[-1] if ends else 0
    served = dict(standing(plan, caching, counter).served) if caching else None
    below = rules is not None and rules.minimum is not None and total < rules.minimum
    cost = price(plan.vendor, plan.served_model)
    bill = _Bill(cost.at(total) if cost and rules else None, rules.lifetime if rules else None, turns, not below)
    reach = served["new_prompt"] if served else None
    rows = [
        (cell.segment, cell.tokens, None if reach is None else max(0, min(end, reach) - end + cell.tokens))
        for cell, end in zip(cells, ends, strict=True)
    ]
    segments = _segments(rows, bill)
    first, following = (_sum(item, segments) for item in ("usd_first", "usd_next"))
    return StandingCost(
        agent=plan.agent,
        provider=plan.provider,
        vendor=plan.vendor,
        backend=plan.backend,
        model=plan.served_model,
        turns=turns,
        tokens=total,
        method=counter.method,
        error_pct=counter.error_pct,
        segments=segments,
        minimum=rules.minimum if rules else None,
        below_minimum=below,
        served=served,
        usd_first=first,
        usd_next=following,
        usd_per_day=_rounded(following * launches_per_day) if following is not None and launches_per_day else None,
        price_as_of=cost.as_of if cost else None,
        ttl=rules.lifetime if rules and rules.seconds is not None else None,
        certainty=certainty(caching.backend, rules) if caching and rules else None,
    )


def _segments(rows: list[tuple[PrefixSegment, int, int | None]], bill: _Bill) -> tuple[SegmentCost, ...]:
    """A row for each text of ours in its order, and one for all that is the CLI's."""
    own = [row for row in rows if row[0].body is not None and row[0].name.startswith(OWN)]
    others = [row for row in rows if row not in own]
    made = [_row(bill, item.name, tokens, served, item) for item, tokens, served in own]
    if others:
        known = [served for _, _, served in others if served is not None]
        served = sum(known) if len(known) == len(others) else None
        made.insert(0, _row(bill, "the CLI's own", sum(tokens for _, tokens, _ in others), served))
    return tuple(made)


def _row(bill: _Bill, name: str, tokens: int, served: int | None, segment: PrefixSegment | None = None) -> SegmentCost:
    body = segment.body if segment else None
    return SegmentCost(
        layer=segment.layer if segment else "",
        name=name,
        path=body.path if body else None,
        line=body.line(0) if body else None,
        tokens=tokens,
        served_new_prompt=served,
        usd_first=_rounded(bill.of(tokens, 0)),
        usd_next=None if served is None else _rounded(bill.of(tokens, served)),
    )


def _sum(field: str, segments: tuple[SegmentCost, ...]) -> float | None:
    values = [getattr(item, field) for item in segments]
    return None if not values or None in values else _rounded(sum(values))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
