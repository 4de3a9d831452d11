"""The report of usage for people: a table, its sum, what it rests on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux import usage_words as words
from agentmux.table import table
from agentmux_compiler.render.paint import Paint
from agentmux_compiler.render.visible import cells, head, visible
from agentmux_compiler.render.words import count
from agentmux_usage.zone import Zone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_usage.breaks import Break
    from agentmux_usage.measures import Measures, Report, Row

SHORTEST_ID = 8
_NOUNS = {
    "session": "SESSION",
    "turn": "SESSION#TURN",
    "agent": "AGENT",
    "provider": "PROVIDER",
    "model": "MODEL",
    "day": "DAY",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of measures. The higher its `rank`, the sooner it goes where the width is not enough."""

    head: str
    figure: str
    show: Callable[[float | None], str]
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """How a report is shown: so many rows (0: all), so wide (None: as wide as it is), with a list of its breaks."""

    zone: Zone
    paint: Paint
    limit: int = 0
    width: int | None = None
    breaks: bool = False


FIGURES = (
    Column("SESSIONS", "sessions", words.tokens, 5),
    Column("TURNS", "turns", words.tokens, 1),
    Column("START", "context_start", words.tokens, 6),
    Column("SIZE", "session_size", words.tokens, 2),
    Column("ADDED", "added", words.tokens, 7),
    Column("PREFILL", "cumulative_prefill", words.tokens),
    Column("RATIO", "prefill_ratio", words.ratio, 1),
    Column("HITS", "cache_hit_pct", words.percent),
    Column("PREFILLED", "prefilled", words.tokens, 3),
    Column("OUTPUT", "output", words.tokens, 4),
    Column("COST", "usd", words.money),
)
# A sum of these over several sessions says nothing to people.
_OF_SESSIONS = {"context_start", "session_size", "added"}


def text(report: Report, shown: Shown) -> str:
    """The whole report."""
    rows = report.rows[: shown.limit] if shown.limit else report.rows
    parts = [_table(report, rows, shown)]
    if shown.breaks:
        parts.append(_breaks(report, shown))
    parts.append("".join(f"{visible(line)}\n" for line in _foot(report, rows, shown)))
    return "\n".join(parts)


def _table(report: Report, rows: Sequence[Row], shown: Shown) -> str:
    names = _names(report, rows, shown.zone)
    hidden = {"sessions"} if report.by in {"session", "turn"} else _OF_SESSIONS
    figures = [column for column in FIGURES if column.figure not in hidden]
    lost = any(row.breaks for row in report.rows)
    while True:
        heads = [*names[0], *(column.head for column in figures), *(["LOST"] if lost else [])]
        lines = [
            [*name, *_figures(row.measures, figures), *([_lost(row.breaks)] if lost else [])]
            for name, row in zip(names[1:], rows, strict=True)
        ]
        every = [each for row in report.rows for each in row.breaks]
        total = ["total", *[""] * (len(names[0]) - 1), *_figures(report.total, figures)]
        lines.append([*total, *([_lost(every)] if lost else [])])
        least = max(figures, key=lambda column: column.rank)
        if shown.width is None or not least.rank or _wide(heads, lines) <= shown.width:
            return table(heads, lines, shown.paint, range(len(names[0]), len(heads)))
        figures.remove(least)


def _names(report: Report, rows: Sequence[Row], zone: Zone) -> list[list[str]]:
    """What names a row: the heads, then a line for each; a column that would be the same everywhere is left out."""
    key, short = _NOUNS[report.by], _short_ids(rows) if report.by in {"session", "turn"} else {}
    columns = [[key, *(short.get(row.key, row.key) for row in rows)]]
    if report.by in {"session", "turn"}:
        columns.insert(0, ["LATEST", *(_minute(row.ended, zone) for row in rows)])
    for name in ("agent", "provider", "model"):
        values = [getattr(row, name) for row in rows]
        if report.by in {"session", "turn"} and any(values):
            columns.append([name.upper(), *(value or words.UNKNOWN for value in values)])
    return [list(line) for line in zip(*columns, strict=True)]


def _short_ids(rows: Sequence[Row]) -> dict[str, str]:
    """As much of each id as tells it from the others; the number of a turn stays."""
    ids = {row.key: row.key.rpartition("#")[::2] if "#" in row.key else (row.key, "") for row in rows}
    whole = {identity or key for key, (identity, _) in ids.items()}
    size = SHORTEST_ID
    while len({identity[:size] for identity in whole}) < len(whole):
        size += 1
    return {key: (identity or key)[:size] + (f"#{turn}" if turn else "") for key, (identity, turn) in ids.items()}


def _figures(measures: Measures, columns: Sequence[Column]) -> list[str]:
    return [_figure(measures, column) for column in columns]


def _figure(measures: Measures, column: Column) -> str:
    value = column.show(getattr(measures, column.figure))
    return f"{value}+" if column.figure in measures.partial and value != words.UNKNOWN else value


def _lost(breaks: Sequence[Break]) -> str:
    return f"{words.tokens(sum(each.lost for each in breaks))} ({len(breaks)})" if breaks else ""


def _wide(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> int:
    columns = zip(heads, *lines, strict=True)
    return sum(max(cells(visible(cell)) for cell in column) for column in columns) + 2 * (len(heads) - 1)


def _breaks(report: Report, shown: Shown) -> str:
    """What each cost, what a build had said that it would, why, and where the cause stands."""
    found = sorted((each for row in report.rows for each in row.breaks), key=lambda each: -each.time)
    if not found:
        return "no break: every call read what the calls before it had stored, as far as that is known\n"
    limited = found[: shown.limit] if shown.limit else found
    heads = ("TIME", "SESSION", "TURN", "LOST", "PREDICTED", "COST", "REASON", "WHERE", "EVIDENCE")
    lines = [_break(each, shown.zone) for each in limited]
    left = [f"{count(len(found) - len(limited), 'more break')}: `--limit 0` shows all\n"]
    return table(heads, lines, shown.paint, (2, 3, 4, 5)) + "".join(left if len(found) > len(limited) else [])


def _break(each: Break, zone: Zone) -> tuple[str, ...]:
    return (
        _minute(each.time, zone),
        each.session_id[:SHORTEST_ID],
        str(each.turn),
        words.tokens(each.lost),
        words.tokens(each.predicted),
        words.money(each.usd),
        each.reason.value,
        words.UNKNOWN if each.line is None else f"{each.line.path}:{each.line.line}",
        each.evidence,
    )


def _foot(report: Report, rows: Sequence[Row], shown: Shown) -> Iterator[str]:
    """What the figures are of, and what they rest on."""
    hidden = len(report.rows) - len(rows)
    if hidden:
        yield f"{count(hidden, 'more row')}: `--limit 0` shows all"
    yield f"{_range(report, shown.zone)}, {report.zone}; {count(report.total.sessions, 'session')}"
    yield from _time(report)
    yield from _money(report)
    shown_figures = {column.figure for column in FIGURES}
    if any(shown_figures.intersection(each.partial) for each in (report.total, *(row.measures for row in rows))):
        yield "+ is at least: not every response states it"
    lost = [each for row in report.rows for each in row.breaks]
    if lost and not shown.breaks:
        sum_of_it = words.tokens(sum(each.lost for each in lost))
        yield f"{count(len(lost), 'broken cache')} lost {sum_of_it} tokens: `--breaks` says which and why"
    yield from (f"note: {note}" for note in report.notes)
    if report.sources:
        yield f"read: {', '.join(report.sources)}"


def _range(report: Report, zone: Zone) -> str:
    since, until = (None if each is None else _minute(each, zone) for each in (report.since, report.until))
    if since is None and until is None:
        return "all time"
    return f"{'from the beginning' if since is None else f'from {since}'} to {'now' if until is None else until}"


def _time(report: Report) -> Iterator[str]:
    cached, uncached = report.total.seconds_cached, report.total.seconds_uncached
    if cached is not None and uncached is not None:
        rates = f"{report.prefill_rate:,g} tokens a second read and {report.decode_rate:,g} written"
        yield f"time: {words.duration(cached)} with the cache, {words.duration(uncached)} without, at {rates}"


def _money(report: Report) -> Iterator[str]:
    said = report.total.usd_reported
    beside = "" if said is None else f"the CLIs themselves say {words.money(said)}"
    if report.price_as_of is not None:
        yield f"cost: by the prices of {report.price_as_of}" + (f"; {beside}" if beside else "")
    elif beside:
        yield f"cost: {beside}"


def _minute(seconds: float, zone: Zone) -> str:
    return zone.local(seconds).strftime("%Y-%m-%d %H:%M")


def nothing(looked: Sequence[str]) -> Iterator[str]:
    """What to say where there is nothing to show: where it was looked, and what would fill it."""
    yield "no sessions to show"
    for place in looked:
        yield f"  looked in {head(visible(place), 160)}"
    yield "  `agentmux run AGENT PROMPT` fills the ledger; `--import PATH` reads transcripts from elsewhere"
