"""From a report and its sessions to one page of HTML."""

from __future__ import annotations

import base64
import functools
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, FunctionLoader, StrictUndefined

from agentmux_usage.page import calibration as calibrated
from agentmux_usage.page import calls, days, words
from agentmux_usage.page.causes import causes, sum_known
from agentmux_usage.page.sessions import LISTED, Shown, all_breaks, shown_sessions
from agentmux_usage.priced import usd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentmux_usage.breaks import Break
    from agentmux_usage.measures import Report
    from agentmux_usage.response import Response, Session

_WORST = 20


def page(
    report: Report,
    sessions: Sequence[Session],
    *,
    price: Callable[[Response], float | None] = usd,
    groups: Sequence[Report] = (),
) -> str:
    """A whole HTML document: nothing is loaded, and all but sorting, search and the reading line works without scripts.

    `report` is grouped by session, so that each has its measures. `price` gives dollars for the columns by day.
    `groups` are the same responses by agent, model or whatever else has a table, where that has two rows or more. The
    same input gives the same bytes.
    """
    zone = words.zone_of(report.zone)
    shown = shown_sessions(report, sessions)
    breaks = all_breaks(report)
    style, script = _packaged("page.css"), _packaged("page.js")
    return (
        _templates()
        .get_template("page.html.j2")
        .render(
            style=style,
            script=script,
            policy=_policy(style, script),
            report=report,
            zone=zone,
            shown=shown,
            listed=shown[:LISTED],
            first=_first(shown),
            breaks=breaks,
            lost=sum(found.lost for found in breaks),
            lost_usd=sum_known(breaks),
            worst=_worst(shown),
            causes=causes(breaks),
            days=days.day_chart((each for one in sessions for each in one.responses), zone, price),
            calibration=calibrated.calibration(breaks, zone),
            groups=groups,
            words=words,
            frame={"calls": calls, "days": days, "calibration": calibrated},
        )
    )


def _first(shown: Sequence[Shown]) -> int:
    """The session that is open at first: the one that lost most, the newest of those that lost nothing; 0 for none."""
    drawn = [one for one in shown if one.chart]
    return max(drawn, key=lambda one: (one.lost, -one.number)).number if drawn else 0


def _worst(shown: Sequence[Shown]) -> list[tuple[Shown, int, Break]]:
    """The breaks that lost most, each with its session and its number there."""
    every = [(one, number, found) for one in shown for number, found in enumerate(one.breaks, 1)]
    return sorted(every, key=lambda item: (-item[2].lost, item[2].time, item[0].number, item[1]))[:_WORST]


def _policy(style: str, script: str) -> str:
    """Only this style and this script, by their digests; nothing is fetched from anywhere."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _packaged(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@functools.cache
def _templates() -> Environment:
    return Environment(
        loader=FunctionLoader(_packaged),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
