"""What stands below the table of usage: what the figures are of, and what they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux.usage import words
from agentmux_compiler.render.visible import head, visible
from agentmux_compiler.render.words import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_usage.measures import Report, Row
    from agentmux_usage.report import Asked
    from agentmux_usage.zone import Zone

_SOURCES = 8
# Measures of which people see whether something is missing.
_SHOWN = frozenset(
    {
        "turns",
        "context_start",
        "session_size",
        "added",
        "cumulative_prefill",
        "prefilled",
        "output",
        "usd",
        "seconds_cached",
        "seconds_uncached",
    }
)
_MEANINGS = {
    "PREFILL": "input of all calls",
    "HITS": "of it from the cache",
    "PREFILLED": "of it not",
    "RATIO": "how often over the session was read",
    "LOST": "read anew though it was stored",
}


def legend(heads: Sequence[str]) -> str:
    """What the heads mean that say little by themselves."""
    return "; ".join(f"{name}: {meaning}" for name, meaning in _MEANINGS.items() if name in heads)


def foot(report: Report, rows: Sequence[Row], zone: Zone, *, breaks: bool) -> Iterator[str]:
    """What the figures are of, and what they rest on."""
    hidden = len(report.rows) - len(rows)
    if hidden:
        yield f"{count(hidden, 'more row')}: `--limit 0` shows all"
    yield f"{range_of(report, zone)}, {report.zone}; {count(report.total.sessions, 'session')}"
    yield from _time(report)
    yield from _money(report)
    if any(_SHOWN.intersection(each.partial) for each in (report.total, *(row.measures for row in rows))):
        yield "+ is at least: not every response states it"
    lost = [each for row in report.rows for each in row.breaks]
    if lost and not breaks:
        sum_of_it = words.tokens(sum(each.lost for each in lost))
        paid = [each.usd for each in lost if each.usd is not None]
        cost = f" ({words.money(sum(paid))}{'' if len(paid) == len(lost) else '+'})" if paid else ""
        yield f"{count(len(lost), 'broken cache')} lost {sum_of_it} tokens{cost}: `--breaks` says which and why"
    yield from (f"note: {note}" for note in report.notes)
    if report.sources:
        more = f" and {len(report.sources) - _SOURCES:,} more" if len(report.sources) > _SOURCES else ""
        yield f"read: {', '.join(report.sources[:_SOURCES])}{more}"


def range_of(report: Report | Asked, zone: Zone) -> str:
    """The time that a report is of."""
    since, until = (None if each is None else words.minute(each, zone) for each in (report.since, report.until))
    if since is None and until is None:
        return "all time"
    return f"{'from the beginning' if since is None else f'from {since}'} to {'now' if until is None else until}"


def _time(report: Report) -> Iterator[str]:
    cached, uncached = report.total.seconds_cached, report.total.seconds_uncached
    if cached is not None and uncached is not None:
        rates = f"{report.prefill_rate:,g} tokens a second read and {report.decode_rate:,g} written"
        said = (words.duration(cached), words.duration(uncached))
        names = ("seconds_cached", "seconds_uncached")
        with_it, without = (words.at_least(text, report.total, name) for text, name in zip(said, names, strict=True))
        yield f"time: {with_it} with the cache, {without} without, at {rates}"


def _money(report: Report) -> Iterator[str]:
    said = report.total.usd_reported
    beside = "" if said is None else f"the CLIs themselves say {words.money(said)} for what they price"
    if report.price_as_of is not None:
        yield f"cost: by the prices of {report.price_as_of}" + (f"; {beside}" if beside else "")
    elif beside:
        yield f"cost: {beside}"


def _filters(asked: Asked) -> list[tuple[str, frozenset[str]]]:
    return [(what, names) for what, names in (("agent", asked.agents), ("provider", asked.providers)) if names]


def nothing(asked: Asked, looked: Sequence[str]) -> Iterator[str]:
    """What to say where there is nothing to show: where it was looked, and what would fill it."""
    open_range = asked.since is None and asked.until is None
    named = [f"{what} {' or '.join(f'`{visible(name)}`' for name in sorted(names))}" for what, names in _filters(asked)]
    of_them = f" of {' and '.join(named)}" if named else ""
    yield f"no sessions to show{of_them}" + ("" if open_range else f" {range_of(asked, asked.zone)}, {asked.zone.name}")
    yield from (f"  looked in {head(visible(place), 160)}" for place in looked)
    yield "  `agentmux run AGENT PROMPT` fills the ledger; `--import PATH` reads transcripts from elsewhere"
