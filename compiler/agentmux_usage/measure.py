"""The measures of the source, from the responses of sessions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_usage.measures import Measures
from agentmux_usage.priced import usd

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentmux_usage.response import Response

# Of the server in the measurements that the measures come from: DeepSeek V4.1 Flash on four DGX Spark.
PREFILL_RATE, DECODE_RATE = 6_200.0, 68.0

# The sum of PREFILL where there is a SIZE to divide it by.
SIZED = "sized_prefill"


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

    def add(self, other: Sum) -> None:
        if other.value is not None:
            self.value = other.value if self.value is None else self.value + other.value
        self.whole = self.whole and other.whole

    @property
    def tokens(self) -> int | None:
        return None if self.value is None else int(self.value)

    @property
    def sure(self) -> float | None:
        """The sum where it is no mere bound."""
        return self.value if self.whole else None


@dataclass(frozen=True, slots=True)
class Part:
    """The sums of responses of one session. `prompts` are the turns of the person in them."""

    session: tuple[str, str]
    prompts: int
    sums: Mapping[str, Sum]


def part_of(responses: Sequence[Response]) -> Part:
    """What responses of one session (at least one, in the order of their time) add up to."""
    own = [response for response in responses if response.kind == "main" and not _empty(response)]
    tokens = _tokens(responses)
    # What sub-agents alone have read is no reading of a session, whose size is not known then.
    contexts = {**_contexts(own), SIZED: tokens["cumulative_prefill"]} if own else {}
    return Part(
        session=(responses[0].provider, responses[0].session_id),
        prompts=len({response.turn for response in own if response.turn > 0}),
        sums={**tokens, **_money(responses), **contexts},
    )


class Measuring:
    """Measures of a group, of which one part after the other is added."""

    def __init__(self) -> None:
        self._sums: defaultdict[str, Sum] = defaultdict(Sum)
        self._sessions: set[tuple[str, str]] = set()
        self._prompts = 0

    def add(self, part: Part) -> None:
        self._sessions.add(part.session)
        self._prompts += part.prompts
        for name, each in part.sums.items():
            self._sums[name].add(each)

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
            prefill_ratio=_divided(sums[SIZED].sure, size.sure),
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

    def _partial(self) -> tuple[str, ...]:
        """The names of the sums that are bounds, and of the times that follow from them."""
        partial = {name for name, each in self._sums.items() if each.value is not None and not each.whole} - {SIZED}
        needs = {"seconds_cached": {"prefilled", "output"}, "seconds_uncached": {"cumulative_prefill", "output"}}
        return tuple(sorted(partial | {name for name, counts in needs.items() if counts & partial}))


def measure(parts: Iterable[Sequence[Response]], rates: Rates) -> Measures:
    """The measures of a group; each part holds responses of one session, in the order of their time."""
    group = Measuring()
    for part in parts:
        if part:
            group.add(part_of(part))
    return group.measures(rates)


def _sum(values: Sequence[float | None]) -> Sum:
    known = [value for value in values if value is not None]
    return Sum(sum(known) if known else None, len(known) == len(values))


def _tokens(responses: Sequence[Response]) -> dict[str, Sum]:
    tokens = [response.tokens for response in responses]
    inputs = [each.input for each in tokens]
    writes = [_plus(each.cache_write, each.cache_write_1h) for each in tokens]
    reads = [each.cache_read for each in tokens]
    fresh = [None if new is None else new + (kept or 0) for new, kept in zip(inputs, writes, strict=True)]
    whole = [None if new is None else new + (read or 0) for new, read in zip(fresh, reads, strict=True)]
    return {
        "cumulative_prefill": _sum(whole),
        "cache_read": _sum(reads),
        "cache_write": _sum(writes),
        "uncached": _sum(inputs),
        "prefilled": _sum(fresh),
        "output": _sum([each.output for each in tokens]),
    }


def _money(responses: Sequence[Response]) -> dict[str, Sum]:
    """A response for which nothing was used costs nothing, whatever its price. CLIs reckon turns, not responses."""
    return {
        "usd": _sum([0.0 if _empty(response) else usd(response) for response in responses]),
        "usd_reported": _sum([response.usd for response in responses if response.usd is not None]),
    }


def _contexts(own: Sequence[Response]) -> dict[str, Sum]:
    """The agent's own calls: how many, where the session began, how large it has become."""
    start, size = own[0].context, _both(own[-1].context, own[-1].tokens.output)
    return {
        "turns": Sum(sum(response.calls or 1 for response in own), all(response.calls for response in own)),
        "context_start": _sum([start]),
        "session_size": _sum([size]),
        "added": _sum([None if size is None or start is None else size - start]),
    }


def _empty(response: Response) -> bool:
    """Whether the CLI noted a response for which no model did anything: an error, an interruption."""
    return response.tokens.input == 0 and not response.tokens.output and response.tokens.prompt == 0


def _plus(one: int | None, two: int | None) -> int | None:
    return None if one is None and two is None else (one or 0) + (two or 0)


def _both(one: int | None, two: int | None) -> int | None:
    return None if one is None or two is None else one + two


def _divided(some: float | None, whole: float | None, times: float = 1.0) -> float | None:
    return None if some is None or not whole else some / whole * times
