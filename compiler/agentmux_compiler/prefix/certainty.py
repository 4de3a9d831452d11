"""How sure a figure is: the least certain of the facts it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmux_compiler.prefix.backends.schema import Backend, Sourced
    from agentmux_compiler.prefix.reuse import Terms

RANKS = ("measured", "documented", "third-party", "inferred", "recalled")


def certainty(backend: Backend, terms: Terms, *, effort_changed: bool = False) -> str:
    """A word of `RANKS` for the reuse that `terms` of this backend predict, and which way it may be off.

    An unknown step or minimum makes figures an upper bound, an unknown interval of units a lower one.
    """
    used: list[Sourced] = [backend.minimum, *(group for group in _groups(backend, terms) if group)]
    used += [backend.effort] if effort_changed else []
    word = max((group.source.split()[0].rstrip(",;") for group in used), key=RANKS.index)
    bound = _bound(terms)
    return f"{word}, {bound}" if bound else word


def _groups(backend: Backend, terms: Terms) -> tuple[Sourced | None, ...]:
    groups = {"breakpoints": (backend.breakpoints,), "units": (backend.units,)}
    return groups.get(terms.kind, (backend.granularity,))


def _bound(terms: Terms) -> str:
    if terms.kind == "units":
        return "a lower bound" if terms.interval is None else ""
    coarse = terms.kind == "blocks" and terms.granularity is None
    return "an upper bound" if coarse or terms.minimum is None else ""
