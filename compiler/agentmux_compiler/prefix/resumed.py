"""What a session that goes on sends after an edit: the old text, the new one, or both, as its CLI is known to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.align import part_name
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.rendered import SECTIONS
from agentmux_compiler.prefix.requests import Cell, cells_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from agentmux_compiler.lowered import PlanPrefix, PrefixSegment, ResumeRules

KEPT = ("appended", "ignored")
KNOWN = (*KEPT, "rewritten")


def rule_of(rules: ResumeRules, segment: PrefixSegment, delivery: str) -> str:
    """The rule for one known text; what opened the first turn lies in the conversation and stays."""
    if segment.layer == "startup":
        return "ignored"
    flagged = delivery == "flag" and segment.name.startswith(SECTIONS)
    return rules.flag_text if flagged else rules.instructions


@dataclass(frozen=True, slots=True)
class Resumed:
    """The prefix of the session that goes on, and the tokens that come behind its conversation."""

    cells: tuple[Cell, ...]
    added: int


@dataclass(frozen=True, slots=True)
class Text:
    """A known text, the opaque part it follows, and its rule."""

    cell: Cell
    anchor: str | None
    rule: str


def resumed(
    old: Sequence[Cell], new: Sequence[Cell], rules: ResumeRules, deliveries: tuple[str, str]
) -> Resumed | None:
    """None where text changed of which nobody knows what becomes of it."""
    before, after = (_texts(cells, rules, delivery) for cells, delivery in zip((old, new), deliveries, strict=True))
    changed = _changed(before, after)
    if any(text.rule not in KNOWN for text in changed):
        return None
    opaque = [cell for cell in new if cell.text is None]
    placed = _placed(before, after) if any(text.rule == "rewritten" for text in (*before, *after)) else before
    appended = {text.cell.segment.layer for text in changed if text.rule == "appended"}
    again = (text for text in after if text.rule == "appended" and text.cell.segment.layer in appended)
    return Resumed(tuple(_woven(opaque, placed)), sum(text.cell.tokens for text in again))


def sent(before: PlanPrefix, after: PlanPrefix) -> PlanPrefix | None:
    """The prefix that a session goes on with which sent `before` last and is launched with `after`.

    It has the keys and the CLI's own parts of `after`, and of each text what its rule leaves. None where nobody knows.
    """
    if after.resume is None:
        return None
    counter = counter_for(after.vendor, after.served_model)
    old, new = (cells_of(plan, counter, ()) for plan in (before, after))
    goes_on = resumed(old, new, after.resume, (before.delivery, after.delivery))
    if goes_on is None:
        return None
    now = {_same(segment): segment for segment in after.segments}
    texts = (now.get(_same(cell.segment), cell.segment) for cell in goes_on.cells)
    return replace(after, segments=tuple(texts))


def _same(segment: PrefixSegment) -> tuple[object, ...]:
    return segment.layer, segment.name, segment.text, segment.size


def _placed(before: Sequence[Text], after: Sequence[Text]) -> list[Text]:
    """Rewritten texts as they are now, the others as they were, in the order in which they stand now."""
    now = {(text.cell.segment.name, text.anchor): place for place, text in enumerate(after)}
    kept = [text for text in before if text.rule in KEPT]
    where = [now.get((text.cell.segment.name, text.anchor), place) for place, text in enumerate(kept)]
    placed = [(place, text) for place, text in enumerate(after) if text.rule not in KEPT]
    return [text for _, text in sorted([*zip(where, kept, strict=True), *placed], key=lambda item: item[0])]


def _texts(cells: Sequence[Cell], rules: ResumeRules, delivery: str) -> list[Text]:
    found, anchor = [], None
    for cell in cells:
        if cell.text is None:
            anchor = part_name(cell.segment)
        else:
            found.append(Text(cell, anchor, rule_of(rules, cell.segment, delivery)))
    return found


def _changed(before: Sequence[Text], after: Sequence[Text]) -> list[Text]:
    """The texts of the layers that hold others now, or the same in another order."""
    layers = {text.cell.segment.layer for text in (*before, *after)}
    changed = {layer for layer in layers if _ways(before, layer) != _ways(after, layer)}
    if not changed:
        changed = {text.cell.segment.layer for text in _displaced(before, after)}
    return [text for text in (*before, *after) if text.cell.segment.layer in changed]


def _ways(texts: Sequence[Text], layer: str) -> list[tuple[object, str]]:
    return [(text.cell.content, text.rule) for text in texts if text.cell.segment.layer == layer]


def _displaced(before: Sequence[Text], after: Sequence[Text]) -> Sequence[Text]:
    """What is left of equally many texts without those that stand alike at the beginning and at the end."""
    differ = [old.cell.content != new.cell.content for old, new in zip(before, after, strict=True)]
    return after[differ.index(True) : len(differ) - differ[::-1].index(True)] if any(differ) else ()


def _woven(opaque: Sequence[Cell], texts: Sequence[Text]) -> Iterator[Cell]:
    """Each text behind the opaque part it followed; where that is gone, in front."""
    names = {part_name(cell.segment) for cell in opaque}
    by_anchor: Mapping[str | None, list[Cell]] = {name: [] for name in (None, *names)}
    for text in texts:
        by_anchor[text.anchor if text.anchor in names else None].append(text.cell)
    yield from by_anchor[None]
    for cell in opaque:
        yield cell
        yield from by_anchor.get(part_name(cell.segment), ())
