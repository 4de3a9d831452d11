"""Which fields of a launch differ between two plans: the causes that are not text of ours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from agentmux_compiler.lowered import PlanPrefix

MCP = "mcp/"
SKILLS = "skills/"


@dataclass(frozen=True, slots=True)
class Axis:
    """A field of a launch: the reason a change of it has, the field of the spec it is written in, the layer it keys."""

    reason: str
    place: str
    layer: str = "argv"


# In the order in which one of several is held to be the cause; `catalog` is what is left when no field differs.
AXES: Mapping[str, Axis] = {
    "cli-version": Axis("cli-version", "cli", "tools"),
    "delivery": Axis("delivery", "delivery"),
    "model": Axis("model", "model", "key"),
    "effort": Axis("effort", "effort", "key"),
    "permission": Axis("permission", "permission"),
    "mcp": Axis("tools", "mcp"),
    "tools": Axis("tools", "flags"),
    "skills": Axis("edited", "skills"),
    "cwd": Axis("environment", "workdir", "environment"),
    "flags": Axis("environment", "flags"),
    "env": Axis("environment", "env", "environment"),
    "catalog": Axis("cli-version", "cli", "tools"),
}
KEYS = ("model", "effort")
EXPLAINS_ARGV = {"permission", "delivery", "mcp", "skills", "cwd", "cli-version"}
FIELDS = {
    "cli-version": "cli_version",
    "delivery": "delivery",
    "model": "model",
    "effort": "effort",
    "permission": "permission",
    "cwd": "cwd",
    "env": "env",
}


def changed_axes(before: PlanPrefix, after: PlanPrefix) -> tuple[str, ...]:
    """Names of the axes on which two plans differ, in the order of `AXES`."""
    found = {axis for axis, name in FIELDS.items() if getattr(before, name) != getattr(after, name)}
    for axis, folder in (("mcp", MCP), ("skills", SKILLS)):
        if _listed(before, folder) != _listed(after, folder):
            found.add(axis)
    found |= _argument_axes(before, after, found)
    return tuple(axis for axis in AXES if axis in found)


def _listed(plan: PlanPrefix, folder: str) -> set[tuple[str, str | None]]:
    return {(item.name, item.text) for item in plan.segments if item.name.startswith(folder)}


def _argument_axes(before: PlanPrefix, after: PlanPrefix, found: set[str]) -> set[str]:
    """What no other field accounts for in argv: arguments about tools, and any others."""
    if before.argv == after.argv or found & EXPLAINS_ARGV:
        return set()
    values = {value for axis in KEYS if axis in found for value in _values(axis, before, after)}
    options = [item for item in changed_options(before.argv, after.argv) if not _about(item, values)]
    about_tools = [item for item in options if "tool" in item[0].lower()]
    return ({"tools"} if about_tools else set()) | ({"flags"} if len(options) > len(about_tools) else set())


def _values(axis: str, before: PlanPrefix, after: PlanPrefix) -> set[str]:
    return {value for plan in (before, after) if (value := getattr(plan, FIELDS[axis]))}


def _about(option: Sequence[str], values: Iterable[str]) -> bool:
    """Whether an option passes one of the values, as `--model opus`, `--model=opus` or `-c model="opus"`."""
    forms = {form for value in values for form in (f" {value}", f"={value}", f'="{value}"')}
    return any(f" {argument}".endswith(tuple(forms)) for argument in option)


def changed_options(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, ...]]:
    """Options, each with its values, that only one of two argument lists holds."""
    left, right = Counter(_options(before)), Counter(_options(after))
    return [*(left - right), *(right - left)]


def _options(argv: Sequence[str]) -> Iterator[tuple[str, ...]]:
    count = 0
    numbered = [(count := count + argument.startswith("-"), argument) for argument in argv]
    for _, group in groupby(numbered, key=lambda item: item[0]):
        yield tuple(argument for _, argument in group)
