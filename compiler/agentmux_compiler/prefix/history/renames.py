"""Agents that go on under another name, so that a rename is not taken for an end and a beginning."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from agentmux_compiler.revisions.prefix_cache import SOURCES
from agentmux_compiler.tree import byte_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.tree import Tree

ALIKE = 0.5  # of the lines, as much as git asks for when it takes a file for a renamed one
PAIRS = 1000  # more are not compared line by line
_ENDINGS = (".yaml", ".yml")


def specs(tree: Tree) -> Mapping[str, bytes]:
    """The specs of a project by agent."""
    names = (name for name in tree.names(SOURCES) if name.endswith(_ENDINGS))
    return {name.rpartition(".")[0]: tree.read(f"{SOURCES}/{name}") or b"" for name in names}


def renamed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> Mapping[str, str]:
    """Old to new names: first of equal specs, then of those that have most lines in common."""
    gone = sorted((name for name in before if name not in after), key=byte_order)
    come = sorted((name for name in after if name not in before), key=byte_order)
    found: dict[str, str] = {}
    for old in gone:
        equal = [new for new in come if after[new] == before[old] and new not in found.values()]
        found |= {old: equal[0]} if equal else {}
    gone = [name for name in gone if name not in found]
    come = [name for name in come if name not in found.values()]
    if len(gone) * len(come) > PAIRS:
        return found
    likeness = [(_alike(before[old], after[new]), old, new) for old in gone for new in come]
    for ratio, old, new in sorted(likeness, key=lambda item: -item[0]):
        if ratio >= ALIKE and old not in found and new not in found.values():
            found[old] = new
    return found


def under(names: Mapping[str, str], plans: Mapping[str, PlanPrefix]) -> Mapping[str, PlanPrefix]:
    """Plans by the keys that they have under their agents' new names."""
    return {f"{names.get(plan.agent, plan.agent)}/{plan.provider}": plan for plan in plans.values()}


def _alike(before: bytes, after: bytes) -> float:
    return SequenceMatcher(None, before.splitlines(), after.splitlines()).ratio()
