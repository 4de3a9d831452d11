"""From the bytes of a CLI's stdout to JSON objects; nothing is dropped without a word, and nothing raises."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST_LINE = 16 * 1024 * 1024
SHOWN = 200

BLANK = b" \t\n\r\v\f\0"
# CSI, OSC with either end, and the short sequences (none of which ends in the brace that begins a frame).
ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z\\^-z|}~])")
LEADING = re.compile(rb"[\s\x00]+|\xef\xbb\xbf|" + ESCAPE.pattern)
LONGEST_ESCAPE = 64


@dataclass(frozen=True, slots=True)
class Frame:
    """A line that is a JSON object; `line` is it as it came, without its end."""

    value: Mapping[str, Any]
    line: bytes


@dataclass(frozen=True, slots=True)
class Stray:
    """A line of text that is no object, as it came: the CLI's own words."""

    text: str


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line of more than `limit` bytes, of which only the beginning was kept."""

    limit: int
    begins: str


@dataclass(frozen=True, slots=True)
class Half:
    """The last line of a stream that ended inside a frame."""

    text: str


Item = Frame | Stray | TooLong | Half


class Splitter:
    """Gathers lines over chunks cut anywhere; memory stays below `limit` bytes and one chunk."""

    def __init__(self, limit: int = LONGEST_LINE) -> None:
        self._limit = limit
        self._pending = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[Item]:
        """The items that this chunk completes."""
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            yield from self._gather(line)
            yield from self._end_line()
        yield from self._gather(rest)

    def close(self) -> Iterator[Item]:
        """What is left when the stream ends: a last line without its end, or half a frame."""
        for item in self._end_line():
            half = isinstance(item, Stray) and _inside(item.text.encode())[:1] == b"{"
            yield Half(item.text) if isinstance(item, Stray) and half else item

    def _gather(self, part: bytes) -> Iterator[Item]:
        if self._skipping:
            return
        self._pending += part
        if len(self._pending) > self._limit:
            yield TooLong(self._limit, _text(bytes(self._pending[: min(SHOWN, self._limit)])))
            self._pending.clear()
            self._skipping = True

    def _end_line(self) -> Iterator[Item]:
        line = bytes(self._pending)
        self._pending.clear()
        if not self._skipping and (item := parse(line)):
            yield item
        self._skipping = False


def split(chunks: Iterable[bytes], limit: int = LONGEST_LINE) -> Iterator[Item]:
    """All items of a whole stream."""
    splitter = Splitter(limit)
    for chunk in chunks:
        yield from splitter.feed(chunk)
    yield from splitter.close()


def parse(line: bytes) -> Frame | Stray | None:
    """One line; None where nothing is left of it without white space, NUL and escape sequences at its edges."""
    line = line.removesuffix(b"\r")
    inside = line if line[:1] == b"{" and line[-1:] == b"}" else _inside(line)
    if not inside:
        return None
    value = _object(inside) if inside[:1] == b"{" else None
    return Stray(_text(line)) if value is None else Frame(value, line)


def _inside(line: bytes) -> bytes:
    start, end = 0, len(line)
    while found := LEADING.match(line, start):
        start = found.end()
    while end > start:
        tail = line[max(start, end - LONGEST_ESCAPE) : end]
        kept = tail.rstrip(BLANK)
        escape = kept.rfind(b"\x1b")
        if escape >= 0 and ESCAPE.fullmatch(kept, escape):
            kept = kept[:escape]
        if len(kept) == len(tail):
            break
        end -= len(tail) - len(kept)
    return line[start:end]


def _object(line: bytes) -> Mapping[str, Any] | None:
    try:
        value = _DECODER.decode(_text(line))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def without_escapes(text: str) -> str:
    """Words for people and for patterns: no escape sequence and no NUL anywhere, no white space at the end."""
    return _ESCAPE.sub("", text).replace("\0", "").rstrip()


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def _nothing(_name: str) -> None:
    """NaN and the infinities are no JSON; a number that is none is not known."""


# A control character inside a string is against the standard, but no reason to lose the frame.
_DECODER = json.JSONDecoder(strict=False, parse_constant=_nothing)
_ESCAPE = re.compile(ESCAPE.pattern.decode("ascii"))
