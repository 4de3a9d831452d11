"""Version numbers: read from what a CLI says, held to a requirement, compared with the verified one."""

from __future__ import annotations

import re
from enum import StrEnum
from operator import ge, gt, le, lt

Numbers = tuple[int, ...]

_SAID = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+(?:[-+][0-9A-Za-z.-]*[0-9A-Za-z])?)")
_ORDERED = {">=": ge, ">": gt, "<=": le, "<": lt}
_KEPT = {"^": 1, "~": 2}  # how many numbers stay as they are
_CLAUSE = re.compile(r"(>=|<=|==|>|<|=|\^|~)?\s*v?(\d+(?:\.\d+)*)(?:\.[x*])*")


class Standing(StrEnum):
    """How a version stands to the one that all facts of the catalog hold for."""

    VERIFIED = "verified"
    OLDER = "older"
    NEWER = "newer"
    OTHER = "other"
    UNKNOWN = "unknown"


def said(text: str) -> str | None:
    """The first version in what a CLI printed, such as `2.1.332` of `2.1.332 (Claude Code)`."""
    found = _SAID.search(text)
    return found[1] if found else None


def every(text: str) -> tuple[str, ...]:
    """Every version in a text."""
    return tuple(match[1] for match in _SAID.finditer(text))


def numbers(version: str) -> Numbers:
    """The leading numbers of a version, `(0, 142, 0)` of `0.142.0-alpha.3`; empty where it begins with none."""
    found = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return tuple(map(int, found[1].split("."))) if found else ()


def standing(version: str | None, verified: str) -> Standing:
    """Compare with the verified version; two that differ in nothing but what follows the numbers are `other`."""
    if version == verified:
        return Standing.VERIFIED
    here, known = numbers(version or ""), numbers(verified)
    if not here or not known:
        return Standing.UNKNOWN
    if here == known:
        return Standing.OTHER
    return Standing.OLDER if here < known else Standing.NEWER


def between(version: str, since: str, before: str | None) -> bool:
    """Whether a version is `since` or later, and earlier than `before`, if that is given."""
    here = numbers(version)
    return bool(here) and numbers(since) <= here and (before is None or here < numbers(before))


def satisfies(version: str, requirement: str) -> bool:
    """Whether a version meets a requirement as npm and PyPI write it: `>=22.12`, `^20 || >=22`, `>=3.10,<3.13`.

    Clauses that stand side by side must all hold; one of those that `||` separates is enough.

    Raises:
        ValueError: a clause is none.
    """
    here = numbers(version)
    return any(all(_holds(here, clause) for clause in _clauses(part)) for part in requirement.split("||"))


def _clauses(text: str) -> list[tuple[str, Numbers]]:
    joined = re.sub(r"([<>=^~])\s+", r"\1", text.replace(",", " "))
    return [_clause(word) for word in joined.split() if word != "*"]


def _clause(word: str) -> tuple[str, Numbers]:
    found = _CLAUSE.fullmatch(word)
    if found is None:
        raise ValueError(f"`{word}` is no clause of a requirement")
    return found[1] or "=", numbers(found[2])


def _holds(here: Numbers, clause: tuple[str, Numbers]) -> bool:
    operator, wanted = clause
    width = max(len(here), len(wanted))
    left, right = _padded(here, width), _padded(wanted, width)
    if operator in _ORDERED:
        return bool(_ORDERED[operator](left, right))
    kept = min(len(wanted), _KEPT.get(operator, width))
    return left >= right and left[:kept] == right[:kept]


def _padded(version: Numbers, width: int) -> Numbers:
    return (*version, *(0 for _ in range(width - len(version))))
