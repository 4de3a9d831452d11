"""Prompt caches in small, written from what their makers document, to hold predictions against.

A request is a list of `Part`s; every part is a tuple of tokens (any values). What a cache returns is how many tokens
of a request it served.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Part:
    """A content block. `marked`: the client put a cache marker on it."""

    tokens: tuple
    marked: bool = False


@dataclass
class Clock:
    now: float = 0.0


@dataclass
class BlockCache:
    """A block engine: each full block of `step` tokens is found by a digest that includes its parent's.

    The last `computed` tokens of a request are always computed; nothing is reported below `minimum`.
    """

    step: int
    computed: int = 0
    minimum: int = 0
    stored: set = field(default_factory=set)

    def chain(self, parts, key):
        tokens = [token for part in parts for token in part.tokens]
        digest, links = hash(key), []
        for start in range(0, len(tokens) - self.step + 1, self.step):
            digest = hash((digest, tuple(tokens[start : start + self.step])))
            links.append(digest)
        return links, len(tokens)

    def ask(self, parts, key=()):
        links, size = self.chain(parts, key)
        hits = 0
        for link in links[: (size - self.computed) // self.step]:
            if link not in self.stored:
                break
            hits += 1
        served = hits * self.step
        return served if served >= self.minimum else 0

    def send(self, parts, key=()):
        served = self.ask(parts, key)
        self.stored.update(self.chain(parts, key)[0])
        return served


@dataclass
class MarkerCache:
    """A cache of prefixes that end at markers.

    An entry is written at each marker, if at least `minimum` tokens lie before its end. To read, the prefix at each
    marker is looked up, then the one a position earlier, at `window` positions in all (None: at every one). With
    `automatic`, the end of a request counts as a marker. An entry lives `lifetime` seconds from its last use.
    """

    clock: Clock
    minimum: int
    window: int | None
    automatic: bool
    lifetime: float
    entries: dict = field(default_factory=dict)

    def prefixes(self, parts, key):
        """Digest and length of the prefix at the end of each part."""
        digest, length, found = hash(key), 0, []
        for part in parts:
            digest = hash((digest, part.tokens))
            length += len(part.tokens)
            found.append((digest, length))
        return found

    def markers(self, parts):
        marked = {index for index, part in enumerate(parts) if part.marked}
        return sorted(marked | ({len(parts) - 1} if self.automatic and parts else set()))

    def ask(self, parts, key=()):
        found, best, used = self.prefixes(parts, key), 0, None
        for marker in self.markers(parts):
            lowest = 0 if self.window is None else max(0, marker - self.window + 1)
            for position in range(marker, lowest - 1, -1):
                digest, length = found[position]
                if self.entries.get(digest, -1.0) >= self.clock.now:
                    if length > best:
                        best, used = length, digest
                    break
        if used is not None:
            self.entries[used] = self.clock.now + self.lifetime
        return best

    def send(self, parts, key=()):
        served = self.ask(parts, key)
        found = self.prefixes(parts, key)
        for marker in self.markers(parts):
            digest, length = found[marker]
            if length >= self.minimum:
                self.entries[digest] = self.clock.now + self.lifetime
        return served


@dataclass
class UnitCache:
    """A cache of whole units: a request's end, what two requests had in common, and every `interval` tokens."""

    interval: int | None = None
    requests: list = field(default_factory=list)
    units: set = field(default_factory=set)

    def flat(self, parts, key):
        return (key, *(token for part in parts for token in part.tokens))

    def ask(self, parts, key=()):
        asked = self.flat(parts, key)
        return max((len(unit) - 1 for unit in self.units if asked[: len(unit)] == unit), default=0)

    def send(self, parts, key=()):
        served, asked = self.ask(parts, key), self.flat(parts, key)
        for earlier in self.requests:
            common = 0
            while common < min(len(asked), len(earlier)) and asked[common] == earlier[common]:
                common += 1
            self.units.add(asked[:common])
        self.units.add(asked)
        if self.interval:
            self.units.update(asked[: end + 1] for end in range(self.interval, len(asked), self.interval))
        self.requests.append(asked)
        return served
