"""What several instruction files have in common, in order: one sequence that holds all of them."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, takewhile
from typing import TYPE_CHECKING

from agentmux_compiler.proposal.blocks import is_heading

if TYPE_CHECKING:
    from collections.abc import Sequence

SHORT = 120  # bytes; common text below that is not worth a bundle between two that are particular
EXACT = 1_000_000  # pairs of blocks up to which the heaviest common sequence is looked for

Holders = frozenset[int]


@dataclass(frozen=True, slots=True)
class Column:
    """A block, and which files (by index) hold it at this place."""

    text: str
    holders: Holders


@dataclass(frozen=True, slots=True)
class Group:
    """Blocks that stand together in the same files."""

    blocks: tuple[str, ...]
    holders: Holders


def groups(files: Sequence[Sequence[str]]) -> tuple[Group, ...]:
    """Groups in such an order that each file is the sequence of the groups it holds.

    Common text between particular text is given up where it is short, and so is a common heading above text that
    differs in every file: a bundle should make sense by itself.
    """
    columns = _without_short(_headings_below(_aligned(files)))
    return tuple(_grouped(columns))


def _aligned(files: Sequence[Sequence[str]]) -> list[Column]:
    merged = [Column(text, frozenset({0})) for text in files[0]] if files else []
    for index, file in enumerate(files[1:], 1):
        merged = _merged(merged, file, index)
    return merged


def _merged(columns: Sequence[Column], file: Sequence[str], index: int) -> list[Column]:
    """Columns with one more file in them; where nothing is common, what was there stands first."""
    result: list[Column] = []
    left = right = 0
    own = frozenset({index})
    for i, j in (*_common([column.text for column in columns], file), (len(columns), len(file))):
        result += columns[left:i]
        result += (Column(text, own) for text in file[right:j])
        if i < len(columns):
            result.append(Column(columns[i].text, columns[i].holders | own))
        left, right = i + 1, j + 1
    return result


def _common(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of equal blocks in order, as many bytes of them as can be."""
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    first, second = one[start : len(one) - end], other[start : len(other) - end]
    inner = _heaviest(first, second) if len(first) * len(second) <= EXACT else _matching(first, second)
    tail = ((len(one) - end + step, len(other) - end + step) for step in range(end))
    return [*((i, i) for i in range(start)), *((start + i, start + j) for i, j in inner), *tail]


def _heaviest(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """The common subsequence with the most bytes."""
    best = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        row, below, weight = best[i], best[i + 1], len(one[i].encode()) + 1
        for j in range(len(other) - 1, -1, -1):
            kept = below[j + 1] + weight if one[i] == other[j] else 0
            row[j] = max(below[j], row[j + 1], kept)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(one) and j < len(other):
        if best[i][j] == best[i + 1][j]:
            i += 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            pairs.append((i, j))
            i, j = i + 1, j + 1
    return pairs


def _matching(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    found = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return [(block.a + step, block.b + step) for block in found for step in range(block.size)]


def _headings_below(columns: Sequence[Column]) -> list[Column]:
    """Give files their own copies of a common heading, where all of them go on with text of their own."""
    result: list[Column] = []
    for index, column in enumerate(columns):
        own = _particular(columns[index + 1 :], column.holders) if is_heading(column.text) else []
        everybody = column.holders <= frozenset().union(*(each.holders for each in own))
        result += _copies(column, own) if everybody else [column]
    return result


def _without_short(columns: Sequence[Column]) -> list[Column]:
    """Give up common text that is short and stands between particular text."""
    result: list[Column] = []
    start = 0
    for holders, run in groupby(columns, key=lambda column: column.holders):
        common = list(run)
        end = start + len(common)
        before = _particular(columns[:start][::-1], holders)
        after = _particular(columns[end:], holders)
        short = before and after and sum(len(column.text.encode()) + 1 for column in common) < SHORT
        result += [copy for column in common for copy in _copies(column, [*before, *after])] if short else common
        start = end
    return result


def _particular(columns: Sequence[Column], holders: Holders) -> list[Column]:
    """The columns up to the first that all of `holders` have."""
    return list(takewhile(lambda column: not holders <= column.holders, columns))


def _copies(column: Column, around: Sequence[Column]) -> list[Column]:
    """The column once for each set of its files that agree on what stands around it."""
    agreeing: dict[tuple[bool, ...], set[int]] = {}
    for holder in sorted(column.holders):
        agreeing.setdefault(tuple(holder in each.holders for each in around), set()).add(holder)
    return [Column(column.text, frozenset(holders)) for holders in agreeing.values()]


def _grouped(columns: Sequence[Column]) -> list[Group]:
    """Bring together what stands in the same files; blocks that no file has together may change places."""
    found: list[Group] = []
    for column in columns:
        place = len(found)
        for index in range(len(found) - 1, -1, -1):
            if found[index].holders == column.holders:
                place = index
                break
            if found[index].holders & column.holders:
                break
        if place < len(found):
            found[place] = Group((*found[place].blocks, column.text), column.holders)
        else:
            found.append(Group((column.text,), column.holders))
    return found
