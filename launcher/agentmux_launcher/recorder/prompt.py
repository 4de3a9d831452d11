"""A prompt in the order in which its backend sees it, and where two of them part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Wire = Literal["anthropic", "responses", "chat", "gemini"]
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of the prompt. `layer` is tools, system or messages; `name` says where in the body it stood."""

    layer: str
    name: str
    text: str

    @property
    def encoded(self) -> bytes:
        # JSON can hold half a surrogate pair, which strict UTF-8 refuses.
        return self.text.encode("utf-8", "surrogatepass")

    @property
    def size(self) -> int:
        return len(self.encoded)


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A mark that asks the backend to keep the prefix up to and with part `index` for `ttl` (`5m`, `1h`)."""

    index: int
    ttl: str


@dataclass(frozen=True, slots=True)
class RenderedRequest:
    """The prompt in order, and apart from it what else the body said.

    `parameters` are the fields beside the prompt (model, effort, ...); `identity` those that only name a session,
    an account or a routing key.
    """

    wire: Wire
    parts: tuple[Part, ...]
    parameters: Json
    identity: Json = field(default_factory=dict)
    breakpoints: tuple[Breakpoint, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of the prompt."""
        return sum(part.size for part in self.parts)

    @property
    def model(self) -> str:
        return str(self.parameters.get("model", ""))


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two prompts part: `byte` counts inside `part` (of the later one, or of the earlier where that goes on).

    `kept` is in bytes from the start of the prompt, `share` is `kept` divided by the size of the later prompt.
    """

    part: Part
    index: int
    byte: int
    kept: int
    share: float


def first_difference(earlier: RenderedRequest, later: RenderedRequest) -> Difference | None:
    """Where the later prompt stops being the earlier one; None where both are equal."""
    kept = 0
    for index, (one, two) in enumerate(zip(earlier.parts, later.parts, strict=False)):
        byte = _common(one, two)
        if byte is not None:
            return _difference(two, index, byte, kept, later)
        kept += two.size
    if len(earlier.parts) == len(later.parts):
        return None
    index = min(len(earlier.parts), len(later.parts))
    longer = earlier if len(earlier.parts) > len(later.parts) else later
    return _difference(longer.parts[index], index, 0, kept, later)


def _difference(part: Part, index: int, byte: int, kept: int, later: RenderedRequest) -> Difference:
    return Difference(part, index, byte, kept + byte, (kept + byte) / max(later.size, 1))


def _common(one: Part, two: Part) -> int | None:
    """Bytes that two parts at one place share, None where they are the same."""
    # A tool's name tells what it is, any other part's name in which message of which role it stands.
    if one.layer != two.layer or (one.layer != "tools" and one.name != two.name):
        return 0
    if one.text == two.text:
        return None
    a, b = one.encoded, two.encoded
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
