"""Plans' prefixes as compact bytes and back: segments that plans share are written once, and read once in a process."""

from __future__ import annotations

import functools
import json
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler.lowered import PlanPrefix, PrefixSegment
from agentmux_launcher.codec import from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable


def pack(plans: Iterable[PlanPrefix]) -> bytes:
    segments: dict[str, int] = {}
    packed = []
    for plan in plans:
        numbers = [segments.setdefault(_written(segment), len(segments)) for segment in plan.segments]
        packed.append([_json(to_json(replace(plan, segments=()))), numbers])
    return zlib.compress(_json([list(segments), packed]).encode("ascii"), level=1)


def unpack(data: bytes) -> tuple[PlanPrefix, ...]:
    """What `pack` was given, value for value.

    Raises:
        ValueError, TypeError, LookupError: the bytes are nothing that `pack` has made.
    """
    try:
        written, packed = json.loads(zlib.decompress(data))
    except zlib.error as error:
        raise ValueError(str(error)) from None
    segments = [_segment(each) for each in written]
    return tuple(replace(_plan(plan), segments=tuple(segments[each] for each in numbers)) for plan, numbers in packed)


@functools.lru_cache(maxsize=16384)
def _written(segment: PrefixSegment) -> str:
    return _json(to_json(segment))


@functools.lru_cache(maxsize=16384)
def _segment(text: str) -> PrefixSegment:
    return from_json(PrefixSegment, json.loads(text))


@functools.lru_cache(maxsize=4096)
def _plan(text: str) -> PlanPrefix:
    """The plan without its segments."""
    return from_json(PlanPrefix, json.loads(text))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
