"""Tokens and money of an ACP agent: where figures stand and what they count is data, what becomes of them is here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import Cost, Usage
from agentmux_launcher.translators.values import count, first, mapping, number
from agentmux_launcher.usage import ZERO, Tokens, normal, since

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentmux_launcher.usage import Convention, Start

CHUNK = "agent_message_chunk."
UPDATE = "usage_update."
# The names that agents have for the same figure.
INPUT = ("inputTokens", "input_tokens")
CACHE_READ = ("cachedReadTokens", "cachedInputTokens", "cache_read_input_tokens")
CACHE_WRITE = ("cachedWriteTokens", "cacheWriteInputTokens", "cacheCreationTokens", "cache_creation_input_tokens")
OUTPUT = ("outputTokens", "output_tokens")
REASONING = ("thoughtTokens", "reasoningTokens", "reasoningOutputTokens", "reasoning_tokens")


class Figures:
    """What an agent has said so far; each figure goes into one event."""

    def __init__(self, convention: Convention, start: Start) -> None:
        self._convention = convention
        self._of_call = (convention.field or "").removeprefix(CHUNK) if convention.turn == "calls" else None
        self._counters: Tokens | None = start.counters if convention.turn == "cumulative" else ZERO
        self._window: Mapping[str, Any] = {}
        self._paid: float | None = None if start.resumed else 0.0

    @property
    def counters(self) -> Tokens | None:
        return self._counters if self._convention.turn == "cumulative" else None

    def session_began(self, *, resumed: bool) -> None:
        """Counters of a process begin anew with each session; what one that goes on has cost before is not known."""
        if self._convention.turn != "cumulative":
            self._counters = ZERO
        if resumed:
            self._paid = None

    def window(self, update: Mapping[str, Any], *, running: bool) -> None:
        """A `usage_update`; one between turns says what the session has cost until then."""
        self._window = {**self._window, **update}
        if not running:
            self._paid = self._said_cost() or self._paid

    def call(self, update: Mapping[str, Any]) -> Iterator[Usage]:
        """A piece of a message, on which some agents report the model call."""
        if self._of_call and (tokens := self._figures(_at(update, self._of_call))):
            yield _usage("call", tokens, tokens.prompt, self._size())

    def turn(self, result: Mapping[str, Any], *, one_call: bool) -> Iterator[Usage | Cost]:
        """What the answer to a prompt says; `one_call`: no tool was called, so that the model was asked once.

        A turn whose calls are reported is their sum.
        """
        said = self._figures(_at(result, self._convention.field)) if self._of_call is None else None
        context = self._context(result)
        tokens = self._of_turn(said)
        if self._convention.turn == "last-call" and said:
            yield _usage("call", said, context or said.prompt, self._size())
            yield _usage("turn", said if one_call else Tokens(), None, self._size())
        elif self._of_call is None and (tokens or context):
            yield _usage("turn", tokens or Tokens(), context, self._size())
        yield from self._cost()
        self._window = {key: value for key, value in self._window.items() if key == "size"}

    def _of_turn(self, said: Tokens | None) -> Tokens | None:
        if said is None or self._convention.turn not in {"process", "cumulative"}:
            return said
        before, self._counters = self._counters, said
        added = since(said, before)
        return None if added is None or added.nothing else added

    def _figures(self, value: Any) -> Tokens | None:
        """Figures in their normal form; zeros say that the agent knows of no call."""
        if self._convention.turn == "none" or not isinstance(value, dict):
            return None
        said = figures(value)
        return None if said.nothing else normal(said, self._convention)

    def _context(self, result: Mapping[str, Any]) -> int | None:
        where = self._convention.context or ""
        if where.startswith(UPDATE):
            return count(_at(self._window, where.removeprefix(UPDATE))) or None
        return count(_at(result, where)) or None if where else None

    def _size(self) -> int | None:
        return count(self._window.get("size")) or None

    def _said_cost(self) -> float | None:
        """Dollars that the session has cost so far; an agent that knows no price says 0."""
        where = self._convention.cost or ""
        said = mapping(_at(self._window, where.removeprefix(UPDATE))) if where.startswith(UPDATE) else {}
        return number(said.get("amount")) or None if first(said.get("currency")) == "USD" else None

    def _cost(self) -> Iterator[Cost]:
        said = self._said_cost()
        if said is None:
            return
        before, self._paid = self._paid, said
        if before is not None and said > before:
            yield Cost(round(said - before, 9))


def figures(value: Mapping[str, Any]) -> Tokens:
    """The figures as they stand there."""
    known = [_one(value, names) for names in (INPUT, CACHE_READ, CACHE_WRITE, OUTPUT, REASONING)]
    given, read, written, output, reasoning = known
    return Tokens(given, read, written, None, output, reasoning)


def _one(value: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    return next((found for name in names if (found := count(value.get(name))) is not None), None)


def _at(value: Any, path: str | None) -> Any:
    """What stands at a path of keys; null where it does not."""
    for key in path.split(".") if path else ():
        value = mapping(value).get(key)
    return value if path else None


def _usage(scope: Any, tokens: Tokens, context: int | None, window: int | None) -> Usage:
    return Usage(
        scope,
        tokens.input,
        tokens.cache_read,
        tokens.cache_write,
        tokens.cache_write_1h,
        tokens.output,
        tokens.reasoning,
        context_tokens=context,
        context_window=window,
    )
