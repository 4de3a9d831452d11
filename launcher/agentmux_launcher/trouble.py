"""What a CLI says went wrong inside its frames: evidence for `failure`, no event of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Trouble:
    """Words, the HTTP status and the CLI's own names for an error.

    `weight` says how much it proves: a `retry` that the CLI makes by itself, an `error` that a turn may yet
    survive, the `final` word of a turn that failed.
    """

    text: str
    status: int | None = None
    kinds: tuple[str, ...] = ()
    weight: Literal["retry", "error", "final"] = "final"
    retry_after_ms: int | None = None
