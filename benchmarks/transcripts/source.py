"""How much synthetic transcripts hold, and where all of it comes from that is not counted."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

WORDS = 1 << 20


@dataclass(frozen=True, slots=True)
class Shape:
    """How much is written, and how untidily.

    Each session has `calls` responses, about `text` bytes of results behind each. `forks` is the part of the sessions
    that is copied into another, `no_request` that of the responses without a request's id, `untidy` that of the
    sessions with lines that are torn, unknown or no JSON. `large` is the size of one line that holds no response.
    """

    sessions: int = 4
    calls: int = 12
    text: int = 400
    forks: float = 0.25
    no_request: float = 0.2
    subagents: float = 0.25
    untidy: float = 0.5
    large: int = 0
    seed: int = 1


@dataclass(slots=True)
class Source:
    """Where everything comes from that is not counted: the same for the same seed."""

    shape: Shape
    random: random.Random = field(init=False)
    _text: str = field(init=False)

    def __post_init__(self) -> None:
        self.random = random.Random(self.shape.seed)  # noqa: S311  a fixed sequence is the point
        letters = self.random.choices('abcdefghijklmnopqrstuvwxyz      \n"', k=WORDS)
        self._text = "".join(letters)

    def text(self, about: int) -> str:
        size = self.random.randint(about // 2, about + about // 2)
        begin = self.random.randrange(max(1, WORDS - size))
        return self._text[begin : begin + size]

    def name(self) -> str:
        value = f"{self.random.getrandbits(128):032x}"
        return f"{value[:8]}-{value[8:12]}-{value[12:16]}-{value[16:20]}-{value[20:]}"

    def chance(self, part: float) -> bool:
        return self.random.random() < part


def stamp(seconds: float) -> str:
    """A time as the CLIs write it; 0 is the first of June 2026."""
    total = round(seconds * 1000)
    minutes, rest = divmod(total, 60_000)
    hours, minutes = divmod(minutes, 60)
    day, hours = divmod(hours, 24)
    month, day = divmod(day, 30)
    return f"2026-{6 + month % 6:02}-{day + 1:02}T{hours:02}:{minutes:02}:{rest // 1000:02}.{rest % 1000:03}Z"


def line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
