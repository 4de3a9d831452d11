"""What a cache can serve of a request, by the rules of its backend and nothing but values.

Sources of the rules: `backends/*.yaml`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.models import matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentmux_compiler.prefix.backends.schema import Backend


@dataclass(frozen=True, slots=True)
class Block:
    """One content block: its section (tools, system, messages), its size, and what tells it from another.

    `breakpoint` says the client marks its end; `varies` that another first prompt makes another block of it.
    """

    section: str
    tokens: int
    content: object
    breakpoint: bool = False
    varies: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A request as its backend sees it, in the order it hashes."""

    blocks: tuple[Block, ...]

    @property
    def tokens(self) -> int:
        return sum(block.tokens for block in self.blocks)

    @property
    def ends(self) -> tuple[int, ...]:
        """Tokens up to the end of each block."""
        return tuple(accumulate(block.tokens for block in self.blocks))


@dataclass(frozen=True, slots=True)
class Match:
    """How far two requests agree: so many whole blocks, and so many tokens at the start of the next."""

    blocks: int
    inside: int = 0

    def tokens(self, request: Request) -> int:
        """Tokens in common, measured in `request`."""
        return sum(block.tokens for block in request.blocks[: self.blocks]) + self.inside


@dataclass(frozen=True, slots=True)
class Terms:
    """Of a backend, what holds for one model and one lifetime; a figure nobody knows is None.

    `granularity` and `recomputes` of None are taken as 1 and 0, an unknown `minimum` as none: figures are then upper
    bounds.
    """

    kind: str
    granularity: int | None
    recomputes: int | None
    minimum: int | None
    implicit: bool
    lookback: int | None
    interval: int | None
    unit_ends: tuple[str, ...]
    lifetime: str
    seconds: int | None


def terms(backend: Backend, model: str | None, lifetime: str | None = None, *, marked: bool = False) -> Terms:
    """The rules for one model. `marked` says the client sets breakpoints, which some block backends honour."""
    minimum = next((row.tokens for row in backend.minimum.rows if matches(model, row.models)), None)
    name = lifetime or next(row.name for row in backend.lifetimes.default if matches(model, row.models))
    seconds = next((row.seconds for row in backend.lifetimes.rows if row.name == name), None)
    points, units = backend.breakpoints, backend.units
    return Terms(
        kind="breakpoints" if points and marked else backend.kind,
        granularity=_known(backend.granularity.tokens),
        recomputes=_known(backend.granularity.recomputes),
        minimum=_known(minimum),
        implicit=points is not None and points.implicit == "last-block",
        lookback=_known(points.lookback) if points else None,
        interval=_known(units.interval) if units else None,
        unit_ends=tuple(units.ends) if units else (),
        lifetime=name,
        seconds=_known(seconds),
    )


def _known(value: int | str | None) -> int | None:
    return value if isinstance(value, int) else None


def match(written: Request, asked: Request, inside: int = 0) -> Match:
    """Leading blocks that are equal in both; `inside` are tokens that the first unequal pair has in common."""
    pairs = zip(written.blocks, asked.blocks, strict=False)
    equal = sum(1 for _ in takewhile(lambda pair: pair[0].content == pair[1].content, pairs))
    ended = equal in {len(written.blocks), len(asked.blocks)}
    return Match(equal, 0 if ended else inside)


def before_prompt(found: Match, request: Request) -> Match:
    """The same agreement when the first prompt is another one."""
    first = next((i for i, block in enumerate(request.blocks) if block.varies), len(request.blocks))
    blocks = min(found.blocks, first)
    room = sum(block.tokens for block in request.blocks[blocks:first])
    return Match(blocks, min(found.inside, room))


def after_effect(found: Match, request: Request, effect: Mapping[str, str]) -> Match | None:
    """The same agreement when something else than text changed; None where nobody knows what that does.

    `effect` says by section what becomes of it: kept, lost, model-specific (taken as lost) or unknown.
    """
    reached = found.blocks + (1 if found.inside else 0)
    for index, block in enumerate(request.blocks[:reached]):
        fate = effect[block.section]
        if fate == "unknown":
            return None
        if fate != "kept":
            return Match(index)
    return found


def reusable(  # noqa: PLR0913  what is known of two requests, the rules, and the world between them
    written: Request, asked: Request, found: Match, rules: Terms, *, age: float = 0, units: Iterable[int] = ()
) -> int:
    """Tokens of `asked` that are served from what `written` left in the cache `age` seconds ago.

    `units` are further ends at which a cache of whole units holds an entry, in tokens of `written`: common prefixes
    it has found. An entry that is older than its lifetime serves nothing; one without a stated lifetime always does.
    """
    if rules.seconds is not None and age > rules.seconds:
        return 0
    if rules.kind == "breakpoints":
        served = _at_breakpoints(written, asked, found, rules)
    elif rules.kind == "units":
        served = _at_units(written, found, rules, units)
    else:
        served = _in_blocks(asked, found.tokens(written), rules)
    return served


def _in_blocks(asked: Request, shared: int, rules: Terms) -> int:
    """Up to the divergence, in whole steps; a few tokens at the very end are always computed."""
    limit = min(shared, asked.tokens - (rules.recomputes or 0))
    served = max(0, limit - limit % (rules.granularity or 1))
    return served if served >= (rules.minimum or 0) else 0


def _at_breakpoints(written: Request, asked: Request, found: Match, rules: Terms) -> int:
    """The longest entry that a breakpoint of `asked` finds by looking back over whole blocks."""
    ends = written.ends
    entries = [i for i in _points(written, rules) if i < found.blocks and ends[i] >= (rules.minimum or 0)]
    seen = [i for i in entries if any(_reaches(point, i, rules) for point in _points(asked, rules))]
    return ends[max(seen)] if seen else 0


def _points(request: Request, rules: Terms) -> list[int]:
    last = len(request.blocks) - 1
    return [i for i, block in enumerate(request.blocks) if block.breakpoint or (rules.implicit and i == last)]


def _reaches(point: int, entry: int, rules: Terms) -> bool:
    """Whether a breakpoint looks as far back as an entry; its own position is the first it looks at."""
    return entry <= point and (rules.lookback is None or point - entry < rules.lookback)


def _at_units(written: Request, found: Match, rules: Terms, units: Iterable[int]) -> int:
    """The longest unit that matches whole."""
    shared, whole = found.tokens(written), written.tokens
    ends = [*(units if "common-prefix" in rules.unit_ends else ()), *([whole] if "request" in rules.unit_ends else [])]
    steps = [shared - shared % rules.interval] if rules.interval else []
    served = max((end for end in (*ends, *steps) if end <= shared), default=0)
    return served if served >= (rules.minimum or 0) else 0
