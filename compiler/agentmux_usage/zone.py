"""Time zones and ranges of time: which day a moment falls on, and what `7d` or `2026-11-30` means."""

from __future__ import annotations

import datetime as dt
import os
import re
import time
import zoneinfo
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
LAST = 253_370_764_800.0  # 9999-01-01: later moments are garbage, and no calendar takes them
LOCALTIME, TIMEZONE = Path("/etc/localtime"), Path("/etc/timezone")

_AGO = re.compile(r"(\d{1,5})([hdw])")
_MONTH = re.compile(r"\d{4}-\d{2}")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24}


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone; without `rules` it is the one that the system's own clock keeps."""

    name: str
    rules: dt.tzinfo | None

    def local(self, seconds: float) -> dt.datetime:
        """A moment (seconds since 1970, UTC) as its clocks show it."""
        moment = EPOCH + dt.timedelta(seconds=min(max(0.0, seconds), LAST))
        return moment.astimezone(self.rules)

    def day(self, seconds: float) -> str:
        return self.local(seconds).date().isoformat()

    def moment(self, wall: dt.datetime) -> float:
        """When its clocks show that; a time that it skips is the one as long after the skip began."""
        return (wall if self.rules is None else wall.replace(tzinfo=self.rules)).timestamp()


UTC = Zone("UTC", dt.UTC)


def named(name: str) -> Zone | None:
    """The zone of an IANA name; None where there is none, or the machine has no data for it."""
    if name.upper() in {"UTC", "ETC/UTC", "Z"}:
        return UTC
    rules = _rules(name)
    return None if rules is None else Zone(name, rules)


def have_data() -> bool:
    """Whether there is any time zone data: Windows has none but what the package `tzdata` brings."""
    return _rules("Europe/Berlin") is not None


def here(environ: Mapping[str, str] | None = None) -> Zone:
    """The zone of this machine, under its IANA name where that can be found."""
    found = (named(name) for name in _names(os.environ if environ is None else environ))
    return next((zone for zone in found if zone is not None), Zone(f"local time ({time.tzname[0]})", None))


def moment(text: str, zone: Zone, now: float, edge: Literal["since", "until"]) -> float | None:
    """The bound that a text means, in seconds since 1970, UTC; None where it means none.

    A day or a month begins there as `since`, and is over there as `until`. `7d`: the beginning of the day seven days
    ago; `3h`: three hours ago.
    """
    wall = zone.local(now).replace(tzinfo=None)
    today = wall.replace(hour=0, minute=0, second=0, microsecond=0)
    named_days = {"today": today, "yesterday": today - dt.timedelta(1)}
    try:
        if ago := _AGO.fullmatch(text):
            return _ago(int(ago[1]), ago[2], today, now, zone)
        if text in named_days:
            return _edge(named_days[text], "day", zone, edge)
        if _MONTH.fullmatch(text):
            return _edge(dt.datetime.fromisoformat(f"{text}-01"), "month", zone, edge)
        if (day := _day(text)) is not None:
            return _edge(day, "day", zone, edge)
        exact = dt.datetime.fromisoformat(text)
        return zone.moment(exact) if exact.tzinfo is None else exact.timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _day(text: str) -> dt.datetime | None:
    """The beginning of a day, in any of the forms that ISO 8601 has for one; None for what is not a day alone."""
    try:
        return dt.datetime.combine(dt.date.fromisoformat(text), dt.time())
    except ValueError:
        return None


def _ago(count: int, unit: str, today: dt.datetime, now: float, zone: Zone) -> float:
    if unit == "h":
        return now - 3600.0 * count
    return zone.moment(today - dt.timedelta(hours=count * _HOURS[unit]))


def _edge(begin: dt.datetime, span: str, zone: Zone, edge: str) -> float:
    if edge == "since":
        return zone.moment(begin)
    after = begin + dt.timedelta(1 if span == "day" else 32)
    return zone.moment(after if span == "day" else after.replace(day=1))


def _names(environ: Mapping[str, str]) -> Iterator[str]:
    """What may be the name of the machine's zone, the surest first."""
    said = environ.get("TZ")
    if said is not None:
        yield said.removeprefix(":") or "UTC"
        return
    try:
        link = os.readlink(LOCALTIME)  # noqa: PTH115  the text of the link, not the file behind all of them
        yield link.partition("zoneinfo/")[2]
    except (OSError, ValueError):
        pass
    try:
        yield TIMEZONE.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return


def _rules(name: str) -> dt.tzinfo | None:
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None
