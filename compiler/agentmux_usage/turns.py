"""To which turn of the person a call belongs that was made beside the conversation."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_usage.response import Response


def placed(responses: Iterable[Response]) -> tuple[Response, ...]:
    """Responses in the order of their time; a sub-agent's or side call that knows no turn is of the one under way."""
    turn = 0
    found = []
    for response in responses:
        if response.kind == "main":
            turn = response.turn
        known = response.kind == "main" or response.turn
        found.append(response if known else dataclasses.replace(response, turn=turn))
    return tuple(found)
