"""Days and ranges in a time zone, over the days on which clocks are changed."""

from __future__ import annotations

import datetime as dt
import zoneinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_usage import zone as zones
from agentmux_usage.zone import UTC, Zone, here, moment, named

if not zones.have_data():
    pytest.skip("this machine has no time zone data", allow_module_level=True)

BERLIN = Zone("Europe/Berlin", zoneinfo.ZoneInfo("Europe/Berlin"))
NEW_YORK = Zone("America/New_York", zoneinfo.ZoneInfo("America/New_York"))
NOW = dt.datetime(2026, 11, 30, 18, 30, tzinfo=dt.UTC).timestamp()


def utc(*wall):
    return dt.datetime(*wall, tzinfo=dt.UTC).timestamp()


def test_a_day_is_that_of_the_zone():
    late = utc(2026, 11, 30, 23, 30)

    assert (UTC.day(late), BERLIN.day(late), NEW_YORK.day(late)) == ("2026-11-30", "2026-12-01", "2026-11-30")


def test_a_day_on_which_clocks_go_back_has_25_hours_and_one_on_which_they_go_forward_23():
    lengths = [
        moment(day, BERLIN, NOW, "until") - moment(day, BERLIN, NOW, "since") for day in ("2026-10-25", "2026-03-29")
    ]

    assert lengths == [25 * 3600, 23 * 3600]


@pytest.mark.parametrize(
    ("text", "edge", "expected"),
    [
        ("2026-11-30", "since", utc(2026, 11, 29, 23)),
        ("2026-11-30", "until", utc(2026, 11, 30, 23)),
        ("2026-12", "since", utc(2026, 11, 30, 23)),
        ("2026-12", "until", utc(2026, 12, 31, 23)),
        ("20261130", "until", utc(2026, 11, 30, 23)),
        ("2026-W49-1", "until", utc(2026, 11, 30, 23)),
        ("today", "since", utc(2026, 11, 29, 23)),
        ("yesterday", "until", utc(2026, 11, 29, 23)),
        ("7d", "since", utc(2026, 11, 22, 23)),
        ("2w", "since", utc(2026, 11, 15, 23)),
        ("3h", "since", utc(2026, 11, 30, 15, 30)),
        ("2026-11-30T18:00", "until", utc(2026, 11, 30, 17)),
        ("2026-11-30 18:00:30", "since", utc(2026, 11, 30, 17, 0, 30)),
        ("2026-11-30T18:00Z", "since", utc(2026, 11, 30, 18)),
        ("2026-11-30T18:00-05:00", "since", utc(2026, 11, 30, 23)),
        ("2026-03-29T02:30", "since", utc(2026, 3, 29, 1, 30)),
        ("tomorrow", "since", None),
        ("2026-13", "since", None),
        ("2026-02-30", "until", None),
        ("", "since", None),
        ("999999w", "since", None),
        ("9999-12-31", "until", None),
    ],
)
def test_what_a_bound_means(text, edge, expected):
    assert moment(text, BERLIN, NOW, edge) == expected


@given(st.floats(allow_nan=False), st.sampled_from([UTC, BERLIN, NEW_YORK, Zone("local", None)]))
def test_every_moment_has_a_day(seconds, zone):
    assert dt.date.fromisoformat(zone.day(seconds)).year in range(1969, 10_000)


@given(st.integers(946_684_800, 2_114_380_800), st.sampled_from([UTC, BERLIN, NEW_YORK]))
def test_a_moment_lies_within_its_day(seconds, zone):
    day = zone.day(seconds)

    assert moment(day, zone, NOW, "since") <= seconds < moment(day, zone, NOW, "until")


def test_names():
    assert named("UTC") == named("utc") == named("Etc/UTC") == UTC
    assert named("Europe/Berlin") == BERLIN
    for wrong in ("Europe/Nowhere", "", "../../etc/passwd", "/etc/localtime", "Europe", "a\0b"):
        assert named(wrong) is None


@pytest.mark.parametrize(
    ("said", "name"), [("Europe/Berlin", "Europe/Berlin"), (":America/New_York", "America/New_York"), ("", "UTC")]
)
def test_the_machines_zone_is_what_its_environment_says(said, name):
    assert here({"TZ": said}) == named(name)


def test_the_machines_zone_is_what_its_clock_is_linked_to(tmp_path, monkeypatch):
    link, text = tmp_path / "localtime", tmp_path / "timezone"
    monkeypatch.setattr(zones, "LOCALTIME", link)
    monkeypatch.setattr(zones, "TIMEZONE", text)
    text.write_text("America/New_York\n", encoding="utf-8")
    assert here({}) == NEW_YORK

    link.symlink_to("/usr/share/zoneinfo/Europe/Berlin")
    assert here({}) == BERLIN


def test_a_zone_without_a_name_still_has_the_systems_days(tmp_path, monkeypatch):
    monkeypatch.setattr(zones, "LOCALTIME", tmp_path / "none")
    monkeypatch.setattr(zones, "TIMEZONE", tmp_path / "none")
    found = here({})

    assert found.rules is None
    assert found.name.startswith("local time (")
    assert found.day(NOW) == dt.datetime.fromtimestamp(NOW).astimezone().date().isoformat()


def test_without_data_there_is_utc_and_no_other(monkeypatch):
    def none(name):
        raise zoneinfo.ZoneInfoNotFoundError(name)

    monkeypatch.setattr(zones.zoneinfo, "ZoneInfo", none)

    assert not zones.have_data()
    assert (named("UTC"), named("Europe/Berlin")) == (UTC, None)
