"""What a wire needs to know to answer, and what it answers with."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentmux_launcher.recorder.answers import Answer, Failure, ServedUsage


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to answer; `id` is unique among all answers."""

    id: str
    model: str
    usage: ServedUsage
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def created(self) -> int:
        """Seconds since the epoch, for the wires that tell it."""
        return int(time.time())


class Piece(NamedTuple):
    """Bytes that leave together; `delta` says that they carry a piece of the answer."""

    data: bytes
    delta: bool = False


@dataclass(frozen=True, slots=True)
class Speech:
    """How one wire answers: as a stream of pieces, as one JSON object, or with an error (status, object)."""

    stream: Callable[[Answer, Ask], Iterator[Piece]]
    whole: Callable[[Answer, Ask], dict[str, Any]]
    error: Callable[[Failure, Ask], tuple[int, dict[str, Any]]]


def dumps(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def event(value: Mapping[str, Any], *, delta: bool = False, name: str = "") -> Piece:
    """A server-sent event; `name` is its `event:` line."""
    head = f"event: {name}\n".encode() if name else b""
    return Piece(head + b"data: " + dumps(value) + b"\n\n", delta)
