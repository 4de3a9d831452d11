"""The measures of the source, from the responses of sessions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_usage.measures import Measures
from agentmux_usage.priced import usd

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentmux_usage.response import Response

# Of the server in the measurements that the measures come from: DeepSeek V4.1 Flash on four DGX Spark.
PREFILL_RATE, DECODE_RATE = 6_200.0, 68.0


@dataclass(frozen=True, slots=True)
class Rates:
    """Tokens a second: read by a server that holds none of them, and written."""

    prefill: float = PREFILL_RATE
    decode: float = DECODE_RATE

    def seconds(self, prefilled: float | None, output: float | None) -> float | None:
        """The time for so many tokens read and written; null where one is not known."""
        return None if prefilled is None or output is None else prefilled / self.prefill + output / self.decode


@dataclass(slots=True)
class Sum:
    """The sum of what is known, null where nothing is; `whole` where everything is."""

    value: float | None = None
    whole: bool = True

    def add(self, values: Iterable[float | None]) -> None:
        every = list(values)
        known = [value for value in every if value is not None]
        if known:
            self.value = (self.value or 0) + sum(known)
        self.whole = self.whole and len(known) == len(every)

    @property
    def tokens(self) -> int | None:
        return None if self.value is None else int(self.value)

    @property
    def sure(self) -> float | None:
        """The sum where it is no mere bound."""
        return self.value if self.whole else None


class Measuring:
    """Measures of a group, of which one session after the other is added."""

    def __init__(self) -> None:
        self._sums: defaultdict[str, Sum] = defaultdict(Sum)
        self._sessions: set[tuple[str, str]] = set()
        self._prompts = 0

    def add(self, part: Sequence[Response]) -> None:
        """Responses of one session, in the order of their time."""
        if not part:
            return
        own = [response for response in part if response.kind == "main" and not _empty(response)]
        self._sessions.add((part[0].provider, part[0].session_id))
        self._prompts += len({response.turn for response in own if response.turn > 0})
        self._add_tokens(part)
        self._add_money(part)
        if own:
            self._add_contexts(own)

    def measures(self, rates: Rates) -> Measures:
        sums = self._sums
        prefill, size, read = sums["cumulative_prefill"], sums["session_size"], sums["cache_read"]
        return Measures(
            turns=sums["turns"].tokens or 0,
            prompts=self._prompts,
            context_start=sums["context_start"].tokens,
            session_size=size.tokens,
            added=sums["added"].tokens,
            cumulative_prefill=prefill.tokens,
            prefill_ratio=_divided(prefill.sure, size.sure),
            cache_read=read.tokens,
            cache_write=sums["cache_write"].tokens,
            uncached=sums["uncached"].tokens,
            cache_hit_pct=_divided(read.sure, prefill.sure, 100.0),
            output=sums["output"].tokens,
            usd=sums["usd"].value,
            seconds_cached=rates.seconds(sums["prefilled"].value, sums["output"].value),
            seconds_uncached=rates.seconds(prefill.value, sums["output"].value),
            sessions=len(self._sessions),
            prefilled=sums["prefilled"].tokens,
            usd_reported=sums["usd_reported"].value,
            partial=self._partial(),
        )

    def _add_tokens(self, part: Sequence[Response]) -> None:
        tokens, sums = [response.tokens for response in part], self._sums
        writes = [_plus(each.cache_write, each.cache_write_1h) for each in tokens]
        inputs = [each.input for each in tokens]
        sums["cumulative_prefill"].add(each.prompt for each in tokens)
        sums["cache_read"].add(each.cache_read for each in tokens)
        sums["cache_write"].add(writes)
        sums["uncached"].add(inputs)
        sums["prefilled"].add(
            None if fresh is None else fresh + (written or 0) for fresh, written in zip(inputs, writes, strict=True)
        )
        sums["output"].add(each.output for each in tokens)

    def _add_money(self, part: Sequence[Response]) -> None:
        """A response for which nothing was used costs nothing, whatever its price. CLIs reckon turns, not responses."""
        self._sums["usd"].add(0.0 if _empty(response) else usd(response) for response in part)
        self._sums["usd_reported"].add(response.usd for response in part if response.usd is not None)

    def _add_contexts(self, own: Sequence[Response]) -> None:
        """The agent's own calls: how many, where the session began, how large it has become."""
        start, size = own[0].context, _both(own[-1].context, own[-1].tokens.output)
        self._sums["context_start"].add([start])
        self._sums["session_size"].add([size])
        self._sums["added"].add([None if size is None or start is None else size - start])
        turns = self._sums["turns"]
        turns.add([sum(response.calls or 1 for response in own)])
        turns.whole = turns.whole and all(response.calls is not None for response in own)

    def _partial(self) -> tuple[str, ...]:
        """The names of the sums that are bounds, and of the times that follow from them."""
        partial = {name for name, each in self._sums.items() if each.value is not None and not each.whole}
        needs = {"seconds_cached": {"prefilled", "output"}, "seconds_uncached": {"cumulative_prefill", "output"}}
        return tuple(sorted(partial | {name for name, counts in needs.items() if counts & partial}))


def measure(parts: Iterable[Sequence[Response]], rates: Rates) -> Measures:
    """The measures of a group; each part holds responses of one session, in the order of their time."""
    group = Measuring()
    for part in parts:
        group.add(part)
    return group.measures(rates)


def _empty(response: Response) -> bool:
    """Whether the CLI noted a response for which no model did anything: an error, an interruption."""
    return response.tokens.input == 0 and not response.tokens.output and response.tokens.prompt == 0


def _plus(one: int | None, two: int | None) -> int | None:
    return None if one is None and two is None else (one or 0) + (two or 0)


def _both(one: int | None, two: int | None) -> int | None:
    return None if one is None or two is None else one + two


def _divided(some: float | None, whole: float | None, times: float = 1.0) -> float | None:
    return None if some is None or not whole else some / whole * times
