"""What the options of `agentmux usage` ask for: a zone, a range, rates, names."""

from __future__ import annotations

import zoneinfo
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agentmux import project
from agentmux.errors import CannotRun
from agentmux_compiler.suggest import did_you_mean
from agentmux_usage import zone as zones
from agentmux_usage.measure import DECODE_RATE, PREFILL_RATE, Rates
from agentmux_usage.report import Asked

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from agentmux_usage.zone import Zone

SETTINGS = Path(project.AGENTS) / "_project.yaml"


def asked_of(arguments: argparse.Namespace, environ: Mapping[str, str], now: float) -> Asked:
    """What a report is to be of.

    Raises:
        CannotRun: a name, a zone or a time that there is not.
    """
    zone = zone_of(arguments.zone, arguments.format, environ)
    since, until = (bound(arguments, edge, zone, now) for edge in ("since", "until"))
    if since is not None and until is not None and since >= until:
        raise CannotRun("`--since` is not before `--until`, so that nothing lies between")
    return Asked(
        by=arguments.by,
        zone=zone,
        since=since,
        until=until,
        rates=Rates(
            arguments.prefill_rate or stated_rate(arguments.project) or PREFILL_RATE,
            arguments.decode_rate or DECODE_RATE,
        ),
        providers=frozenset(project.check_providers(arguments.provider)),
        agents=frozenset(arguments.agent),
    )


def zone_of(name: str | None, output: str, environ: Mapping[str, str]) -> Zone:
    """The zone that was named; else this machine's for people, and UTC for programs.

    Raises:
        CannotRun: there is none of that name.
    """
    if name is None:
        return zones.here(environ) if output == "table" else zones.UTC
    if name == "local":
        return zones.here(environ)
    found = zones.named(name)
    if found is not None:
        return found
    if not zones.have_data():
        raise CannotRun(
            f"no time zone `{name}`, since this machine has no time zone data",
            remedy="`pip install tzdata` brings it; `--zone UTC` and `--zone local` need none",
        )
    raise CannotRun(f"no time zone `{name}`", remedy=did_you_mean(name, zoneinfo.available_timezones()))


def bound(arguments: argparse.Namespace, edge: Literal["since", "until"], zone: Zone, now: float) -> float | None:
    """One end of the range; none where none was given.

    Raises:
        CannotRun: it is no time.
    """
    text: str | None = getattr(arguments, edge)
    if text is None:
        return None
    found = zones.moment(text, zone, now, edge)
    if found is None:
        remedy = "a day (2026-11-30), a month (2026-11), a time (2026-11-30T18:00), today, yesterday, 7d, 3h or 2w"
        raise CannotRun(f"`--{edge}` takes a time, not `{text}`", remedy=remedy)
    return found


def stated_rate(given: str | None) -> float | None:
    """The prefill rate that the project states, where there is a project; what is wrong in it is a build's affair.

    Raises:
        CannotRun: a project was named, and there is none.
    """
    if given is not None:
        root = project.find(given)
    else:
        try:
            here = Path.cwd()
        except OSError:
            return None  # somebody has taken the folder away
        root = next((folder for folder in (here, *here.parents) if (folder / project.AGENTS).is_dir()), here)
    try:
        text = (root / SETTINGS).read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return None
    return _rate(text) if "prefill_rate" in text else None


def _rate(text: str) -> float | None:
    from ruamel.yaml import YAML  # noqa: PLC0415  only where it is stated
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415

    try:
        value = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError):
        return None
    rate = value.get("prefill_rate") if isinstance(value, dict) else None
    if not isinstance(rate, int | float) or isinstance(rate, bool):
        return None
    return float(rate) if 1e-3 <= rate < 1e12 else None  # noqa: PLR2004  as the option takes them
