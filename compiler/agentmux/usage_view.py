"""The report of usage for people: a table, its sum, what it rests on."""

from __future__ import annotations

import re
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
    from collections.abc import Iterator, Mapping, Sequence

    from agentmux_usage.breaks import Break
    from agentmux_usage.measures import Measures, Report, Row
    from agentmux_usage.report import Asked

SHORTEST_ID = 8
LONGEST_NAME, LONGEST_EVIDENCE = 48, 400
_NOUNS = {
    "session": "SESSION",
    "turn": "SESSION#TURN",
    "agent": "AGENT",
    "provider": "PROVIDER",
    "model": "MODEL",
    "day": "DAY",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure that is shown. The higher its `rank`, the sooner it goes where the width is not enough."""

    head: str
    name: str
    show: Callable[[float | None], str]
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """A column as it stands in the table, its head first and the sum of all last."""

    cells: tuple[str, ...]
    rank: int = 0
    right: bool = True

    @property
    def width(self) -> int:
        return max(cells(visible(cell)) for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Shown:
    """How a report is shown: so many rows (0: all), so wide (None: as wide as it is), with a list of its breaks."""

    zone: Zone
    paint: Paint
    limit: int = 0
    width: int | None = None
    breaks: bool = False


FIGURES = (
    Figure("SESSIONS", "sessions", words.tokens, 7),
    Figure("TURNS", "turns", words.tokens, 3),
    Figure("START", "context_start", words.tokens, 8),
    Figure("SIZE", "session_size", words.tokens, 4),
    Figure("ADDED", "added", words.tokens, 9),
    Figure("PREFILL", "cumulative_prefill", words.tokens),
    Figure("RATIO", "prefill_ratio", words.ratio, 3),
    Figure("HITS", "cache_hit_pct", words.percent),
    Figure("PREFILLED", "prefilled", words.tokens, 5),
    Figure("OUTPUT", "output", words.tokens, 6),
    Figure("COST", "usd", words.money),
)
_MEANINGS = {
    "PREFILL": "input of all calls",
    "HITS": "of it from the cache",
    "PREFILLED": "of it not",
    "RATIO": "how often over the session was read",
    "LOST": "read anew though it was stored",
}
_OF_ONE = ("session", "turn")
# A sum of these over several sessions says nothing to people.
_OF_SESSIONS = {"context_start", "session_size", "added"}
_NAMES = (("agent", 0), ("provider", 2), ("model", 1))


def text(report: Report, shown: Shown) -> str:
    """The whole report."""
    rows = report.rows[: shown.limit] if shown.limit else report.rows
    made, left = _table(report, rows, shown)
    parts = [made]
    if shown.breaks:
        parts.append(_breaks(report, shown))
    foot = [f"a wider terminal also shows {', '.join(left)}"] if left else []
    foot += _foot(report, rows, shown)
    foot.append(_legend(made.partition("\n")[0].split()))
    parts.append("".join(f"{visible(line)}\n" for line in foot))
    return "\n".join(parts)


def _table(report: Report, rows: Sequence[Row], shown: Shown) -> tuple[str, list[str]]:
    """The table, and the heads of what it has no room for."""
    columns = [*_names(report, rows, shown.zone), *_figures(report, rows)]
    if any(row.breaks for row in report.rows):
        every = [each for row in report.rows for each in row.breaks]
        columns.append(Column(("LOST", *(_lost(row.breaks) for row in rows), _lost(every))))
    left: list[str] = []
    while shown.width is not None and sum(column.width + 2 for column in columns) - 2 > shown.width:
        least = max(columns, key=lambda column: column.rank)
        if not least.rank:
            break
        columns.remove(least)
        left.append(least.cells[0])
    heads, *lines = zip(*(column.cells for column in columns), strict=True)
    right = {index for index, column in enumerate(columns) if column.right}
    return table(heads, lines, shown.paint, right), left


def _names(report: Report, rows: Sequence[Row], zone: Zone) -> Iterator[Column]:
    """What names a row; a name that nothing has is left out."""
    of_one = report.by in _OF_ONE
    short = _short_ids([row.key for row in report.rows], turns=report.by == "turn") if of_one else {}
    keys = (_cut(short.get(row.key, row.key)) for row in rows)
    if of_one:
        yield Column(("LATEST", *(_minute(row.ended, zone) for row in rows), "total"), right=False)
    yield Column((_NOUNS[report.by], *keys, "" if of_one else "total"), right=False)
    for name, rank in _NAMES if of_one else ():
        values = [_cut(getattr(row, name) or "") for row in rows]
        if any(values):
            yield Column((name.upper(), *(value or words.UNKNOWN for value in values), ""), rank, right=False)
        if name == _NAMES[0][0]:
            yield from _projects(rows)


def _projects(rows: Sequence[Row]) -> Iterator[Column]:
    """The last name of the folder that each session began in, where they are not all of one."""
    names = [re.split(r"[\\/]", row.folder.rstrip("\\/"))[-1] if row.folder else "" for row in rows]
    if len({*names} - {""}) > 1:
        yield Column(("PROJECT", *(_cut(name) or words.UNKNOWN for name in names), ""), 1, right=False)


def _cut(name: str) -> str:
    """A name that leaves room for figures."""
    return head(visible(name), LONGEST_NAME)


def _figures(report: Report, rows: Sequence[Row]) -> Iterator[Column]:
    hidden = {"sessions"} if report.by in _OF_ONE else _OF_SESSIONS
    for figure in FIGURES:
        if figure.name not in hidden:
            every = [*(row.measures for row in rows), report.total]
            yield Column((figure.head, *(_figure(each, figure) for each in every)), figure.rank)


def _legend(heads: Sequence[str]) -> str:
    """What the heads mean that say little by themselves."""
    return "; ".join(f"{name}: {meaning}" for name, meaning in _MEANINGS.items() if name in heads)


def _short_ids(keys: Sequence[str], *, turns: bool = False) -> dict[str, str]:
    """As much of each id as tells it from the others; the number of a turn stays."""
    ids = {key: key.rpartition("#")[::2] if turns else (key, "") for key in keys}
    whole = {identity for identity, _ in ids.values()}
    size = SHORTEST_ID
    while len({identity[:size] for identity in whole}) < len(whole):
        size += 1
    return {key: identity[:size] + (f"#{turn}" if turn else "") for key, (identity, turn) in ids.items()}


def _figure(measures: Measures, figure: Figure) -> str:
    return _at_least(figure.show(getattr(measures, figure.name)), measures, figure.name)


def _at_least(value: str, measures: Measures, name: str) -> str:
    """A figure, with `+` where some response does not state it."""
    return f"{value}+" if name in measures.partial and value != words.UNKNOWN else value


def _lost(breaks: Sequence[Break]) -> str:
    return f"{words.tokens(sum(each.lost for each in breaks))} ({len(breaks)})" if breaks else ""


def _breaks(report: Report, shown: Shown) -> str:
    """What each cost, what a build had said that it would, why, and where the cause stands."""
    found = sorted((each for row in report.rows for each in row.breaks), key=lambda each: -each.time)
    if not found:
        return "no break: every call read what the calls before it had stored, as far as that is known\n"
    limited = found[: shown.limit] if shown.limit else found
    sessions = [each.session_id for each in found]
    # As they are written in the table above, where that names sessions.
    rows = [row.key for row in report.rows] if report.by in _OF_ONE else []
    short = _short_ids([*(key.rpartition("#")[0] if report.by == "turn" else key for key in rows), *sessions])
    heads = ("TIME", "SESSION", "TURN", "LOST", "PREDICTED", "COST", "REASON", "WHERE", "EVIDENCE")
    lines = [_break(each, short, shown.zone) for each in limited]
    left = [f"{count(len(found) - len(limited), 'more break')}: `--limit 0` shows all\n"]
    return table(heads, lines, shown.paint, (2, 3, 4, 5)) + "".join(left if len(found) > len(limited) else [])


def _break(each: Break, short: Mapping[str, str], zone: Zone) -> tuple[str, ...]:
    return (
        _minute(each.time, zone),
        short[each.session_id],
        str(each.turn),
        words.tokens(each.lost),
        words.tokens(each.predicted),
        words.money(each.usd),
        each.reason.value,
        words.UNKNOWN if each.line is None else f"{each.line.path}:{each.line.line}",
        head(each.evidence, LONGEST_EVIDENCE),
    )


def _foot(report: Report, rows: Sequence[Row], shown: Shown) -> Iterator[str]:
    """What the figures are of, and what they rest on."""
    hidden = len(report.rows) - len(rows)
    if hidden:
        yield f"{count(hidden, 'more row')}: `--limit 0` shows all"
    yield f"{range_of(report, shown.zone)}, {report.zone}; {count(report.total.sessions, 'session')}"
    yield from _time(report)
    yield from _money(report)
    shown_figures = {"seconds_cached", "seconds_uncached", *(figure.name for figure in FIGURES)}
    if any(shown_figures.intersection(each.partial) for each in (report.total, *(row.measures for row in rows))):
        yield "+ is at least: not every response states it"
    lost = [each for row in report.rows for each in row.breaks]
    if lost and not shown.breaks:
        sum_of_it = words.tokens(sum(each.lost for each in lost))
        paid = [each.usd for each in lost if each.usd is not None]
        cost = f" ({words.money(sum(paid))}{'' if len(paid) == len(lost) else '+'})" if paid else ""
        yield f"{count(len(lost), 'broken cache')} lost {sum_of_it} tokens{cost}: `--breaks` says which and why"
    yield from (f"note: {note}" for note in report.notes)
    if report.sources:
        yield f"read: {', '.join(report.sources)}"


def range_of(report: Report | Asked, zone: Zone) -> str:
    """The time that a report is of."""
    since, until = (None if each is None else _minute(each, zone) for each in (report.since, report.until))
    if since is None and until is None:
        return "all time"
    return f"{'from the beginning' if since is None else f'from {since}'} to {'now' if until is None else until}"


def _time(report: Report) -> Iterator[str]:
    cached, uncached = report.total.seconds_cached, report.total.seconds_uncached
    if cached is not None and uncached is not None:
        rates = f"{report.prefill_rate:,g} tokens a second read and {report.decode_rate:,g} written"
        said = (words.duration(cached), words.duration(uncached))
        names = ("seconds_cached", "seconds_uncached")
        with_it, without = (_at_least(text, report.total, name) for text, name in zip(said, names, strict=True))
        yield f"time: {with_it} with the cache, {without} without, at {rates}"


def _money(report: Report) -> Iterator[str]:
    said = report.total.usd_reported
    beside = "" if said is None else f"the CLIs themselves say {words.money(said)} for what they price"
    if report.price_as_of is not None:
        yield f"cost: by the prices of {report.price_as_of}" + (f"; {beside}" if beside else "")
    elif beside:
        yield f"cost: {beside}"


def _minute(seconds: float, zone: Zone) -> str:
    return zone.local(seconds).strftime("%Y-%m-%d %H:%M")


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
