"""What a history came to: plain values that the renderers take and `--format json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentmux_compiler.prefix.history.commits import Commit
from agentmux_compiler.prefix.history.losses import Loss
from agentmux_compiler.prefix.order import Order
from agentmux_compiler.revisions.outcomes import Fault


@dataclass(frozen=True, slots=True)
class Culprit:
    """A segment (or a field of the launch) that broke prefixes: its usual reason first, its last place."""

    segment: str
    reasons: tuple[str, ...]
    path: str | None
    line: int | None
    commits: int
    plans: int
    loss: Loss


@dataclass(frozen=True, slots=True)
class CommitCost:
    """A commit that touches the sources and compiles. `plans` are all there are after it, `changed` those it changed.

    `new` and `removed` plans cost nothing. `culprits` are what broke prefixes, the costliest first.
    """

    commit: Commit
    plans: int
    changed: int
    new: int
    removed: int
    loss: Loss
    culprits: tuple[Culprit, ...]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A commit whose sources do not compile; what it changed is part of the next one that does."""

    commit: Commit
    fault: Fault


@dataclass(frozen=True, slots=True)
class Replay:
    """The same commits compiled in another order.

    `before` and `after` are what they cost as they were and in that order, `once` what changing to it costs today.
    """

    order: Order
    before: Loss
    after: Loss
    once: Loss


@dataclass(frozen=True, slots=True)
class Move:
    """Plans whose text a breakpoint would hold if it were delivered by flag, and what that gave over the same commits.

    `served_*` are tokens from the cache, of one new session of each of these plans after each commit; `now_*` of one
    today.
    """

    plans: tuple[str, ...]
    delivery: str
    served_before: int
    served_after: int
    now_before: int
    now_after: int


@dataclass(frozen=True, slots=True)
class History:
    """Commits in the order of time. `range` is what was asked; `shallow` says the clone ends before the history does.

    `replay` is the cheapest order that was found, None where no other loses less.
    """

    range: str
    shallow: bool
    before: Commit | None
    commits: tuple[CommitCost, ...]
    skipped: tuple[Skipped, ...]
    loss: Loss
    culprits: tuple[Culprit, ...]
    replay: Replay | None
    moves: tuple[Move, ...]
    price_as_of: str | None
    methods: Mapping[str, float | None]
