"""The texts of all agents as bundles: where they are cut, who shares them, what they are called."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from agentmux_compiler.proposal.alignment import groups
from agentmux_compiler.proposal.blocks import blocks, heading, joined, sections
from agentmux_compiler.sources.source_names import MAX_NAME, name_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_compiler.proposal.survey import FoundText

LARGE = 600  # bytes from which a section becomes a bundle of its own
SHARED = 200  # the same for one that several agents have
WORDS = 40  # characters of a heading that make a name
MAIN, PROJECT = "main", "project"


@dataclass(frozen=True, slots=True)
class Piece:
    """Text of a bundle: `providers` are those it is for, None: whatever the agent runs on."""

    text: str
    providers: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class NamedBundle:
    """A bundle to be written."""

    name: str
    piece: Piece


@dataclass(frozen=True, slots=True)
class Outline:
    """The text of one agent: `sections` of each group of blocks, with the providers it is for."""

    agent: str
    parts: tuple[tuple[tuple[str, ...] | None, tuple[tuple[str, ...], ...]], ...]


@dataclass(slots=True)
class _Names:
    """Names that are given, with what they are given to."""

    taken: dict[str, Piece] = field(default_factory=dict)

    def give(self, wanted: str, piece: Piece, used: Sequence[str]) -> str:
        """The name of a piece in the list of an agent that uses others already; an equal piece keeps its name."""
        known = next((name for name, each in self.taken.items() if each == piece and name not in used), None)
        if known is not None:
            return known
        numbered = (wanted if number == 1 else f"{wanted}-{number}" for number in count(1))
        name = next(each for each in numbered if each not in self.taken)
        self.taken[name] = piece
        return name


def outline(agent: str, texts: Sequence[FoundText]) -> Outline:
    """The files of one folder as one sequence."""
    parts = []
    for group in groups([blocks(text.text) for text in texts]):
        everybody = len(group.holders) == len(texts)
        names = tuple(name for index in sorted(group.holders) for name in texts[index].providers)
        parts.append((None if everybody else names, sections(group.blocks)))
    return Outline(agent, tuple(parts))


def bundles_of(outlines: Sequence[Outline]) -> tuple[dict[str, tuple[str, ...]], tuple[NamedBundle, ...]]:
    """The bundles each agent lists, in order, and all bundles. What several agents have alike is one bundle."""
    shared = _shared(outlines)
    pieces = {each.agent: tuple(_pieces(each, shared)) for each in outlines}
    times = Counter(piece for listed in pieces.values() for piece in set(listed))
    names = _Names()
    lists: dict[str, tuple[str, ...]] = {}
    for agent, listed in pieces.items():
        used: list[str] = []
        for piece in listed:
            wanted = _wanted_name(piece, agent, first=not used, common=times[piece] > 1)
            used.append(names.give(wanted, piece, used))
        lists[agent] = tuple(used)
    return lists, tuple(NamedBundle(name, piece) for name, piece in names.taken.items())


def _shared(outlines: Sequence[Outline]) -> frozenset[Piece]:
    """Sections that more than one agent has."""
    seen = Counter(
        piece
        for each in outlines
        for piece in {Piece(joined(section), providers) for providers, parts in each.parts for section in parts}
    )
    return frozenset(piece for piece, times in seen.items() if times > 1 and len(piece.text.encode()) >= SHARED)


def _pieces(each: Outline, shared: frozenset[Piece]) -> Iterator[Piece]:
    for providers, parts in each.parts:
        current: list[tuple[str, ...]] = []
        alone = False
        for section in parts:
            own = Piece(joined(section), providers) in shared
            if current and (own or alone or len(joined(section).encode()) >= LARGE):
                yield Piece(joined([joined(part) for part in current]), providers)
                current = []
            current.append(section)
            alone = own
        yield Piece(joined([joined(part) for part in current]), providers)


def _wanted_name(piece: Piece, agent: str, *, first: bool, common: bool) -> str:
    """From the heading; the agent's name stands before what is its own, a provider's behind what is for it alone."""
    top = heading(piece.text)
    title = "" if top is None or (first and top[0] == 1) else _slug(top[1])
    prefix = "" if agent == MAIN or common or f"{title}-".startswith(f"{agent}-") else agent
    words = [prefix, title] if prefix or title else [PROJECT]
    missing = [name for name in piece.providers or () if name not in title.split("-")]
    name = "-".join(word for word in (*words, *missing) if word)[:MAX_NAME].strip("-")
    return PROJECT if name_fault(name) else name


def _slug(text: str) -> str:
    plain = re.sub(r"[`*_]|\]\([^)]*\)", "", text.lower())
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return slug if len(slug) <= WORDS else slug[:WORDS].rpartition("-")[0]
