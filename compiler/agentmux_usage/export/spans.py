"""Sessions as OpenTelemetry spans: one for the session, below it its turns, below these its responses."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.trace import SpanContext, SpanKind, TraceFlags

from agentmux_usage.export.conventions import (
    AGENT,
    BREAK,
    INVOKE_AGENT,
    OPERATION,
    Attributes,
    broken,
    chat,
    common,
    identity,
)
from agentmux_usage.grouping import mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_usage.breaks import Break
    from agentmux_usage.response import Response, Session

_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


class Spans:
    """Makes the spans of sessions. Ids follow from provider, session, turn and message alone.

    When a response ended is not known, so its span has no length; a turn and a session last from their first response
    to the beginning of their last.
    """

    def __init__(self, resource: Any, scope: Any) -> None:
        self._resource, self._scope = resource, scope

    def of(self, session: Session, breaks: Iterable[Break]) -> Iterator[ReadableSpan]:
        if not session.responses:
            return
        trace = identity(session.provider, session.session_id, size=16)
        root = _place(trace, "session", session.provider, session.session_id)
        found = {mark(each): each for each in breaks}
        yield self._group(session.responses, root, None, name=None)
        seen: Counter[tuple[object, ...]] = Counter()
        by_turn = sorted(session.responses, key=lambda response: response.turn)
        for turn, group in groupby(by_turn, key=lambda response: response.turn):
            responses = tuple(group)
            parent = _place(trace, "turn", turn)
            yield self._group(responses, parent, root, name=f"turn {turn}")
            for response in responses:
                key = _key(response)
                seen[key] += 1
                place = _place(trace, "response", *key, seen[key])
                yield self._response(response, place, parent, found.get(mark(response)))

    def _group(
        self, responses: Sequence[Response], place: SpanContext, parent: SpanContext | None, name: str | None
    ) -> ReadableSpan:
        """A turn, or the session where there is no name."""
        first = next((response for response in responses if response.kind == "main"), responses[0])
        attributes = common(first)
        if name is None:
            attributes |= {OPERATION: INVOKE_AGENT}
            name = f"{INVOKE_AGENT} {attributes.get(AGENT, first.provider)}"
        else:
            attributes |= {"agentmux.turn": first.turn}
        times = [response.time for response in responses]
        return self._span(name, place, parent, attributes, (min(times), max(times)))

    def _response(
        self, response: Response, place: SpanContext, parent: SpanContext, found: Break | None
    ) -> ReadableSpan:
        attributes = chat(response)
        name = f"{attributes[OPERATION]} {response.model}" if response.model else str(attributes[OPERATION])
        times = (response.time, response.time)
        events = [] if found is None else [Event(BREAK, broken(found), timestamp=nanoseconds(found.time))]
        return self._span(name, place, parent, attributes, times, events, SpanKind.CLIENT)

    def _span(  # noqa: PLR0913, PLR0917  a span has that much
        self,
        name: str,
        place: SpanContext,
        parent: SpanContext | None,
        attributes: Attributes,
        times: tuple[float, float],
        events: Sequence[Event] = (),
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> ReadableSpan:
        return ReadableSpan(
            name=name.encode("utf-8", "replace").decode(),
            context=place,
            parent=parent,
            resource=self._resource,
            attributes=attributes,
            events=events,
            kind=kind,
            start_time=nanoseconds(times[0]),
            end_time=nanoseconds(times[1]),
            instrumentation_scope=self._scope,
        )


def nanoseconds(seconds: float) -> int:
    """Since 1970, in whole microseconds: a float knows no more."""
    return round(seconds * 1e6) * 1000


def _place(trace: int, *parts: str | float | None) -> SpanContext:
    return SpanContext(trace, identity(trace, *parts, size=8), is_remote=False, trace_flags=_SAMPLED)


def _key(response: Response) -> tuple[str | float | None, ...]:
    """What names a response in its session; its moment where the CLI gives it no id."""
    return (response.message_id or response.time, response.request_id, response.thread)
