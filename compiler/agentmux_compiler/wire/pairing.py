"""Which part of one request is which of another, although their places count what stands before them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from agentmux_launcher.recorder.wire import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

_MESSAGE = re.compile(r".*?\[\d+\]\(([^)]*)\)")


def with_heads(parts: Iterable[Part]) -> list[Part]:
    """The parts with one in front of each message that holds its role: a template renders that too.

    A message that comes or goes has this part for its name.
    """
    found: list[Part] = []
    last = ""
    for part in parts:
        match = _MESSAGE.match(part.name) if part.layer == "messages" else None
        if match and match[0] != last:
            found.append(Part(part.layer, match[0], f"{match[1]}\n"))
        last = match[0] if match else ""
        found.append(part)
    return found


def is_head(part: Part) -> bool:
    match = _MESSAGE.fullmatch(part.name)
    return match is not None and part.text == f"{match[1]}\n"


def paired_names(before: Sequence[Part], after: Sequence[Part]) -> list[str]:
    """A name for each part of `before`: that of its counterpart in `after`, else one that no part of `after` has.

    Tools are known by their names. Other parts pair in order where they are equal, then one by one between those, then
    equal ones wherever they went.
    """
    found = _by_name(before, after)
    rest = [index for index in range(len(before)) if before[index].layer != "tools"]
    free = [index for index in range(len(after)) if after[index].layer != "tools"]
    found |= _in_order(before, after, rest, free)
    found |= _anywhere(before, after, found)
    return _unique(before, after, found)


def _by_name(before: Sequence[Part], after: Sequence[Part]) -> dict[int, int]:
    """Tools of one name, the n-th with the n-th."""
    return _queued(before, after, {}, lambda part: part.name if part.layer == "tools" else None)


def _anywhere(before: Sequence[Part], after: Sequence[Part], found: dict[int, int]) -> dict[int, int]:
    return _queued(before, after, found, lambda part: None if part.layer == "tools" else _identity(part))


def _queued(
    before: Sequence[Part], after: Sequence[Part], found: dict[int, int], key: Callable[[Part], Hashable | None]
) -> dict[int, int]:
    """Pairs of equal keys, in order, among what is not yet `found`."""
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    taken = set(found.values())
    for index, part in enumerate(after):
        if index not in taken:
            waiting[key(part)].append(index)
    pairs: dict[int, int] = {}
    for index, part in enumerate(before):
        queue = waiting.get(key(part)) if index not in found and key(part) is not None else None
        if queue:
            pairs[index] = queue.pop(0)
    return pairs


def _in_order(
    before: Sequence[Part], after: Sequence[Part], rest: Sequence[int], free: Sequence[int]
) -> dict[int, int]:
    left, right = [_identity(before[i]) for i in rest], [_identity(after[i]) for i in free]
    pairs: dict[int, int] = {}
    for tag, start, end, other, other_end in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag in {"equal", "replace"}:
            both = zip(rest[start:end], free[other:other_end], strict=False)
            pairs |= {i: j for i, j in both if tag == "equal" or _kind(before[i]) == _kind(after[j])}
    return pairs


def _identity(part: Part) -> tuple[str, bool, str]:
    return (*_kind(part), part.text)


def _kind(part: Part) -> tuple[str, bool]:
    return (part.layer, is_head(part))


def _unique(before: Sequence[Part], after: Sequence[Part], found: dict[int, int]) -> list[str]:
    """Names of `after` where there is a counterpart; the n-th part of one name is told apart by its number."""
    names = numbered(part.name for part in after)
    taken = set(names)
    result = []
    for index, part in enumerate(before):
        name = names[found[index]] if index in found else _beside(part.name, taken)
        taken.add(name)
        result.append(name)
    return result


def _beside(name: str, taken: set[str]) -> str:
    candidate, number = name, 1
    while candidate in taken:
        candidate, number = f"{name} as it was" + (f" ({number})" if number > 1 else ""), number + 1
    return candidate


def numbered(names: Iterable[str]) -> list[str]:
    """Each name once: the second of one name ends with `#2`."""
    seen: Counter[str] = Counter()
    result = []
    for name in names:
        seen[name] += 1
        result.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return result
