"""Token figures of Claude's dialect: of a call, and of a turn from its closing frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import Cost, Usage
from agentmux_launcher.translators.values import count, mapping, number
from agentmux_launcher.usage import ZERO, Tokens, normal, plus, since

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentmux_launcher.usage import Convention, Start

SMALLEST_WINDOW, LARGEST_WINDOW = 1_000, 100_000_000
LATEST = "model_usage_since_last_result"


class TurnFigures:
    """Turns the counters of closing frames into the figures of single turns.

    What the CLI says it used since its last closing frame comes first; it also covers sub-agents, hidden calls and
    calls that were cut. Then the difference of its counters by model, which begin with the process. Where a session
    goes on, those may begin with the session: there only the figures of the turn itself are certain.
    """

    def __init__(self, convention: Convention, start: Start) -> None:
        self._convention = convention
        self._by_model = None if start.resumed else ZERO
        self._usd = None if start.resumed else 0.0
        self.counters = start.counters

    def events(self, frame: Mapping[str, Any], model: str | None) -> Iterator[Usage | Cost]:
        """The zeros of a turn that failed say nothing: what it cost is not known."""
        failed = frame.get("is_error") is True
        tokens, usd = self._tokens(frame), self._cost(frame)
        if tokens is not None and not (failed and tokens.nothing):
            yield _turn_usage(tokens, frame, model)
        if usd is not None and not (failed and usd == 0):
            yield Cost(usd)

    def _tokens(self, frame: Mapping[str, Any]) -> Tokens | None:
        if self._convention.turn == "cumulative":
            return self._counted(normal(call_figures(frame.get("usage")), self._convention))
        models, latest = frame.get("modelUsage"), frame.get(LATEST)
        before = self._by_model
        if isinstance(models, dict):
            self._by_model = _total(models)
        if isinstance(latest, dict):
            return _total(latest)
        if isinstance(models, dict) and before is not None and self._by_model is not None:
            return since(self._by_model, before)
        return normal(call_figures(frame["usage"]), self._convention) if "usage" in frame else None

    def _counted(self, now: Tokens) -> Tokens | None:
        before, self.counters = self.counters, now
        return since(now, before)

    def _cost(self, frame: Mapping[str, Any]) -> float | None:
        latest, total = frame.get(LATEST), number(frame.get("total_cost_usd"))
        before, self._usd = self._usd, self._usd if total is None else total
        if isinstance(latest, dict):
            costs = [number(mapping(value).get("costUSD")) for value in latest.values()]
            return None if None in costs else _dollars(sum(filter(None, costs)))
        if total is None or before is None:
            return None
        return _dollars(total - before if total >= before else total)


def call_figures(usage: Any) -> Tokens:
    """The figures of a call or a turn as the CLI says them."""
    value = mapping(usage)
    split = mapping(value.get("cache_creation"))
    written, hour = (count(split.get(f"ephemeral_{lifetime}_input_tokens")) for lifetime in ("5m", "1h"))
    total = count(value.get("cache_creation_input_tokens"))
    if written is None and total is not None:
        written = max(0, total - (hour or 0))
    return Tokens(
        count(value.get("input_tokens")),
        count(value.get("cache_read_input_tokens")),
        written,
        hour,
        count(value.get("output_tokens")),
        count(mapping(value.get("output_tokens_details")).get("thinking_tokens")),
    )


def closing(begun: Tokens, now: Tokens) -> Tokens:
    """The figures at the end of a call, which repeat the input without the split of what was written, or not at all."""
    written = sum(filter(None, (begun.cache_write, begun.cache_write_1h)))
    split = now.cache_write in {None, written}
    return Tokens(
        begun.input if now.input is None else now.input,
        begun.cache_read if now.cache_read is None else now.cache_read,
        begun.cache_write if split else now.cache_write,
        begun.cache_write_1h if split else now.cache_write_1h,
        now.output,
        now.reasoning,
    )


def _total(models: Mapping[str, Any]) -> Tokens:
    total = ZERO
    for value in models.values():
        total = plus(total, _of_model(mapping(value)))
    return total


def _of_model(value: Mapping[str, Any]) -> Tokens:
    written = count(value.get("cacheCreationEphemeral5mInputTokens"))
    return Tokens(
        count(value.get("inputTokens")),
        count(value.get("cacheReadInputTokens")),
        count(value.get("cacheCreationInputTokens")) if written is None else written,
        count(value.get("cacheCreationEphemeral1hInputTokens")),
        count(value.get("outputTokens")),
        count(value.get("thinkingTokens")),
    )


def _turn_usage(tokens: Tokens, frame: Mapping[str, Any], model: str | None) -> Usage:
    return Usage(
        "turn",
        tokens.input,
        tokens.cache_read,
        tokens.cache_write,
        tokens.cache_write_1h,
        tokens.output,
        tokens.reasoning,
        context_window=window(frame.get("modelUsage"), model),
        model=model,
    )


def window(models: Any, model: str | None) -> int | None:
    """The context window reported for `model`, also under its canonical name or without `[1m]`: the larger."""
    entries = {name: mapping(value) for name, value in mapping(models).items()}
    bare = _bare(model)
    named = [value for name, value in entries.items() if bare in {_bare(name), _bare(value.get("canonicalModel"))}]
    meant = named or (list(entries.values()) if len(entries) == 1 else [])
    found = [count(value.get("contextWindow")) for value in meant]
    return max((each for each in found if each and SMALLEST_WINDOW <= each <= LARGEST_WINDOW), default=None)


def _bare(model: Any) -> str | None:
    return model.removesuffix("[1m]") if isinstance(model, str) else None


def _dollars(value: float) -> float:
    """Without the noise of adding fractions."""
    return round(value, 9)
