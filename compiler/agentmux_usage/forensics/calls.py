"""The calls of a session in lanes, the agent's own and each sub-agent's, with what each left in the cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_usage.forensics.serving import Serving, serving
from agentmux_usage.response import Response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_usage.forensics.known import Known
    from agentmux_usage.response import Session


@dataclass(frozen=True, slots=True)
class Held:
    """A call, and what its lane has in the cache after it.

    `stored` is what the next call can read, null where the figures do not say. `short` and `hour` are what the lane has
    written so far for the usual lifetime and for an hour; `read` whether it was ever served anything.
    """

    response: Response
    serving: Serving
    stored: int | None
    short: int
    hour: int
    read: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One call, `after` it, and `before` it: the call before in its lane.

    `number` is its place among all responses of the session, from 1. For the `first` of a sub-agent, the agent's own
    call stands before.
    """

    number: int
    after: Held
    before: Held | None
    first: bool

    @property
    def response(self) -> Response:
        return self.after.response

    @property
    def serving(self) -> Serving:
        return self.after.serving

    @property
    def expected(self) -> int | None:
        """What the cache held for this call: no more than its prompt."""
        if self.before is None or self.before.stored is None:
            return None
        prompt = self.response.tokens.prompt
        return self.before.stored if prompt is None else min(self.before.stored, self.serving.held(prompt))

    @property
    def short_at_most(self) -> int:
        """No less than `lost`, and cheaper: nearly all calls fall short of nothing."""
        read = self.after.response.tokens.cache_read
        held = self.before.stored if self.before else None
        return 0 if read is None or held is None else held - read

    @property
    def lost(self) -> int:
        """Tokens that were stored and not read; 0 where figures are missing."""
        if self.expected is None or self.response.tokens.cache_read is None:
            return 0
        return max(0, self.expected - self.response.tokens.cache_read)


def steps(session: Session, known: Known) -> Iterator[Step]:
    """The calls in their order, without those that a CLI makes beside the conversation."""
    lanes: dict[str | None, Held] = {}
    for number, response in enumerate(session.responses, 1):
        if response.kind == "side":
            continue
        lane = response.thread or "" if response.kind == "subagent" else None
        own = lanes.get(lane)
        after = lanes[lane] = _held(response, own, known)
        yield Step(number, after, own or lanes.get(None) if lane is not None else own, own is None)


def _held(response: Response, own: Held | None, known: Known) -> Held:
    served = serving(response, known.prefixes.get(response.prefix or ""))
    tokens = response.tokens
    short = (own.short if own else 0) + (tokens.cache_write or 0)
    hour = (own.hour if own else 0) + (tokens.cache_write_1h or 0)
    read = bool(own and own.read) or bool(tokens.cache_read)
    stored = _stored(response, own, served, wrote=short + hour > 0, read=read)
    return Held(response, served, stored, short, hour, read)


def _stored(response: Response, own: Held | None, served: Serving, *, wrote: bool, read: bool) -> int | None:
    """What it read and wrote; where writes are not reported, all of its prompt that such a cache holds."""
    tokens = response.tokens
    if tokens.cache_read is None:
        return None
    held = (own.stored or 0) if own else 0
    if wrote or (served.writes and tokens.cache_write is not None):
        written = (tokens.cache_write or 0) + (tokens.cache_write_1h or 0)
        stored = tokens.cache_read + written
        return stored if response.calls == 1 else min(stored, _context(held, written))
    if not (served.trusted or read):
        return None
    prompt = tokens.prompt
    if prompt is None or tokens.input is None:
        return None
    return served.held(prompt if response.calls == 1 else min(prompt, _context(held, tokens.input)))


def _context(held: int, computed: int) -> int:
    """At least so long is the context after several calls of which the sums are known.

    In a session that goes on, each token that was not served is one more of its context. So many of them that all may
    have been computed anew say no more than that.
    """
    return held + computed if computed < held or not held else max(held, computed)
