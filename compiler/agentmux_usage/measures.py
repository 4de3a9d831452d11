"""The measures of a session: how often it was read again, and what of that the cache served."""

from __future__ import annotations

from dataclasses import dataclass

from agentmux_usage.breaks import Break


@dataclass(frozen=True, slots=True)
class Measures:
    """What one session, or any group of responses, used. Token counts; null is not known, never 0.

    `turns` counts the agent's model calls, as the table of the source does; `prompts` the turns of the person.
    `context_start` is the whole input of the first call, `session_size` that of the last with its output, `added` their
    difference, `cumulative_prefill` the input of all calls with those of sub-agents, `prefill_ratio` that divided by
    the session's size. `seconds_cached` and `seconds_uncached` are the time for prefill and decode at the stated rates,
    with the cache and without.

    `prefilled` is what the cache did not serve: `uncached` and `cache_write`. `usd` is reckoned from price lists,
    `usd_reported` what the CLIs say. Of a group of several `sessions`, `context_start` and `session_size` are sums.
    `partial` names the figures that some response of the group does not state: these are at least what stands here.
    """

    turns: int
    prompts: int
    context_start: int | None
    session_size: int | None
    added: int | None
    cumulative_prefill: int | None
    prefill_ratio: float | None
    cache_read: int | None
    cache_write: int | None
    uncached: int | None
    cache_hit_pct: float | None
    output: int | None
    usd: float | None
    seconds_cached: float | None
    seconds_uncached: float | None
    sessions: int = 1
    prefilled: int | None = None
    usd_reported: float | None = None
    partial: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the report. `key` is what it is grouped by: a session's id, an agent, a provider, a model, a day.

    `folder` is where a session began.
    """

    key: str
    agent: str | None
    provider: str | None
    model: str | None
    started: float
    ended: float
    measures: Measures
    breaks: tuple[Break, ...] = ()
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """All that `agentmux usage` shows: rows, their total, and what they rest on.

    `by` is the grouping, `zone` the time zone of its days, `since` and `until` the bounds (seconds, UTC; null is open),
    `price_as_of` the newest day of a price that was used. `sources` are what was read, `notes` what could not be.
    """

    by: str
    rows: tuple[Row, ...]
    total: Measures
    zone: str
    since: float | None
    until: float | None
    prefill_rate: float
    decode_rate: float
    price_as_of: str | None
    sources: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
