"""The order in which a provider's backend sees a request, as opaque parts and slots filled with text we know."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from agentmux_compiler.lowered import PrefixSegment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentmux_compiler.providers.schema import Part, Provider


def render_layout(
    provider: Provider, slots: Mapping[str, tuple[PrefixSegment, ...]], words: frozenset[str]
) -> tuple[PrefixSegment, ...]:
    """The prefix of one plan, in rendered order.

    `slots` maps a slot of the layout (`appended`, `skills`, `mcp`, `native`, `startup`), or the name of a part with an
    `argument`, to the segments that stand in it; they take the layer of the part. `words` are what `Part.when` and
    `Part.unless` ask for; the names of filled slots need not be among them. An opaque part is named
    `PROVIDER VERSION/PART`.
    """
    held = words | {slot for slot, segments in slots.items() if segments}
    return tuple(
        segment for part in provider.layout.parts if holds(part, held) for segment in _segments(provider, part, slots)
    )


def unplaced(
    provider: Provider, slots: Mapping[str, tuple[PrefixSegment, ...]], words: frozenset[str]
) -> tuple[str, ...]:
    """Slots that hold something for which this layout, under these words, has no place."""
    held = words | {slot for slot, segments in slots.items() if segments}
    placed = {part.slot for part in provider.layout.parts if holds(part, held)}
    return tuple(slot for slot, segments in slots.items() if segments and slot not in placed)


def opaque_parts(provider: Provider, words: frozenset[str]) -> Mapping[str, PrefixSegment]:
    """The opaque parts of a plan with these words, by the name they have in a prefix."""
    return {item.name: item for item in render_layout(provider, {}, words)}


def opaque_name(provider: Provider, part: Part) -> str:
    return f"{provider.name} {provider.layout.version}/{part.name}"


def holds(part: Part, words: frozenset[str]) -> bool:
    """Whether a plan with these words has this part: all of `when`, none of `unless`, and its tool, if it has one."""
    if f"without:{part.tool}" in words:
        return False
    return all(_found(word, words) for word in part.when) and not any(_found(word, words) for word in part.unless)


def _found(pattern: str, words: frozenset[str]) -> bool:
    if pattern in words:
        return True
    return any(mark in pattern for mark in "*?[") and any(fnmatchcase(word, pattern) for word in words)


def _segments(
    provider: Provider, part: Part, slots: Mapping[str, tuple[PrefixSegment, ...]]
) -> Iterator[PrefixSegment]:
    if part.bytes is None:
        for segment in slots.get(part.slot or part.name, ()):
            yield replace(segment, layer=part.layer)
    else:
        yield PrefixSegment(
            layer=part.layer,
            name=opaque_name(provider, part),
            body=None,
            size=part.bytes,
            varies_with=part.varies_with,
            breakpoint=part.breakpoint,
        )
