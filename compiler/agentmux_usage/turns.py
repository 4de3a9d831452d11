"""To which turn of the person a call belongs that was made beside the conversation."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_usage.response import Response


def placed(responses: Iterable[Response]) -> tuple[Response, ...]:
    """Responses in the order of their time, those of sub-agents and side calls in the turn that was under way."""
    turn = 0
    found = []
    for response in responses:
        if response.kind == "main":
            turn = response.turn
        found.append(response if response.kind == "main" else dataclasses.replace(response, turn=turn))
    return tuple(found)
