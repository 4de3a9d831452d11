"""The histogram of tokens that GenAI dashboards look for, over all responses that were handed on."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentmux_usage.export.conventions import BOUNDS, CHAT, OPERATION, PROVIDER, REQUEST_MODEL, TOKEN_TYPE, vendor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_usage.response import Response


@dataclass(slots=True)
class Counts:
    """One series: how many counts fell under each bound, and their sum."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: int = 0
    least: int = 0
    most: int = 0

    def add(self, count: int) -> None:
        self.least = count if self.count == 0 else min(self.least, count)
        self.most = max(self.most, count)
        self.buckets[bisect_left(BOUNDS, count)] += 1
        self.total += count

    @property
    def count(self) -> int:
        return sum(self.buckets)


class Histogram:
    """Series by vendor, model and kind of token. A response of which a count is not known is not part of it."""

    def __init__(self) -> None:
        self.first, self.last = float("inf"), float("-inf")
        self._series: dict[tuple[str, str, str], Counts] = {}

    def add(self, response: Response) -> None:
        self.first, self.last = min(self.first, response.time), max(self.last, response.time)
        for kind, count in (("input", response.tokens.prompt), ("output", response.tokens.output)):
            if count is not None and response.calls == 1:
                key = (vendor(response), response.model or "", kind)
                self._series.setdefault(key, Counts()).add(count)

    def series(self) -> Iterator[tuple[dict[str, str], Counts]]:
        """Each with its attributes, in an order that the responses' order does not change."""
        for (provider, model, kind), counts in sorted(self._series.items()):
            known = {OPERATION: CHAT, PROVIDER: provider, TOKEN_TYPE: kind}
            yield known | ({REQUEST_MODEL: model} if model else {}), counts
