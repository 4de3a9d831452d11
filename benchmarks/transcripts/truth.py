"""What synthetic transcripts hold: counted while they are written, so that no reader is believed."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

FIGURES = ("input", "cache_read", "cache_write", "cache_write_1h", "output")


@dataclass(slots=True)
class Truth:
    """Sums by provider and by policy.

    `once` is right: each response once, with its last figures. `first` believes the first line of a response, `lines`
    adds up all lines, `pairs` counts a line without a request's id for itself. `sessions` are those that have a
    response, `kinds` counts responses by kind, `notes` what a reader has to leave out.
    """

    sums: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    sessions: set[tuple[str, str]] = field(default_factory=set)
    notes: Counter[str] = field(default_factory=Counter)
    _seen: set[str] = field(default_factory=set)

    def response(self, provider: str, session: str, kind: str, figures: dict[str, int]) -> None:
        """A response that was made, with its last figures."""
        self._add(provider, "once", figures)
        self.kinds[provider, kind] += 1
        self.sessions.add((provider, session))

    def told(
        self, provider: str, name: str, request: str | None, figures: dict[str, int], last: dict[str, int]
    ) -> None:
        """A line that tells of a response, with the figures it has."""
        self._add(provider, "lines", figures)
        if name not in self._seen:
            self._add(provider, "first", figures)
        if request is None or name not in self._seen:
            self._add(provider, "pairs", figures if request is None else last)
        self._seen.add(name)

    def of(self, provider: str, policy: str) -> dict[str, int]:
        sums = self.sums[provider, policy]
        return {name: sums[name] for name in ("responses", *FIGURES)}

    def forget(self) -> None:
        """What was told so far is not told again."""
        self._seen.clear()

    def _add(self, provider: str, policy: str, figures: dict[str, int]) -> None:
        sums = self.sums[provider, policy]
        sums["responses"] += 1
        for name in FIGURES:
            sums[name] += figures.get(name, 0)
