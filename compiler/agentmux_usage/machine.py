"""A report for programs: JSON with sorted keys, CSV with a header."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from agentmux_compiler.render.visible import visible
from agentmux_usage.grouping import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentmux_usage.breaks import Break
    from agentmux_usage.forensics import Calibration
    from agentmux_usage.measures import Measures, Report, Row
    from agentmux_usage.zone import Zone

FORMAT_VERSION = 1
# A spreadsheet takes a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@")

MEASURES = (
    "turns",
    "prompts",
    "context_start",
    "session_size",
    "added",
    "cumulative_prefill",
    "prefill_ratio",
    "cache_read",
    "cache_write",
    "uncached",
    "prefilled",
    "cache_hit_pct",
    "output",
    "usd",
    "usd_reported",
    "seconds_cached",
    "seconds_uncached",
)
_DIGITS = {
    "prefill_ratio": 2,
    "cache_hit_pct": 2,
    "usd": 6,
    "usd_reported": 6,
    "seconds_cached": 1,
    "seconds_uncached": 1,
}
COLUMNS = ("key", "agent", "provider", "model", "started", "ended", "sessions", *MEASURES, "breaks", "lost_tokens")
BREAKS = (
    "time",
    "session_id",
    "provider",
    "turn",
    "call",
    "expected",
    "observed",
    "lost_tokens",
    "predicted_tokens",
    "usd",
    "reason",
    "path",
    "line",
    "evidence",
)


def as_json(sessions: Report, grouped: Report, zone: Zone, limit: int | None = None) -> str:
    """`sessions` is by session, and `grouped` the same by what was asked for; both may be one.

    `limit` is how many rows of each are told (0 or None: all); totals and calibration are always of all.
    """
    value = {
        "format_version": FORMAT_VERSION,
        "by": grouped.by,
        "zone": grouped.zone,
        "since": _when(grouped.since, zone),
        "until": _when(grouped.until, zone),
        "prefill_rate": grouped.prefill_rate,
        "decode_rate": grouped.decode_rate,
        "price_as_of": grouped.price_as_of,
        "sources": list(grouped.sources),
        "notes": list(grouped.notes),
        "sessions": [_session(row, zone) for row in sessions.rows[: limit or None]],
        "calibration": [_calibrated(each) for each in _calibration(sessions)],
        "totals": {"sessions": grouped.total.sessions, **_measures(grouped.total)},
    }
    if grouped.by != "session":
        told = grouped.rows[: limit or None]
        value["rows"] = [{"key": row.key, "sessions": row.measures.sessions, **_row(row, zone)} for row in told]
    return json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1) + "\n"


def as_csv(report: Report, zone: Zone, limit: int | None = None) -> str:
    """A line for each row of the report, or for so many."""
    return _csv(COLUMNS, (_line(row, zone) for row in report.rows[: limit or None]))


def breaks_as_csv(report: Report, zone: Zone, limit: int | None = None) -> str:
    """A line for each break, or for so many."""
    found = [each for row in report.rows for each in row.breaks]
    return _csv(BREAKS, ([_break(each, zone)[name] for name in BREAKS] for each in found[: limit or None]))


def _calibration(sessions: Report) -> tuple[Calibration, ...]:
    found = [each for row in sessions.rows for each in row.breaks]
    if not found:
        return ()
    from agentmux_usage.forensics import calibration  # noqa: PLC0415  loads the facts of backends

    return calibration(found)


def _calibrated(each: Calibration) -> dict[str, Any]:
    """How far predictions were from losses, in per cent of the loss: half of them, nine of ten of them."""
    figures = {"median_error_pct": each.median, "p90_error_pct": each.p90}
    return {
        "provider": each.provider,
        "breaks": each.count,
        **{name: round(100 * value, 1) for name, value in figures.items()},
    }


def _session(row: Row, zone: Zone) -> dict[str, Any]:
    return {"session_id": row.key, **_row(row, zone)}


def _row(row: Row, zone: Zone) -> dict[str, Any]:
    return {
        "agent": row.agent,
        "provider": row.provider,
        "model": row.model,
        "started": _when(row.started, zone),
        "ended": _when(row.ended, zone),
        **_measures(row.measures),
        "breaks": [_break(each, zone) for each in row.breaks],
    }


def _measures(measures: Measures) -> dict[str, Any]:
    return {**{name: _rounded(measures, name) for name in MEASURES}, "partial": list(measures.partial)}


def _rounded(measures: Measures, name: str) -> float | int | None:
    value: float | int | None = getattr(measures, name)
    return round(value, _DIGITS[name]) if value is not None and name in _DIGITS else value


def _break(each: Break, zone: Zone) -> dict[str, Any]:
    return {
        "time": _when(each.time, zone),
        "session_id": each.session_id,
        "provider": each.provider,
        "turn": each.turn,
        "call": each.call,
        "expected": each.expected,
        "observed": each.observed,
        "lost_tokens": each.lost,
        "predicted_tokens": each.predicted,
        "usd": None if each.usd is None else round(each.usd, 6),
        "reason": each.reason.value,
        "evidence": each.evidence,
        "path": None if each.line is None else each.line.path,
        "line": None if each.line is None else each.line.line,
    }


def _line(row: Row, zone: Zone) -> list[object]:
    lost = sum(each.lost for each in row.breaks)
    return [
        None if row.key == NONE else row.key,
        row.agent,
        row.provider,
        row.model,
        _when(row.started, zone),
        _when(row.ended, zone),
        row.measures.sessions,
        *(_rounded(row.measures, name) for name in MEASURES),
        len(row.breaks),
        lost,
    ]


def _csv(heads: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_cell(value) for value in line] for line in lines)
    return text.getvalue()


def _cell(value: object) -> object:
    """Text on one line, which no spreadsheet takes for a formula; empty for what is not known."""
    if not isinstance(value, str):
        return "" if value is None else value
    shown = visible(value)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown


def _when(seconds: float | None, zone: Zone) -> str | None:
    """A moment in the report's zone, to the second."""
    if seconds is None:
        return None
    return zone.local(seconds).isoformat(timespec="seconds").replace("+00:00", "Z")
