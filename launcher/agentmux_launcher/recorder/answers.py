"""What the recorder is told to answer: text, thinking, tool calls, failures, and how they travel."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

_LETTERS = bytes(97 + value % 26 for value in range(256))


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of one of the request's tools.

    `namespace` is for tools that the Responses wire groups; `text` is the input of a tool that takes free text
    (Responses `custom` tools) and then stands in place of `arguments`.
    """

    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    namespace: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """An error of the backend. `kind` is a key of `failures.FAILURES`; status and message default to the vendor's own.

    `retry_after` is in seconds. `in_stream` sends status 200 and the error as an event behind the answer's text.
    """

    kind: str
    status: int | None = None
    message: str | None = None
    retry_after: float | None = None
    in_stream: bool = False


@dataclass(frozen=True, slots=True)
class ServedUsage:
    """Tokens of one answer, each counted in exactly one of the four input fields.

    `input_tokens` are those the cache had no part in; `cache_write_tokens` were written for five minutes (or the
    backend's only lifetime), `cache_write_1h_tokens` for an hour; `output_tokens` include `reasoning_tokens`.
    """

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_1h_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens + self.cache_write_1h_tokens


@dataclass(frozen=True, slots=True)
class Answer:
    """One scripted answer.

    `size` appends that many letters to `text`; both travel in `deltas` pieces of equal length. `wait` is in seconds
    before the answer begins, `delay` in seconds before every delta but the first. With `cut_after` the stream stops
    right after that many deltas: the connection breaks, or with `cut_ends` the stream ends as if it were complete.
    `usage` overrides what the cache player would say.
    """

    text: str = ""
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    failure: Failure | None = None
    size: int = 0
    deltas: int = 2
    wait: float = 0.0
    delay: float = 0.0
    cut_after: int | None = None
    cut_ends: bool = False
    usage: ServedUsage | None = None

    @property
    def full_text(self) -> str:
        return self.text + letters(self.size)


def letters(count: int) -> str:
    """`count` lower-case letters without pattern, the same in every run."""
    return random.Random(1).randbytes(count).translate(_LETTERS).decode("ascii")  # noqa: S311  filler, no secret


def split(text: str, pieces: int) -> list[str]:
    """`text` in at most `pieces` strings of nearly equal length; the empty text is no piece."""
    if not text:
        return []
    length = -(-len(text) // max(pieces, 1))
    return [text[start : start + length] for start in range(0, len(text), length)]
