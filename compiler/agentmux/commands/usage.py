"""`agentmux usage`: what sessions used, what it cost, what broke the cache."""

from __future__ import annotations

import os
import shutil
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux.errors import DONE
from agentmux.usage import foot as usage_foot
from agentmux.usage import memo as usage_memo
from agentmux.usage import view as usage_view
from agentmux.usage.options import asked_of
from agentmux.usage.sources import Found, found
from agentmux_compiler.render.paint import Paint
from agentmux_usage import machine
from agentmux_usage.report import build_each

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from agentmux.streams import Streams
    from agentmux_usage.grouping import By
    from agentmux_usage.measures import Report
    from agentmux_usage.report import Asked

# Rows that people get unless they ask for more.
ROWS = 30


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    asked = asked_of(arguments, os.environ, time.time())
    there = found(arguments.imported, asked, os.environ)
    if arguments.html or arguments.parquet or arguments.otlp:
        from agentmux.usage.out import give_away  # noqa: PLC0415  only for those who ask

        rows = give_away(arguments, asked, there, streams.err)
    else:
        rows = _said(arguments, asked, there, streams)
    if not rows:
        for line in usage_foot.nothing(asked, there.looked):
            streams.err.line(line)
    return DONE


def _said(arguments: argparse.Namespace, asked: Asked, there: Found, streams: Streams) -> int:
    """Print the report; the number of its rows."""
    both = arguments.format == "json" and asked.by != "session"
    reports = _reports(("session", asked.by) if both else (asked.by,), asked, there)
    streams.out.write(_shown(arguments, asked, reports, streams))
    return len(reports[0].rows)


def _reports(groupings: tuple[By, ...], asked: Asked, there: Found) -> Sequence[Report]:
    """The reports as they were made before, if nothing has changed since; else made, and kept for the next time."""
    names = (asked.zone.name, sorted(asked.providers), sorted(asked.agents), there.sources)
    mark = usage_memo.mark_of(there.files, (groupings, asked.since, asked.until, asked.rates, *names))
    reports: Sequence[Report] = usage_memo.recall(there.folder, mark)
    if reports:
        return reports
    built = build_each(there.sessions, asked, groupings, there.breaks_of)
    reports = [replace(each, sources=tuple(there.sources), notes=(*there.notes, *each.notes)) for each in built]
    if reports[0].rows and not there.unfinished:
        usage_memo.keep(there.folder, mark, reports)
    return reports


def _shown(arguments: argparse.Namespace, asked: Asked, reports: Sequence[Report], streams: Streams) -> str:
    sessions, grouped = reports[0], reports[-1]
    if arguments.format == "json":
        return machine.as_json(sessions, grouped, asked.zone, arguments.limit)
    if arguments.format == "csv":
        return (machine.breaks_as_csv if arguments.breaks else machine.as_csv)(grouped, asked.zone, arguments.limit)
    if not grouped.rows:
        return ""
    limit = ROWS if arguments.limit is None else arguments.limit
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    shown = usage_view.Shown(asked.zone, Paint(streams.out.color), limit, width, breaks=arguments.breaks)
    return usage_view.text(grouped, shown)
