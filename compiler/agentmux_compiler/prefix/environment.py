"""A plan as it would be on another machine or day: what no spec asks for, and the prefix varies with all the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from agentmux_compiler.lowered import PlanPrefix, PrefixSegment

Cause = Literal["cwd", "home", "date", "git", "prompt", "version"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
OTHER_VERSION = "another"


def changed(plan: PlanPrefix, cause: Cause) -> PlanPrefix:
    """The plan where the CLI runs in another folder, home, day, state of git or version, or gets another first prompt.

    Compared with the plan itself, it shows where that breaks the prefix.
    """
    if cause != "version":
        return replace(plan, elsewhere=plan.elsewhere | {cause})
    segments = tuple(_of_another_version(segment) for segment in plan.segments)
    return replace(plan, cli_version=OTHER_VERSION, segments=segments)


def _of_another_version(segment: PrefixSegment) -> PrefixSegment:
    if not segment.opaque:
        return segment
    head, slash, part = segment.name.partition("/")
    return replace(segment, name=f"{head.partition(' ')[0]} {OTHER_VERSION}{slash}{part}")
