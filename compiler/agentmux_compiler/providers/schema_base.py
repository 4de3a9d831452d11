"""What every group of a provider's facts is made of."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Unknown = Literal["unknown"]
Argv = tuple[str, ...]
Controller = Literal["persistent", "subprocess", "acp", "terminal"]
Group = Literal[
    "permission", "model", "effort", "redirect", "mcp", "delivery", "directories", "flags", "resume", "prompt"
]  # fmt: skip


class Facts(BaseModel):
    """Base of every group: frozen, and a field nobody declared is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Sourced(Facts):
    """A group of facts with where they come from, such as `measured 2.1.332, 2026-11-30`."""

    source: Annotated[str, Field(min_length=1)]
