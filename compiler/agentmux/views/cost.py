"""The standing price of a plan for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux.table import table
from agentmux_compiler.render.costs import dollars
from agentmux_compiler.render.visible import visible
from agentmux_compiler.render.words import count, number
from agentmux_launcher.codec import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_compiler.prefix.standing_cost import SegmentCost, StandingCost
    from agentmux_compiler.render.paint import Paint

HEADS = ("SEGMENT", "FROM", "TOKENS", "SERVED NEXT", "FIRST SESSION", "EVERY NEXT ONE")


def as_json(cost: StandingCost) -> dict[str, Any]:
    value = to_json(cost)
    return value if isinstance(value, dict) else {}


def for_people(cost: StandingCost, paint: Paint) -> str:
    """A row for each text of ours, the sums, and what they hold for."""
    rows = [_row(segment) for segment in cost.segments]
    served = _known(cost.served["new_prompt"] if cost.served else None)
    rows.append(("total", "", number(cost.tokens), served, _money(cost.usd_first), _money(cost.usd_next)))
    return table(HEADS, rows, paint, right={2, 3, 4, 5}) + "".join(f"{visible(line)}\n" for line in _notes(cost))


def _row(segment: SegmentCost) -> tuple[str, ...]:
    place = f"{segment.path}:{segment.line}" if segment.path else ""
    figures = (number(segment.tokens), _known(segment.served_new_prompt))
    return (segment.name, place, *figures, _money(segment.usd_first), _money(segment.usd_next))


def _known(value: int | None) -> str:
    return "?" if value is None else number(value)


def _money(usd: float | None) -> str:
    return "?" if usd is None else dollars(usd)


def _notes(cost: StandingCost) -> Iterator[str]:
    yield ""
    turns = count(cost.turns, "turn")
    yield f"A session of {turns} pays for a text when it is stored, and a little every time it is read afterwards."
    if cost.below_minimum and cost.minimum is not None:
        yield f"`{cost.backend}` caches nothing below {number(cost.minimum)} tokens: all of it is paid in every turn."
    elif cost.served is not None:
        anew = sum(item.tokens - (item.served_new_prompt or 0) for item in cost.segments if item.path)
        yield (
            f"A next session, with another prompt, is served {number(cost.served['new_prompt'])} tokens and pays "
            f"{number(anew)} of your own anew."
        )
    else:
        yield "What the cache serves is not known: nothing says which backend this is. Name it with `backend`."
    if cost.usd_per_day is not None:
        yield f"That makes {dollars(cost.usd_per_day)} a day at the launches that the project states."
    within = "error unknown" if cost.error_pct is None else f"within {cost.error_pct:g} %"
    yield f"Tokens: {cost.method} ({within}), the CLI's own parts estimated from their size."
    if cost.price_as_of and cost.usd_first is not None:
        yield f"Dollars: list prices of {cost.price_as_of} for {cost.model}."
    if cost.ttl:
        yield f"After {cost.ttl} without use the cache has forgotten it, and the next session is a first one again."
    if cost.certainty:
        yield f"What is served, by `{cost.backend}`: {cost.certainty}."
