"""Calls for which the cache served less than the calls before them had stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agentmux_launcher.accounting import Account, Call

# A cache stores whole blocks, so that a read may fall this short of what was written.
BLOCK = 1_024


@dataclass(frozen=True, slots=True)
class Break:
    """A call whose cache read fell short of what the calls before it had stored: `lost` tokens were paid again."""

    turn: int
    message_id: str | None
    lost: int
    reason: Literal["model", "compaction"] | None


def breaks(so_far: Account, tolerance: int = BLOCK) -> tuple[Break, ...]:
    """Where the cache served less than the calls before had read and written, for each sub-agent by itself."""
    found: list[Break] = []
    before: dict[str | None, Call] = {}
    for number, turn in enumerate(so_far.turns):
        for call in turn.calls:
            earlier = before.get(call.parent)
            lost = 0 if earlier is None else _lost(earlier, call)
            if earlier and lost > tolerance:
                found.append(Break(number, call.message_id, lost, _reason(earlier, call)))
            before[call.parent] = call
    return tuple(found)


def _lost(before: Call, call: Call) -> int:
    if call.tokens.cache_read is None or before.tokens.cache_read is None:
        return 0
    stored = sum(filter(None, (before.tokens.cache_read, before.tokens.cache_write, before.tokens.cache_write_1h)))
    return max(0, stored - call.tokens.cache_read)


def _reason(before: Call, call: Call) -> Literal["model", "compaction"] | None:
    if call.after_compaction:
        return "compaction"
    return "model" if before.model != call.model else None
