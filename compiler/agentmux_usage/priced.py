"""What a response cost by the price lists: by vendor, model, day and size, each kind of token by its own rate."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.models import plain, vendor_id
from agentmux_compiler.prefix.prices import MILLION, Price, Rates, price
from agentmux_compiler.providers import REGISTRY, text_of
from agentmux_usage.zone import UTC

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentmux_launcher.usage import Tokens
    from agentmux_usage.response import Response

# What is stored for five minutes, or for the backend's only lifetime; what is stored for an hour.
SHORT, LONG = "5m", "1h"
DAY = 86_400


def usd(response: Response) -> float | None:
    """Dollars, or null: no list has the model, or a figure that costs is not known. Never 0 for what is not known."""
    found = price_of(response)
    if found is None or response.tokens.input is None or response.tokens.output is None:
        return None
    rates = found.at(response.tokens.prompt or 0)
    if response.calls != 1 and rates.above:
        return None  # the sum of several prompts does not say which of them were that long
    return _cost(response.tokens, rates)


def price_of(response: Response) -> Price | None:
    """The price of its model when it was made."""
    day = int(response.time // DAY)
    found = _on_day(response.vendor, response.provider, response.model, day)
    if found is None or not found.windows:
        return found
    return price(found.vendor, response.model, UTC.local(response.time))


def _cost(tokens: Tokens, rates: Rates) -> float | None:
    dollars = (tokens.input or 0) * rates.input + (tokens.output or 0) * rates.output
    if tokens.cache_read:
        if rates.read is None:
            return None
        dollars += tokens.cache_read * rates.read
    if tokens.cache_write:
        dollars += tokens.cache_write * rates.write.get(SHORT, min(rates.write.values(), default=rates.input))
    if tokens.cache_write_1h:
        dollars += tokens.cache_write_1h * rates.stored(LONG)
    return dollars / MILLION


@functools.lru_cache(maxsize=4096)
def _on_day(vendor: str | None, provider: str, model: str | None, day: int) -> Price | None:
    """The price of a model on a day (counted from 1970), from the first of its possible vendors that has one."""
    if not plain(model):
        return None
    date = UTC.local(day * DAY).date()
    found = (price(each, model, date) for each in vendors(vendor, provider, model or ""))
    return next((each for each in found if each is not None), None)


def vendors(vendor: str | None, provider: str, model: str) -> Iterator[str]:
    """Who may serve it: who is said to; else whom the model's name begins with, and those whom the provider asks."""
    if vendor is not None:
        yield vendor
        return
    prefix = model.rpartition("/")[0].rpartition("/")[2]
    if prefix:
        yield vendor_id(prefix)
    yield from _of_provider(provider)


@functools.cache
def _of_provider(provider: str) -> tuple[str, ...]:
    """The vendors that a provider's file lists, read from that line alone."""
    from ruamel.yaml import YAML  # noqa: PLC0415

    if provider not in REGISTRY:
        return ()
    lines: Iterable[str] = text_of(provider).splitlines()
    line = next((line for line in lines if line.startswith("vendors:")), "vendors: []")
    return tuple(YAML(typ="safe", pure=True).load(line)["vendors"])
