"""A model's context window, how much of it is taken, and when the CLI will summarise the conversation."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agentmux_launcher.accounting import Account

# What Claude Code keeps free for its answer and its summary: 13,000 and up to 20,000 tokens; read 2026-10.
COMPACTION_RESERVE = 33_000
# A model that took more than one of these has the next.
TIERS = (200_000, 1_000_000)
SMALLEST, LARGEST = 1_000, 100_000_000


@dataclass(frozen=True, slots=True)
class Window:
    """A context window in tokens, and who says so."""

    tokens: int
    source: Literal["reported", "learnt", "catalog"]


def window(so_far: Account) -> Window | None:
    """The context window: as reported, else the catalog's; the next tier where a call was larger and was accepted."""
    known = _known(so_far.reported_window, "reported") or _known(_of_model(so_far), "catalog")
    taken = so_far.largest_context or 0
    if known is None and taken <= TIERS[0]:
        return None
    if known and taken <= known.tokens:
        return known
    return Window(next((tier for tier in TIERS if tier >= taken), taken), "learnt")


def compacts_at(size: int, reserve: int = COMPACTION_RESERVE) -> int:
    """The context, in tokens, from which on the CLI will summarise the conversation."""
    return max(1, size - reserve)


def near_compaction(so_far: Account, reserve: int = COMPACTION_RESERVE) -> bool:
    """Whether the next call may find the conversation summarised."""
    known = window(so_far)
    return known is not None and so_far.context is not None and so_far.context >= compacts_at(known.tokens, reserve)


def _of_model(so_far: Account) -> int | None:
    """What the catalog knows of the model: the largest, since a name may ask for more than its family has."""
    name = (so_far.model or "").lower()
    return max((size for pattern, size in so_far.windows.items() if fnmatchcase(name, pattern)), default=None)


def _known(tokens: int | None, source: Literal["reported", "catalog"]) -> Window | None:
    return Window(tokens, source) if tokens is not None and SMALLEST <= tokens <= LARGEST else None
