"""What a dialect's token figures mean, as data, and the one way they become figures that can be added."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token counts; null is not known. Normal ones hold each input token in exactly one of the first four fields."""

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_1h: int | None = None
    output: int | None = None
    reasoning: int | None = None

    @property
    def prompt(self) -> int | None:
        """The whole input of normal tokens. A cache figure that a backend does not have counts for nothing."""
        if self.input is None:
            return None
        return self.input + sum(filter(None, (self.cache_read, self.cache_write, self.cache_write_1h)))

    @property
    def nothing(self) -> bool:
        """Whether every figure that is there is 0: what CLIs write where they know of no call."""
        return not any(dataclasses.astuple(self))


NAMES = tuple(field.name for field in dataclasses.fields(Tokens))
ZERO = Tokens(0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Convention:
    """What the figures of a dialect mean, or those of one provider that speaks it.

    `turn` says what its closing frame counts: this turn, its last model call, the process, or the whole session over
    all its processes (`cumulative`); `calls`: nothing of use, but every call is reported; `none`: there are no figures.
    What is null of the two that follow is not known. `whole_message` says the figures on a whole message are final,
    not those of its beginning. `field` is where they stand, `context` where it is said how much of the window is
    taken, `cost` where money is; each a path of keys from what closes a turn, or one that the name of an update begins.
    """

    source: str
    turn: Literal["turn", "last-call", "process", "cumulative", "calls", "none"]
    input_includes_cached: bool | None
    output_includes_reasoning: bool | None = True
    whole_message: bool = False
    field: str | None = None
    context: str | None = None
    cost: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """How a process begins: a new session or one that goes on, and what the session's counters then stood at.

    `counters` is null where a session goes on that nobody has kept the account of.
    """

    resumed: bool = False
    counters: Tokens | None = ZERO


FRESH = Start()


def normal(said: Tokens, convention: Convention) -> Tokens:
    """A CLI's figures with each token counted once: cached input out of input, reasoning in output.

    Where nobody knows whether one figure holds another that is there, it is null.
    """
    cached = sum(filter(None, (said.cache_read, said.cache_write, said.cache_write_1h)))
    given, output = said.input, said.output
    if given is not None and cached:
        rest = given - cached if convention.input_includes_cached else given
        given = rest if rest >= 0 and convention.input_includes_cached is not None else None
    if output is not None and said.reasoning:
        whole = output if convention.output_includes_reasoning else output + said.reasoning
        output = whole if convention.output_includes_reasoning is not None else None
    same = given == said.input and output == said.output
    return said if same else dataclasses.replace(said, input=given, output=output)


def plus(one: Tokens, two: Tokens) -> Tokens:
    """The sum; what is not known of one is not known of it."""
    pairs = ((getattr(one, name), getattr(two, name)) for name in NAMES)
    return Tokens(*(None if a is None or b is None else a + b for a, b in pairs))


def since(now: Tokens, before: Tokens | None) -> Tokens | None:
    """What was added to counters; where one went back they began anew, so that all they show was added."""
    if before is None:
        return None
    pairs = [(getattr(now, name), getattr(before, name)) for name in NAMES]
    if any(a is not None and b is not None and a < b for a, b in pairs):
        return now
    return Tokens(*(None if a is None or b is None else a - b for a, b in pairs))
