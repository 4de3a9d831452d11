"""Whose cache served a response, by which rules, and at which price."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.backends import choose, load_backend
from agentmux_compiler.prefix.models import matches, model_id
from agentmux_compiler.prefix.prices import break_cost
from agentmux_compiler.prefix.reuse import Terms, terms
from agentmux_usage.priced import price_of, vendors

if TYPE_CHECKING:
    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_usage.response import Response

HOUR = "1h"
# Where nobody knows the step of a cache: a shortfall within the largest known one says nothing.
COARSE = 1_024


@dataclass(frozen=True, slots=True)
class Serving:
    """The cache behind a response. `terms` is null where nobody knows it.

    `writes` says that it reports what it stores, `trusted` that a read of 0 is a fact from the first call on.
    """

    vendor: str | None
    backend: str
    terms: Terms | None
    writes: bool = False
    trusted: bool = False

    @property
    def step(self) -> int:
        """Tokens within which a shortfall says nothing."""
        granularity = self.terms.granularity if self.terms else None
        return granularity or COARSE

    def held(self, prompt: int) -> int:
        """What of a prompt the cache can hold, where it does not say itself what it stores."""
        rules = self.terms
        if rules is None:
            return prompt
        limit = prompt - (rules.recomputes or 0)
        whole = limit - limit % (rules.granularity or 1)
        return whole if whole >= (rules.minimum or 0) else 0

    def seconds(self, lifetime: str) -> int | None:
        """How long entries of a lifetime live that nobody uses."""
        backend = load_backend(self.backend)
        rows = backend.lifetimes.rows if backend else ()
        found = next((row.seconds for row in rows if row.name == lifetime), None)
        return found if isinstance(found, int) else None


def serving(response: Response, prefix: PlanPrefix | None) -> Serving:
    """By the plan that was launched, else by the provider's own vendor and the model's name."""
    if prefix is None:
        return _told(response.vendor, response.provider, response.model)
    marked = any(segment.breakpoint for segment in prefix.segments)
    return _serving(prefix.vendor, prefix.backend, response.model, prefix.lifetime, marked)


@functools.lru_cache(maxsize=256)
def _told(said: str | None, provider: str, model: str | None) -> Serving:
    vendor = next(vendors(said, provider, model or ""), None)
    return _serving(vendor, choose(vendor or "", model), model, None, marked=True)


@functools.lru_cache(maxsize=256)
def _serving(vendor: str | None, name: str, model: str | None, lifetime: str | None, marked: bool) -> Serving:
    backend = load_backend(name)
    if backend is None:
        return Serving(vendor, name, None)
    rules = terms(backend, model_id(vendor or "", model), lifetime, marked=marked)
    return Serving(vendor, name, rules, bool(backend.usage.written), backend.usage.trust == "yes")


def same_model(vendor: str | None, one: str | None, two: str | None) -> bool:
    """Whether two names mean one model; a name that is not there means any."""
    if one is None or two is None:
        return True
    old, new = (model_id(vendor or "", name) for name in (one, two))
    return old == new or matches(old, (f"{new}-20*",)) or matches(new, (f"{old}-20*",))


def cost(response: Response, lost: int, lifetime: str | None) -> float | None:
    """Dollars more for `lost` tokens than reading them would have cost, at the price of that time."""
    return break_cost(price_of(response), lost, lifetime, response.context or 0)
