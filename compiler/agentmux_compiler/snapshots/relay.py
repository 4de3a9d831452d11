"""A baseline in the terms of the catalog at hand: what the catalog learnt of a CLI since is no change of a prefix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.axes import ARGUMENTS, MCP, SKILLS, TREE
from agentmux_compiler.prefix.layout import render_layout
from agentmux_compiler.prefix.words import words_of
from agentmux_compiler.providers import NAMES, load_provider

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentmux_compiler.lowered import PlanPrefix, PrefixSegment

HEADING, NATIVE = "/heading of ", "native/"
SLOTS = {MCP: "mcp", SKILLS: "skills", TREE: "tree"}


def relaid(plans: Mapping[str, PlanPrefix]) -> Mapping[str, PlanPrefix]:
    """Each plan with its own text in the layout that its provider has now, under the version it was accepted for."""
    return {key: _relaid(plan) for key, plan in plans.items()}


def _relaid(plan: PlanPrefix) -> PlanPrefix:
    version = next((_version(item) for item in plan.segments if item.opaque), "")
    if plan.provider not in NAMES or not version:
        return plan
    provider = load_provider(plan.provider)
    slots = _slots(plan.segments, flagged=plan.delivery == "flag")
    return replace(plan, segments=render_layout(provider, slots, words_of(provider, plan), version))


def _version(segment: PrefixSegment) -> str:
    """`2.1.332` of `claude 2.1.332/base prompt`."""
    return segment.name.partition("/")[0].partition(" ")[2]


def _slots(segments: Iterable[PrefixSegment], *, flagged: bool) -> dict[str, tuple[PrefixSegment, ...]]:
    """What stood in each slot: told by names and layers, and by whether a file's heading stood before."""
    found: dict[str, list[PrefixSegment]] = {}
    in_file = False
    for segment in segments:
        if segment.opaque:
            in_file = HEADING in segment.name
            if in_file:
                found.setdefault("native", []).append(segment)
        else:
            in_a_file = in_file or not flagged or bool(segment.file) or segment.name.startswith(NATIVE)
            found.setdefault(_slot(segment, in_file=in_a_file), []).append(segment)
    return {slot: tuple(items) for slot, items in found.items()}


def _slot(segment: PrefixSegment, *, in_file: bool) -> str:
    if segment.name.startswith(ARGUMENTS):
        return segment.name.rpartition("/")[2].removesuffix(".md").replace("-", " ")
    named = next((slot for head, slot in SLOTS.items() if segment.name.startswith(head)), None)
    return named or ("startup" if segment.layer == "startup" else "native" if in_file else "appended")
