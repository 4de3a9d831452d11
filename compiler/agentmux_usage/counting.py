"""What makes two lines the same response, and which of them is believed: the one place where this is decided.

A response is known by its message's id with its request's. The largest output wins, since what is written early holds
the figures of a beginning; the earliest time wins. All of it is a choice of the larger of two values, so that the
order in which copies are met makes no difference.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_launcher.usage import Tokens
    from agentmux_usage.response import Response

T = TypeVar("T", str, float)

# A copy of a session's line, made for a sub-agent or a summary, is not what it is a copy of.
_KINDS = ("main", "subagent", "side")


def merged(one: Response, two: Response) -> Response:
    """One response of two copies of it."""
    stands = min(one, two, key=_place)
    return dataclasses.replace(
        stands,
        time=min(one.time, two.time),
        tokens=max(one.tokens, two.tokens, key=_figures),
        model=_either(one.model, two.model),
        usd=_either(one.usd, two.usd),
        request_id=_either(one.request_id, two.request_id),
        effort=_either(one.effort, two.effort),
        after_compaction=one.after_compaction or two.after_compaction,
    )


def again(before: Response, now: Response) -> Response:
    """One response of two lines of one file, the later of which knows better what kind of call it was."""
    if _facts(before) == _facts(now) and before.time <= now.time:
        # Almost all lines are so: nothing but the figures can differ.
        grown = _figures(now.tokens) > _figures(before.tokens)
        return dataclasses.replace(before, tokens=now.tokens) if grown else before
    return dataclasses.replace(merged(before, now), kind=now.kind)


def distinct(copies: Iterable[Response]) -> list[Response]:
    """The responses of copies that share a message's id: one for each request's id.

    A copy that names no request is one of those that do; only where none does, it stands alone.
    """
    found: dict[str, Response] = {}
    for copy in copies:
        request = copy.request_id or ""
        found[request] = merged(found[request], copy) if request in found else copy
    requests = sorted(found)
    if len(requests) > 1 and requests[0] == "":
        found[requests[1]] = merged(found[requests[1]], found.pop(""))
    return [found[request] for request in sorted(found)]


def _facts(response: Response) -> tuple[object, ...]:
    return (
        response.session_id,
        response.turn,
        response.kind,
        response.thread,
        response.model,
        response.effort,
        response.usd,
        response.after_compaction,
        response.source,
    )


def _either(one: T | None, two: T | None) -> T | None:
    return max((value for value in (one, two) if value is not None), default=None)


def _figures(tokens: Tokens) -> tuple[int, ...]:
    figures = (
        tokens.output,
        tokens.input,
        tokens.cache_read,
        tokens.cache_write,
        tokens.cache_write_1h,
        tokens.reasoning,
    )
    return tuple([-1 if value is None else value for value in figures])


def _place(response: Response) -> tuple[object, ...]:
    """Where a response belongs: the first of these. An id that begins with a time puts the older session first."""
    source = response.source or ""
    of_another = response.session_id not in source
    kind = _KINDS.index(response.kind)
    return kind, response.session_id, response.thread or "", of_another, response.turn, source
