"""What the forensics know besides a session: the prefixes that were sent, and which other sessions began when."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from agentmux_compiler.lowered import PlanPrefix
from agentmux_launcher.codec import from_json
from agentmux_usage.response import Response

if TYPE_CHECKING:
    from agentmux_launcher.ledger import Ledger
    from agentmux_usage.response import Session


Line = tuple[str | None, str | None, str]
Key = TypeVar("Key", str, Line)


@dataclass(frozen=True, slots=True)
class Start:
    """A session that a launch began. `began` is when its first turn was sent, `first` the response to it.

    Its request was sent at `began` or later, and its answer had begun by the time of `first`.
    """

    began: float
    first: Response

    @property
    def session_id(self) -> str:
        return self.first.session_id

    @property
    def place(self) -> tuple[float, str]:
        """Its place among others: by time, and of those that began at once by name."""
        return self.began, self.session_id

    @property
    def line(self) -> Line:
        return self.first.cwd, self.first.agent, self.first.provider

    @property
    def answered(self) -> float:
        return self.first.time

    @property
    def read(self) -> int | None:
        return self.first.tokens.cache_read


@dataclass(frozen=True, slots=True)
class Known:
    """`prefixes` by their digests in the ledger, and under the same digests the sessions that began with each.

    `lines` are the same sessions by project, agent and provider. Both are in the order in which they began. With none
    (`NOTHING`) a break is explained by what its responses say alone.
    """

    prefixes: Mapping[str, PlanPrefix] = field(default_factory=dict)
    starts: Mapping[str, tuple[Start, ...]] = field(default_factory=dict)
    lines: Mapping[Line, tuple[Start, ...]] = field(default_factory=dict)

    def began(self, response: Response) -> Start | None:
        """The session whose first response this is, where the ledger knows when it began."""
        starts = self.starts.get(response.prefix or "", ())
        # It began not long before it was answered, so that few stand behind it.
        near = range(bisect_right(starts, response.time, key=lambda each: each.began) - 1, -1, -1)
        return next((starts[at] for at in near if starts[at].session_id == response.session_id), None)

    def earlier(self, start: Start, since: float) -> tuple[Start, ...]:
        """The sessions of the same project, agent and provider that began before it, from a time on."""
        line = self.lines.get(start.line, ())
        first = bisect_left(line, since, key=lambda each: each.began)
        return line[first : bisect_left(line, start.place, key=lambda each: each.place)]

    def alike(self, start: Start) -> tuple[Start, ...]:
        """All sessions that began with the same prefix and model."""
        starts = self.starts.get(start.first.prefix or "", ())
        return tuple(each for each in starts if each.first.model == start.first.model)


NOTHING = Known()


def known_of(sessions: Iterable[Session], ledger: Ledger | None = None) -> Known:
    """What a ledger knows of sessions that may break each other's caches."""
    starts: list[Start] = []
    digests: set[str] = set()
    beginnings = ledger.beginnings() if ledger else {}
    for session in sessions:
        digests |= {each.prefix for each in session.responses if each.prefix}
        start = _start(session, beginnings)
        if start is not None and start.first.prefix:
            starts.append(start)
    kept = {digest: _prefix(ledger, digest) for digest in sorted(digests)} if ledger else {}
    return Known(
        prefixes={digest: prefix for digest, prefix in kept.items() if prefix is not None},
        starts=_grouped((each.first.prefix or "", each) for each in starts),
        lines=_grouped((each.line, each) for each in starts),
    )


def _grouped(starts: Iterable[tuple[Key, Start]]) -> dict[Key, tuple[Start, ...]]:
    """Each group in the order in which its sessions began."""
    found: defaultdict[Key, list[Start]] = defaultdict(list)
    for key, start in starts:
        found[key].append(start)
    return {key: tuple(sorted(each, key=lambda start: start.place)) for key, each in found.items()}


def _start(session: Session, beginnings: Mapping[str, tuple[float, ...]]) -> Start | None:
    """None where the ledger does not say when the session began, or it went on with another one."""
    first = next(iter(session.main), None)
    times = beginnings.get(first.run_id or "", ()) if first else ()
    began = max((time for time in times if first and time <= first.time), default=None)
    return None if first is None or began is None else Start(began, first)


def _prefix(ledger: Ledger, digest: str) -> PlanPrefix | None:
    """A prefix that was kept; None where it is not there, or of a shape that an older agentmux wrote."""
    value = ledger.prefix(digest)
    try:
        return None if value is None else from_json(PlanPrefix, value)
    except (TypeError, ValueError, KeyError, AttributeError):
        return None
