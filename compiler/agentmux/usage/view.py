"""The report of usage for people: a table, its sum, what it rests on."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux.table import table
from agentmux.usage import foot as usage_foot
from agentmux.usage import words
from agentmux_compiler.render.paint import Paint
from agentmux_compiler.render.visible import cells, head, visible
from agentmux_compiler.render.words import count
from agentmux_usage.zone import Zone

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agentmux_usage.breaks import Break
    from agentmux_usage.measures import Measures, Report, Row

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
    foot += usage_foot.foot(report, rows, shown.zone, breaks=shown.breaks)
    foot.append(usage_foot.legend(made.partition("\n")[0].split()))
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
        yield Column(("LATEST", *(words.minute(row.ended, zone) for row in rows), "total"), right=False)
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


def _short_ids(keys: Sequence[str], *, turns: bool = False) -> dict[str, str]:
    """As much of each id as tells it from the others; the number of a turn stays."""
    ids = {key: key.rpartition("#")[::2] if turns else (key, "") for key in keys}
    whole = {identity for identity, _ in ids.values()}
    size = SHORTEST_ID
    while len({identity[:size] for identity in whole}) < len(whole):
        size += 1
    return {key: identity[:size] + (f"#{turn}" if turn else "") for key, (identity, turn) in ids.items()}


def _figure(measures: Measures, figure: Figure) -> str:
    return words.at_least(figure.show(getattr(measures, figure.name)), measures, figure.name)


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
        words.minute(each.time, zone),
        short[each.session_id],
        str(each.turn),
        words.tokens(each.lost),
        words.tokens(each.predicted),
        words.money(each.usd),
        each.reason.value,
        words.UNKNOWN if each.line is None else f"{each.line.path}:{each.line.line}",
        head(each.evidence, LONGEST_EVIDENCE),
    )
