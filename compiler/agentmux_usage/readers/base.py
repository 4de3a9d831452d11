"""What every reader of transcripts is: lines in, responses out, and a state that can be kept between looks."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from agentmux_launcher.translators.values import count

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from agentmux_launcher.usage import Convention, Tokens
    from agentmux_usage.response import Response

# What was left out, by kind.
TOO_LONG = "too long"
NOT_JSON = "not json"
NO_END = "no end"
UNKNOWN = "unknown"
UNREADABLE = "unreadable"


class Reader:
    """Reads the lines of one file in their order.

    `markers` are words of which a line that matters holds one: a word between quotes is always a key or a whole value,
    since quotes within a text are escaped. `state` is plain JSON: a reader that is given it goes on as if it had read
    the file from its beginning. `notes` counts lines of no known kind.
    """

    markers: ClassVar[tuple[bytes, ...]] = ()
    whole_file: ClassVar[bool] = False

    def __init__(self, convention: Convention, notes: Counter[str], state: Mapping[str, Any] | None = None) -> None:
        self.convention = convention
        self.notes = notes
        self.state = self.fresh() | dict(state or {})

    @staticmethod
    def fresh() -> dict[str, Any]:
        return {}

    def wants(self, line: bytes) -> bool:
        """Whether a line may matter, as far as can be said without parsing it."""
        return any(marker in line for marker in self.markers)

    def line(self, line: bytes) -> Iterable[Response]:
        """The responses of a line that is wanted; one that is no JSON object is counted in `notes`."""
        value = parsed(line)
        if value is None:
            self.notes[NOT_JSON] += 1
            return ()
        return self.value(value)

    def finish(self) -> Iterator[Response]:
        """What was held back, since the next line might have said more of it."""
        yield from ()

    def file(self, path: Path) -> Iterator[Response]:
        """The responses of a file that is read as a whole: where `whole_file` is true."""
        raise NotImplementedError

    def value(self, value: Mapping[str, Any]) -> Iterator[Response]:
        raise NotImplementedError


def parsed(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line, None where it is none."""
    try:
        # A text that was cut within a character is still a text.
        value = json.loads(line.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def stated(said: Tokens, figures: Mapping[str, Any], cached: Iterable[str]) -> Tokens:
    """Figures of a call. Where one of the `cached` is there and no count, the input is not known, rather than less."""
    for name in cached:
        value = figures.get(name)
        if value is not None and count(value) is None:
            return dataclasses.replace(said, input=None)
    return said


def seconds(stamp: object) -> float | None:
    """An ISO time as seconds since 1970, in UTC where it names no zone; None where it is none."""
    if not isinstance(stamp, str):
        return None
    try:
        moment = datetime.fromisoformat(stamp)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
