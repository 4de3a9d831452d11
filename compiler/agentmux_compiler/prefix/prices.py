"""What tokens cost: dated rows of open price lists, dollars per million, as `tools/update_prices.py` wrote them."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from importlib.resources import files

from agentmux_compiler.prefix.models import matches, model_id, vendor_id
from agentmux_launcher.codec import from_json

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Rates:
    """Dollars per million tokens of a request whose prompt is longer than `above` tokens.

    `input` is what a token costs that no cache has to do with, `read` one that is served from it (None: not stated),
    `write` one that is stored, by lifetime (5m, 30m, 1h, 12h); without an entry, storing costs nothing extra.
    """

    input: float
    output: float
    read: float | None = None
    write: Mapping[str, float] = field(default_factory=dict)
    above: int = 0

    def stored(self, lifetime: str | None) -> float:
        """A token that is computed anew, and stored for `lifetime` where that is billed."""
        return self.write.get(lifetime or "", self.input)


@dataclass(frozen=True, slots=True)
class Dated:
    """Rates that hold from a day on (None: always have), in rising order of prompt length."""

    rates: tuple[Rates, ...]
    since: str | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """Other rates from one time of day to another, UTC, `HH:MM`."""

    start: str
    end: str
    rates: tuple[Rates, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One model of one vendor; `match` are globs over its name, `prices` in rising order of days."""

    vendor: str
    model: str
    match: tuple[str, ...]
    prices: tuple[Dated, ...]
    source: str
    windows: tuple[Window, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """The whole of `prices.json`; `as_of` is the day up to which its sources were known."""

    as_of: str
    sources: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Price:
    """The rates of one model on one day, by prompt length."""

    vendor: str
    model: str
    rates: tuple[Rates, ...]
    as_of: str
    source: str
    windows: tuple[Window, ...] = ()

    def at(self, prompt_tokens: int) -> Rates:
        """The rates of a request of that size; the whole request is billed by them."""
        return next((rates for rates in reversed(self.rates) if prompt_tokens > rates.above), self.rates[0])


@functools.cache
def table() -> Table:
    """The table that ships with the package."""
    text = files(__package__).joinpath("prices.json").read_text(encoding="utf-8")
    return from_json(Table, json.loads(text))


def price(vendor: str, model: str | None, at: date | datetime | None = None) -> Price | None:
    """What a model costs, or None where no list says.

    Without `at`, as on the day of the table, so that a report never depends on a clock. Rates that hold at certain
    times of a day only apply where `at` has a time; they are in `windows` in any case.
    """
    name = model_id(vendor, model)
    if name is None:
        return None
    row = next((row for row in table().rows if row.vendor == vendor_id(vendor) and matches(name, row.match)), None)
    if row is None:
        return None
    return Price(row.vendor, row.model, _rates(row, at), table().as_of, row.source, row.windows)


def _rates(row: Row, at: date | datetime | None) -> tuple[Rates, ...]:
    if isinstance(at, datetime):
        clock = at.strftime("%H:%M")
        for window in row.windows:
            if window.start <= clock < window.end:
                return window.rates
    day = at.isoformat()[:10] if at else table().as_of
    return next((each.rates for each in reversed(row.prices) if (each.since or "") <= day), row.prices[0].rates)


def break_cost(price: Price | None, lost: int | None, lifetime: str | None, prompt_tokens: int = 0) -> float | None:
    """Dollars more for `lost` tokens that are computed and stored instead of read; None where a figure is missing."""
    if price is None or lost is None:
        return None
    rates = price.at(prompt_tokens)
    return None if rates.read is None else round(lost * (rates.stored(lifetime) - rates.read) / MILLION, 6)


def standing_cost(price: Price | None, tokens: int, turns: int, lifetime: str | None) -> float | None:
    """Dollars that `tokens` of a prefix cost over `turns` turns of one session: stored once, read afterwards."""
    if price is None or price.at(tokens).read is None:
        return None
    rates = price.at(tokens)
    return round(tokens * (rates.stored(lifetime) + (turns - 1) * (rates.read or 0.0)) / MILLION, 6)
