"""Plans' prefixes as compact bytes and back: texts and segments that plans share are written once."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentmux_compiler.lowered import PlanPrefix, PrefixSegment
from agentmux_compiler.segment import Text
from agentmux_launcher.codec import from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def pack(plans: Iterable[PlanPrefix]) -> bytes:
    texts: dict[Text, int] = {}
    segments: dict[PrefixSegment, int] = {}
    packed = [_plan(plan, segments) for plan in plans]
    value = {"segments": [_segment(each, texts) for each in segments], "plans": packed, "texts": to_json([*texts])}
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return zlib.compress(text.encode("ascii"), level=1)


def unpack(data: bytes) -> tuple[PlanPrefix, ...]:
    """What `pack` was given, value for value.

    Raises:
        ValueError, TypeError, KeyError, IndexError: the bytes are nothing that `pack` has made.
    """
    try:
        value = json.loads(zlib.decompress(data))
    except zlib.error as error:
        raise ValueError(str(error)) from None
    texts = [from_json(Text, each) for each in value["texts"]]
    segments = [_unpacked_segment(each, texts) for each in value["segments"]]
    return tuple(_unpacked_plan(each, segments) for each in value["plans"])


def _plan(plan: PlanPrefix, segments: dict[PrefixSegment, int]) -> dict[str, Any]:
    numbers = [segments.setdefault(segment, len(segments)) for segment in plan.segments]
    return {**to_json(replace(plan, segments=())), "segments": numbers}


def _segment(segment: PrefixSegment, texts: dict[Text, int]) -> dict[str, Any]:
    number = None if segment.body is None else texts.setdefault(segment.body, len(texts))
    return {**to_json(replace(segment, body=None)), "body": number}


def _unpacked_segment(value: dict[str, Any], texts: Sequence[Text]) -> PrefixSegment:
    number = value["body"]
    segment = from_json(PrefixSegment, {**value, "body": None})
    return segment if number is None else replace(segment, body=texts[number])


def _unpacked_plan(value: dict[str, Any], segments: Sequence[PrefixSegment]) -> PlanPrefix:
    numbers = value["segments"]
    plan = from_json(PlanPrefix, {**value, "segments": []})
    return replace(plan, segments=tuple(segments[number] for number in numbers))
