"""Prompt caches that the recorder can play, so that usage figures follow the rules of a real backend."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agentmux_launcher.recorder.answers import ServedUsage
from agentmux_launcher.recorder.wire import Breakpoint, Part, RenderedRequest, first_difference

Clock = Callable[[], float]
Tokens = Callable[[str], int]

FIVE_MINUTES = 300.0
_LIFETIMES = {"5m": FIVE_MINUTES, "1h": 3600.0, "30m": 1800.0, "12h": 43200.0}
KEYS = ("model", "reasoning", "output_config", "thinking", "reasoning_effort", "speed")


class CachePlayer(Protocol):
    """Says which tokens of a prompt are served from a cache; called once per answered request, in order."""

    def play(self, request: RenderedRequest, wait: float = 0.0) -> ServedUsage:
        """The input side of the usage: the four input fields add up to the prompt's tokens.

        The answer begins in `wait` seconds; what the request stores cannot be read before.
        """
        ...

    def count(self, text: str) -> int:
        """Tokens of a text by this player's measure."""
        ...


class MovableClock:
    """A clock in seconds that stands still until it is told to move."""

    def __init__(self, now: float = 0.0) -> None:
        self._now = now

    def __call__(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds


def quarter(text: str) -> int:
    """A stand-in for a tokenizer: one token for every four bytes begun."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / 4)


@dataclass(frozen=True, slots=True)
class NoCache:
    """No cache at all: every token is paid in full."""

    count: Tokens = quarter

    def play(self, request: RenderedRequest, wait: float = 0.0) -> ServedUsage:  # noqa: ARG002  nothing is stored
        return ServedUsage(input_tokens=_total(request.parts, self.count))


@dataclass(slots=True)
class BlockCache:
    """An engine that reuses the longest equal prefix of any earlier prompt, rounded down to whole blocks.

    `block` and `minimum` are in tokens (128 and 1024 on OpenAI's older models, 16 and 16 on vLLM, 1 and 1 on SGLang).
    An entry dies `lifetime` seconds after it was last used; None: never. Requests share nothing unless the
    parameters named by `keys` are equal. The last `recomputes` tokens of a prompt are never served: an answer starts
    from the output of the last one.
    """

    block: int = 128
    minimum: int = 1024
    lifetime: float | None = None
    count: Tokens = quarter
    clock: Clock = time.monotonic
    keys: tuple[str, ...] = KEYS
    recomputes: int = 1
    _seen: list[tuple[float, RenderedRequest]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def play(self, request: RenderedRequest, wait: float = 0.0) -> ServedUsage:
        with self._lock:
            now = self.clock()
            live = [each for each in self._seen if self.lifetime is None or now - each[0] < self.lifetime]
            shared = [(self._shared(old, request), at) for at, (used, old) in enumerate(live) if used <= now]
            best, at = max(shared, default=(0, -1))
            if best:
                live[at] = (now, live[at][1])
            self._seen = [*live, (now + wait, request)]
        return ServedUsage(input_tokens=_total(request.parts, self.count) - best, cache_read_tokens=best)

    def _shared(self, old: RenderedRequest, new: RenderedRequest) -> int:
        if _key(old, self.keys) != _key(new, self.keys):
            return 0
        found = first_difference(old, new)
        index, byte = (found.index, found.byte) if found else (len(new.parts), 0)
        head = _total(new.parts[:index], self.count)
        if found and byte:
            head += self.count(found.part.encoded[:byte].decode("utf-8", "ignore"))
        head = min(head, _total(new.parts, self.count) - self.recomputes)
        return head // self.block * self.block if head >= self.minimum else 0


@dataclass(slots=True)
class BreakpointCache:
    """A backend that keeps prefixes only where a request marks them, as Anthropic's does.

    At each mark it looks at `look_back` places, the mark's own and those before it, for a prefix that an earlier mark
    wrote (None: at all of them). A hit renews the entry. `minimum` is in tokens (512 to 4096 by model). With
    `implicit`, a lifetime, the last block is marked too.
    """

    minimum: int = 1024
    look_back: int | None = 20
    implicit: str = ""
    count: Tokens = quarter
    clock: Clock = time.monotonic
    keys: tuple[str, ...] = KEYS
    _entries: dict[str, _Entry] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def play(self, request: RenderedRequest, wait: float = 0.0) -> ServedUsage:
        marks = self._marks(request)
        digests = tuple(_digests(request, self.keys))
        ends = _ends(request.parts, self.count)
        total = ends[-1] if ends else 0
        with self._lock:
            hit = self._hit(marks, digests)
            written = self._write([mark for mark in marks if mark.index > hit], digests, ends, wait)
        read = ends[hit] if hit >= 0 else 0
        short, hour = _split(written, read, ends)
        return ServedUsage(total - read - short - hour, read, short, hour)

    def _marks(self, request: RenderedRequest) -> list[Breakpoint]:
        marks = list(request.breakpoints)
        if self.implicit and request.parts:
            marks.append(Breakpoint(len(request.parts) - 1, self.implicit))
        return sorted(marks, key=lambda mark: mark.index)

    def _hit(self, marks: Sequence[Breakpoint], digests: Sequence[str]) -> int:
        """Index of the last part of the longest live prefix, -1 for none; the entry is renewed."""
        now = self.clock()
        for mark in reversed(marks):
            first = 0 if self.look_back is None else max(mark.index - self.look_back + 1, 0)
            for index in range(mark.index, first - 1, -1):
                entry = self._entries.get(digests[index])
                if entry and entry.begins <= now < entry.dies:
                    self._entries[digests[index]] = _Entry(entry.begins, now + _seconds(entry.ttl), entry.ttl)
                    return index
        return -1

    def _write(
        self, marks: Sequence[Breakpoint], digests: Sequence[str], ends: Sequence[int], wait: float
    ) -> list[Breakpoint]:
        written = [mark for mark in marks if ends[mark.index] >= self.minimum]
        now = self.clock()
        for mark in written:
            self._entries[digests[mark.index]] = _Entry(now + wait, now + _seconds(mark.ttl), mark.ttl)
        return written


@dataclass(frozen=True, slots=True)
class _Entry:
    """What a mark wrote: it can be read from `begins` on, until it `dies`."""

    begins: float
    dies: float
    ttl: str


def _seconds(ttl: str) -> float:
    return _LIFETIMES.get(ttl, FIVE_MINUTES)


def _split(marks: Sequence[Breakpoint], start: int, ends: Sequence[int]) -> tuple[int, int]:
    """Tokens written for the short and for the hour's lifetime, from `start` on."""
    short = hour = 0
    for mark in marks:
        size = ends[mark.index] - start
        start = ends[mark.index]
        if mark.ttl == "1h":
            hour += size
        else:
            short += size
    return short, hour


def _key(request: RenderedRequest, keys: tuple[str, ...]) -> str:
    return repr([(name, request.parameters.get(name)) for name in keys])


def _digests(request: RenderedRequest, keys: tuple[str, ...]) -> Iterator[str]:
    """A digest of the prompt up to and with each part."""
    state = hashlib.sha256(_key(request, keys).encode("utf-8", "surrogatepass"))
    for part in request.parts:
        place = part.layer if part.layer == "tools" else part.name
        state.update(b"\x00" + place.encode() + b"\x00" + part.encoded)
        yield state.hexdigest()


def _ends(parts: Sequence[Part], count: Tokens) -> list[int]:
    """Tokens of the prompt up to and with each part."""
    out: list[int] = []
    for part in parts:
        out.append((out[-1] if out else 0) + count(part.text))
    return out


def _total(parts: Sequence[Part], count: Tokens) -> int:
    return sum(count(part.text) for part in parts)
