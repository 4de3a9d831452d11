"""Suggestions for misspelt names."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The remedy that names the closest of `known`, or None where nothing is close."""
    close = difflib.get_close_matches(name, sorted(known), n=1)
    if not close:
        lowered = {each.lower(): each for each in sorted(known, reverse=True)}
        close = difflib.get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.75)
        close = [lowered[each] for each in close]
    return f"did you mean `{close[0]}`?" if close else None


def listing(names: Iterable[str]) -> str:
    """Names in backticks, separated by commas, in the order given."""
    return ", ".join(f"`{name}`" for name in names)
