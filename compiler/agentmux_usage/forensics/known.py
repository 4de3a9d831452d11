"""What the forensics know besides a session: the prefixes that were sent, and which other sessions began when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentmux_compiler.lowered import PlanPrefix
from agentmux_launcher.codec import from_json

if TYPE_CHECKING:
    from agentmux_launcher.ledger import Ledger
    from agentmux_usage.response import Session


@dataclass(frozen=True, slots=True)
class Start:
    """The first call of a session."""

    time: float
    session_id: str


@dataclass(frozen=True, slots=True)
class Known:
    """`prefixes` by their digests in the ledger, and under the same digests the sessions that began with each.

    With neither (`NOTHING`) a break is explained by what its responses say alone.
    """

    prefixes: Mapping[str, PlanPrefix] = field(default_factory=dict)
    starts: Mapping[str, tuple[Start, ...]] = field(default_factory=dict)


NOTHING = Known()


def known_of(sessions: Iterable[Session], ledger: Ledger | None = None) -> Known:
    """What a ledger knows of sessions that may break each other's caches."""
    starts: defaultdict[str, list[Start]] = defaultdict(list)
    digests: set[str] = set()
    for session in sessions:
        digests |= {each.prefix for each in session.responses if each.prefix}
        first = next(iter(session.main), None)
        if first and first.prefix:
            starts[first.prefix].append(Start(first.time, session.session_id))
    kept = {digest: _prefix(ledger, digest) for digest in sorted(digests)} if ledger else {}
    return Known(
        prefixes={digest: prefix for digest, prefix in kept.items() if prefix is not None},
        starts={digest: tuple(sorted(each, key=lambda start: start.time)) for digest, each in starts.items()},
    )


def _prefix(ledger: Ledger, digest: str) -> PlanPrefix | None:
    """A prefix that was kept; None where it is not there, or of a shape that an older agentmux wrote."""
    value = ledger.prefix(digest)
    try:
        return None if value is None else from_json(PlanPrefix, value)
    except (TypeError, ValueError, KeyError, AttributeError):
        return None
