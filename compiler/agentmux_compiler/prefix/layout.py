"""The order in which a provider's backend sees a request, as opaque parts and slots filled with text we know."""

from __future__ import annotations

import functools
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import groupby
from typing import TYPE_CHECKING, Any

from agentmux_compiler.lowered import PrefixSegment
from agentmux_compiler.prefix.axes import SKILLS
from agentmux_compiler.tree import byte_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from agentmux_compiler.providers.schema import Provider
    from agentmux_compiler.providers.schema_layout import Part


def render_layout(
    provider: Provider,
    slots: Mapping[str, tuple[PrefixSegment, ...]],
    words: frozenset[str],
    version: str | None = None,
) -> tuple[PrefixSegment, ...]:
    """The prefix of one plan, in rendered order.

    `slots` maps a slot of the layout (`appended`, `skills`, `mcp`, `native`, `startup`), or the name of a part with an
    `argument`, to the segments that stand in it; they take the layer of the part. `words` are what `Part.when` and
    `Part.unless` ask for; the names of filled slots need not be among them. An opaque part is named
    `PROVIDER VERSION/PART`, by the version that was measured unless another is meant.
    """
    named = f"{provider.name} {version or provider.layout.version}"
    held = words | {slot for slot, segments in slots.items() if segments}
    parts = (part for part in parts_for(provider, held) if holds(part, held))
    return _joined(segment for part in _ranked(provider, parts, slots, named) for segment in part)


def _ranked(
    provider: Provider, parts: Iterable[Part], slots: Mapping[str, tuple[PrefixSegment, ...]], named: str
) -> Iterator[list[PrefixSegment]]:
    """The segments of each part; neighbours with a rank are one list, in the order in which the CLI lists skills."""
    for ranked, group in groupby(parts, key=lambda part: part.rank is not None):
        made = [(part, list(_segments(part, slots, named))) for part in group]
        if not ranked:
            yield from (segments for _, segments in made)
            continue
        key, falling = RANKS[provider.skills.order]
        listed = [(part.rank or skill_name(segment), segment) for part, segments in made for segment in segments]
        yield [segment for _, segment in sorted(listed, key=lambda item: key(item[0]), reverse=falling)]


def skill_name(segment: PrefixSegment) -> str:
    """`release` of `skills/release@reviewer+qwen.md`."""
    return segment.name.removeprefix(SKILLS).partition("@")[0].partition("+")[0].partition(".")[0]


def _joined(segments: Iterable[PrefixSegment]) -> tuple[PrefixSegment, ...]:
    """Neighbouring opaque parts of one name as one."""
    made: list[PrefixSegment] = []
    for segment in segments:
        last = made[-1] if made else None
        if last is not None and segment.opaque and (last.layer, last.name) == (segment.layer, segment.name):
            varies = tuple(dict.fromkeys((*last.varies_with, *segment.varies_with)))
            made[-1] = replace(segment, size=last.size + segment.size, varies_with=varies)
        else:
            made.append(segment)
    return tuple(made)


def parts_for(provider: Provider, words: frozenset[str]) -> Sequence[Part]:
    """The parts of the first variant whose words hold, else the usual ones."""
    variants = (each.parts for each in provider.layout.variants if all(_found(word, words) for word in each.when))
    return next(variants, provider.layout.parts)


def unplaced(
    provider: Provider, slots: Mapping[str, tuple[PrefixSegment, ...]], words: frozenset[str]
) -> tuple[str, ...]:
    """Slots that hold something for which this layout, under these words, has no place."""
    held = words | {slot for slot, segments in slots.items() if segments}
    placed = {part.slot for part in parts_for(provider, held) if holds(part, held)}
    return tuple(slot for slot, segments in slots.items() if segments and slot not in placed)


def opaque_parts(provider: Provider, words: frozenset[str]) -> Mapping[str, PrefixSegment]:
    """The opaque parts of a plan with these words, by the name they have in a prefix."""
    return {item.name: item for item in render_layout(provider, {}, words)}


def holds(part: Part, words: frozenset[str]) -> bool:
    """Whether a plan with these words has this part: all of `when`, none of `unless`, and its tool, if it has one."""
    if f"without:{part.tool}" in words:
        return False
    return all(_found(word, words) for word in part.when) and not any(_found(word, words) for word in part.unless)


def _found(pattern: str, words: frozenset[str]) -> bool:
    if pattern in words:
        return True
    return any(mark in pattern for mark in "*?[") and any(fnmatchcase(word, pattern) for word in words)


def _segments(part: Part, slots: Mapping[str, tuple[PrefixSegment, ...]], named: str) -> Iterator[PrefixSegment]:
    if part.bytes is None:
        for segment in slots.get(part.slot or part.name, ()):
            yield replace(segment, layer=part.layer)
            if part.each:
                yield _opaque(part, f"{named}/{part.name} of {segment.name.rpartition('/')[2]}", part.each)
    else:
        yield _opaque(part, f"{named}/{part.name}", part.bytes)


def _opaque(part: Part, name: str, size: int) -> PrefixSegment:
    return PrefixSegment(
        layer=part.layer,
        name=name,
        body=None,
        size=size,
        varies_with=part.varies_with,
        breakpoint=part.breakpoint,
        chosen_by=chosen_by(part),
    )


RANKS: Mapping[str, tuple[Callable[[str], Any], bool]] = {
    "casefold": (lambda name: (name.casefold(), byte_order(name)), False),
    "bytes": (byte_order, False),
    "reverse-bytes": (byte_order, True),
    "unknown": (lambda _: 0, False),
}

# What decides about a word of a layout, by how the word begins; any other is a token of the argv.
DECIDES = {
    "permission:": ("permission",),
    "model:": ("model",),
    "family:": ("model",),
    "effort:": ("effort",),
    "delivery:": ("delivery",),
    "env:": ("env",),
    "redirected": ("backend", "env"),
    "denied:": ("tools",),
    "added:": ("tools",),
    "only": ("tools",),
    "without:": ("tools",),
    "mcp": ("mcp",),
    "skills": ("skills",),
    "native": ("delivery",),
    "appended": ("delivery",),
}
TOKEN = ("delivery", "skills", "tools", "flags")


@functools.cache
def chosen_by(part: Part) -> tuple[str, ...]:
    """The fields of a launch that decide whether a part is there; last those that a token of the argv may be from."""
    found = [axes for word in (*part.when, *part.unless) for axes in (_decides(word),)]
    known = [axis for axes in found if axes is not TOKEN for axis in axes]
    own = ["tools"] if part.tool else [part.slot] if part.slot else []
    return tuple(dict.fromkeys([*own, *known, *(TOKEN if TOKEN in found else ())]))


def _decides(word: str) -> tuple[str, ...]:
    return next((axes for head, axes in DECIDES.items() if word.startswith(head)), TOKEN)
