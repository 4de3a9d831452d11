"""Every change between two prefixes, each once, with its one reason and the byte from which on it can show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowered import PlanPrefix, PrefixSegment
from agentmux_compiler.prefix.align import align
from agentmux_compiler.prefix.axes import ARGUMENTS, AXES, KEYS, MCP, SKILLS, TREE, changed_axes
from agentmux_compiler.prefix.details import axis_detail, order_detail, placeholder, removal_field, volatile_detail
from agentmux_compiler.prefix.divergence import white_space_only
from agentmux_compiler.prefix.rendered import Rendered, common_length, common_octets, render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_compiler.prefix.align import Pair
    from agentmux_compiler.prefix.rendered import Piece

OURS = ("agents/", "bundles/", SKILLS, ARGUMENTS)


@dataclass(frozen=True, slots=True)
class Event:
    """One change. `position` is the byte of the prompt from which on it can show, None where none can.

    `shows` is False for what changes no byte by itself, such as another name. `axis` is the field of the launch that
    caused it: all that one field causes is one change.
    """

    reason: str
    layer: str
    segment: str
    span: Span | None
    position: int | None
    detail: str = ""
    shows: bool = True
    axis: str | None = None

    @property
    def key(self) -> bool:
        """Whether it changes a key of the cache: then nothing is shared, whatever the text."""
        return self.axis in KEYS


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two plans as rendered prompts, and the fields of the launch on which they differ."""

    before: PlanPrefix
    after: PlanPrefix
    left: Rendered
    right: Rendered
    axes: tuple[str, ...]

    def same(self, old: PrefixSegment, new: PrefixSegment) -> bool:
        """Whether two opaque parts hold the same text, as far as the plans decide it."""
        return (old.name, old.size) == (new.name, new.size) and not set(new.varies_with) & set(self.axes)

    def place(self, field: str) -> Span | None:
        """Where a field of the spec stands, else the top of the spec."""
        places = self.after.places
        spec = min((span.path for span in places.values()), default=None)
        return places.get(field) or (Span(spec) if spec else None)

    def cause_of(self, *segments: PrefixSegment) -> str:
        """The field that accounts for a part of the CLI's that came, went or became another."""
        decisive = (axis for segment in segments for axis in (*segment.varies_with, *segment.chosen_by))
        return next((axis for axis in decisive if axis in self.axes), self.cause)

    @property
    def cause(self) -> str:
        """The field held to account for what no other is known to have caused."""
        return next((axis for axis in self.axes if axis != "env"), "env" if "env" in self.axes else "catalog")


def compare(before: PlanPrefix, after: PlanPrefix) -> Comparison:
    axes = changed_axes(before, after)
    left, right = (render([item for item in plan.segments if _sent(item, axes)]) for plan in (before, after))
    return Comparison(before, after, left, right, axes)


def _sent(segment: PrefixSegment, axes: Sequence[str]) -> bool:
    """Whether there is anything of it to send: some parts of a layout only mark a place, such as the prompt's."""
    return not segment.opaque or segment.size > 0 or bool(set(segment.varies_with) & set(axes))


def events(pair: Comparison) -> list[Event]:
    """All changes, in no particular order."""
    alignment = align(pair.left.pieces, pair.right.pieces)
    found = [event for each in alignment.pairs for event in _paired(each, each in alignment.moved, pair)]
    found += [_moved(each, pair) for each in alignment.moved]
    found += [_overtaken(each, pair) for each in alignment.overtaken]
    found += [_came(piece, pair) for piece in alignment.inserted]
    found += [_went(piece, pair) for piece in alignment.removed]
    return _folded(_by_axis(found, pair)) + _without_text(found, pair)


def _paired(both: Pair, moved: bool, pair: Comparison) -> Iterator[Event]:
    old, new = both.before.segment, both.after.segment
    if both.relocated:
        yield _relocated(both, pair)
    if new.opaque:
        if old.name != new.name:
            yield _caused("cli-version", new, both.after.start, pair)
        elif not pair.same(old, new):
            yield _caused(pair.cause_of(old, new), new, both.after.start, pair)
    elif old.text != new.text:
        yield _worded(both, pair)
    elif old.name != new.name and not (moved or both.relocated or new.name.startswith(TREE)):
        detail = f"it was `{old.name}`"
        yield Event("renamed", new.layer, new.name, asked(new), both.after.start, detail, shows=False)


def _relocated(both: Pair, pair: Comparison) -> Event:
    """A text in another layer: the layout put it there, unless the whole request was recorded and none is known."""
    new = both.after.segment
    if pair.axes or pair.left.opaque or pair.right.opaque:
        gone_first = both.before.start < both.after.start
        axis = pair.cause_of(both.before.segment, new) if new.opaque else pair.cause
        return _caused(axis, both.before.segment if gone_first else new, both.start, pair)
    detail = f"it stood in `{both.before.segment.layer}`"
    return Event("reordered", new.layer, new.name, asked(new), both.start, detail)


def _caused(axis: str, segment: PrefixSegment, position: int, pair: Comparison) -> Event:
    span = pair.place(AXES[axis].place)
    return Event(AXES[axis].reason, segment.layer, segment.name, span, position, axis=axis)


def _worded(both: Pair, pair: Comparison) -> Event:
    """The event of a segment whose text differs."""
    old, new = both.before.segment, both.after.segment
    before, after = old.text or "", new.text or ""
    position = both.after.start + len(both.after.lead) + common_octets(before, after)
    axis = _behind(new, pair) or _substituted(before, after, pair)
    if axis:
        return _caused(axis, new, position, pair)
    appeared = [name for name in new.volatile if placeholder(name) not in before]
    reason = "whitespace" if white_space_only(before, after) else "volatile" if appeared else "edited"
    detail = volatile_detail(appeared) if reason == "volatile" else ""
    return Event(reason, new.layer, new.name, _line(new, common_length(before, after)), position, detail)


def _line(segment: PrefixSegment, index: int) -> Span | None:
    """The source line of the character at `index` of a segment's text."""
    body = segment.body
    return Span(body.path, body.line(body.text.count("\n", 0, index))) if body else None


def _behind(segment: PrefixSegment, pair: Comparison) -> str | None:
    """The field that accounts for a change of known text which no source of ours holds."""
    if segment.name.startswith(MCP):
        return "mcp"
    if segment.name.startswith(TREE):
        return next((axis for axis in ("delivery", "cwd", "mcp", "skills") if axis in pair.axes), "tree")
    moving = [axis for axis in ("delivery", "cwd") if axis in pair.axes]
    return moving[0] if moving and not segment.name.startswith(OURS) else None


def _substituted(before: str, after: str, pair: Comparison) -> str | None:
    """`model` where the text differs in nothing but the model's name."""
    old, new = pair.before.model, pair.after.model
    return "model" if old and new and old != new and before.replace(old, new) == after else None


def _moved(both: Pair, pair: Comparison) -> Event:
    segment = both.after.segment
    if segment.opaque:
        return _caused(pair.cause_of(both.before.segment, segment), segment, both.start, pair)
    detail = order_detail(both.after, pair.right.pieces)
    return Event("reordered", segment.layer, segment.name, asked(segment), both.start, detail)


def _overtaken(both: Pair, pair: Comparison) -> Event:
    """A text of ours that kept its place among the others, while a part of the CLI's changed sides."""
    return _caused(pair.cause, both.after.segment, both.start, pair)


def _came(piece: Piece, pair: Comparison) -> Event:
    segment = piece.segment
    axis = pair.cause_of(segment) if segment.opaque else _behind(segment, pair)
    if axis:
        return _caused(axis, segment, piece.start, pair)
    detail = volatile_detail(segment.volatile) if segment.volatile else ""
    reason = "volatile" if segment.volatile else "inserted"
    return Event(reason, segment.layer, segment.name, asked(segment), piece.start, detail)


def _went(piece: Piece, pair: Comparison) -> Event:
    segment = piece.segment
    axis = pair.cause_of(segment) if segment.opaque else _behind(segment, pair)
    if axis:
        return _caused(axis, segment, piece.start, pair)
    span = pair.place(removal_field(segment.name))
    return Event("removed", segment.layer, segment.name, span, piece.start)


def asked(segment: PrefixSegment) -> Span | None:
    """The place in `agents.d/` that put a segment here, else its source."""
    body = segment.body
    return segment.asked_at or (Span(body.path, body.line(0)) if body else None)


def _by_axis(found: Sequence[Event], pair: Comparison) -> list[Event]:
    """All that one field of the launch causes as one event, at the first place where it shows."""
    single = [event for event in found if event.axis is None]
    for axis in AXES:
        of_axis = [event for event in found if event.axis == axis]
        if of_axis:
            first = min(of_axis, key=lambda event: event.position or 0)
            detail = axis_detail(axis, pair.before, pair.after, first.layer)
            single.append(replace(first, detail=detail))
    return single


def _folded(found: Sequence[Event]) -> list[Event]:
    """Parts that come and go with skills, or for no field at all, belong to the change of ours that brought them."""
    result = list(found)
    for axis, names in (("skills", SKILLS), ("catalog", "")):
        part = next((event for event in result if event.axis == axis), None)
        ours = [event for event in result if event.axis is None and event.shows and event.segment.startswith(names)]
        if part and ours:
            first = min(ours, key=lambda event: event.position or 0)
            result.remove(part)
            result[result.index(first)] = _begun_by(first, part)
    return result


def _begun_by(event: Event, part: Event) -> Event:
    """The event with what it brings along, which may show further ahead and in another layer."""
    if (event.position or 0) <= (part.position or 0):
        return event
    return replace(event, position=part.position, layer=part.layer)


def _without_text(found: Sequence[Event], pair: Comparison) -> list[Event]:
    """Fields of the launch that changed without changing any text that is known of."""
    shown = {event.axis for event in found} | {"mcp", "skills"}
    return [
        Event(
            AXES[axis].reason,
            AXES[axis].layer,
            axis,
            pair.place(AXES[axis].place),
            None,
            axis_detail(axis, pair.before, pair.after, None, alone=not any(event.shows for event in found)),
            shows=False,
            axis=axis,
        )
        for axis in pair.axes
        if axis not in shown
    ]
