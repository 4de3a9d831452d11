"""From events to an account: calls, turns, the run; what stands in the context, what the cache served, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agentmux_launcher.events import Compaction, Cost, End, Event, Session, Text, Thinking, ToolCall, Usage
from agentmux_launcher.usage import ZERO, Tokens, plus

if TYPE_CHECKING:
    from collections.abc import Iterable

# Beyond it a context is believed only where the CLI says that the model's window is larger.
LARGEST_CONTEXT = 1_000_000


@dataclass(frozen=True, slots=True)
class Call:
    """One model call; `context` is its whole input. `parent` is the tool call whose sub-agent made it."""

    tokens: Tokens
    context: int | None = None
    message_id: str | None = None
    model: str | None = None
    parent: str | None = None
    after_compaction: bool = False

    @property
    def cache_hit(self) -> float | None:
        """The part of its input that the cache served, 0 to 1."""
        return _part(self.tokens.cache_read, self.context)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn. `reported` are its figures as its closing frame has them; `stop_reason` is null while it runs.

    `spoke`: the model said or did something, so that there were calls, whether reported or not.
    """

    calls: tuple[Call, ...] = ()
    reported: Tokens | None = None
    usd: float | None = None
    stop_reason: str | None = None
    compactions: int = 0
    spoke: bool = False

    @property
    def tokens(self) -> Tokens | None:
        """What the turn used: as reported, else the sum of its calls; null where neither is known."""
        if self.reported is not None:
            return self.reported
        return total(call.tokens for call in self.calls) if self.calls else None

    @property
    def idle(self) -> bool:
        """Whether nothing shows that it used anything: one that was refused, say."""
        return self == Turn(stop_reason=self.stop_reason)


@dataclass(frozen=True, slots=True)
class Account:
    """A run so far. `turns` ends with the one that is under way, if it has done anything.

    `context` is the input of the agent's last call, or what fills the window behind a turn where the CLI says that
    alone; null before it, and after a compaction until the next. `windows` are sizes of context windows that the
    catalog knows, by globs of models.
    """

    turns: tuple[Turn, ...] = ()
    context: int | None = None
    context_start: int | None = None
    largest_context: int | None = None
    reported_window: int | None = None
    model: str | None = None
    windows: Mapping[str, int] = field(default_factory=dict)
    counted: frozenset[str] = field(default_factory=frozenset)

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(call for turn in self.turns for call in turn.calls)

    @property
    def last_call(self) -> Call | None:
        """The agent's own last call, not a sub-agent's."""
        return next((call for call in reversed(self.calls) if call.parent is None), None)

    @property
    def tokens(self) -> Tokens | None:
        """What the run used; a figure that some turn does not know is null."""
        used = [turn.tokens for turn in self.turns if not turn.idle]
        known = [tokens for tokens in used if tokens is not None]
        return total(known) if known and len(known) == len(used) else None

    @property
    def usd(self) -> float | None:
        costs = [turn.usd for turn in self.turns if turn.usd is not None]
        return round(sum(costs), 9) if costs else None

    @property
    def cumulative_prefill(self) -> int | None:
        """Cumulative prefill: the whole input of every call, cached or not."""
        return self.tokens.prompt if self.tokens else None

    @property
    def added(self) -> int | None:
        """By how much the context grew from the first call to the last."""
        if self.context is None or self.context_start is None:
            return None
        return self.context - self.context_start

    @property
    def prefill_ratio(self) -> float | None:
        """How many times over the session as it now stands was sent."""
        return None if self.cumulative_prefill is None or not self.context else self.cumulative_prefill / self.context

    @property
    def cache_hit(self) -> float | None:
        """The part of the cumulative prefill that the cache served, 0 to 1."""
        return _part(self.tokens.cache_read, self.cumulative_prefill) if self.tokens else None


def account(events: Iterable[Event]) -> Account:
    """The account of a run's events, in their order."""
    so_far = Account()
    for event in events:
        so_far = add(so_far, event)
    return so_far


def add(so_far: Account, event: Event) -> Account:
    """The account after one more event."""
    turn = so_far.turns[-1] if _is_open(so_far) else Turn()
    changed = so_far
    match event:
        case Text() | Thinking() | ToolCall() if not turn.spoke:
            changed = _put(so_far, replace(turn, spoke=True))
        case Usage(scope="call"):
            changed = _with_call(so_far, turn, event)
        case Usage():
            changed = _with_turn(so_far, turn, event)
        case Cost(usd):
            changed = _put(so_far, replace(turn, usd=usd))
        case Compaction():
            changed = replace(_put(so_far, replace(turn, compactions=turn.compactions + 1)), context=None)
        case End(stop_reason):
            changed = _put(so_far, replace(turn, stop_reason=stop_reason))
        case Session(model=str(model)):
            changed = replace(so_far, model=model)
        case _:
            pass
    return changed


def total(several: Iterable[Tokens]) -> Tokens:
    """The sum; what is not known of one is not known of it."""
    summed = ZERO
    for tokens in several:
        summed = plus(summed, tokens)
    return summed


def _with_call(so_far: Account, turn: Turn, usage: Usage) -> Account:
    if usage.message_id is not None and usage.message_id in so_far.counted:
        return so_far
    own = usage.parent is None
    context = _plausible(usage.context_tokens, so_far.reported_window)
    fresh = own and so_far.context is None and so_far.context_start is not None
    call = Call(tokens_of(usage), context, usage.message_id, usage.model, usage.parent, after_compaction=fresh)
    changed = _put(so_far, replace(turn, calls=(*turn.calls, call)))
    if usage.message_id is not None:
        changed = replace(changed, counted=so_far.counted | {usage.message_id})
    return _with_context(changed, context) if own else changed


def _with_turn(so_far: Account, turn: Turn, usage: Usage) -> Account:
    window = usage.context_window or so_far.reported_window
    changed = replace(_put(so_far, replace(turn, reported=tokens_of(usage))), reported_window=window)
    return _with_context(changed, _plausible(usage.context_tokens, window))


def _with_context(so_far: Account, context: int | None) -> Account:
    if context is None:
        return so_far
    return replace(
        so_far,
        context=context,
        context_start=so_far.context_start or context,
        largest_context=max(context, so_far.largest_context or 0),
    )


def _plausible(context: int | None, reported_window: int | None) -> int | None:
    largest = max(LARGEST_CONTEXT, reported_window or 0)
    return context if context is not None and 0 < context <= largest else None


def _put(so_far: Account, turn: Turn) -> Account:
    """The account with this as the turn that is under way."""
    before = so_far.turns[:-1] if _is_open(so_far) else so_far.turns
    return replace(so_far, turns=(*before, turn))


def _is_open(so_far: Account) -> bool:
    return bool(so_far.turns) and so_far.turns[-1].stop_reason is None


def tokens_of(usage: Usage) -> Tokens:
    """The figures of a usage event."""
    return Tokens(
        usage.input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.cache_write_1h_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
    )


def _part(some: int | None, whole: int | None) -> float | None:
    return None if some is None or not whole else some / whole
