"""Which fields of a launch differ between two plans: the causes that are not text of ours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.models import model_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from agentmux_compiler.lowered import PlanPrefix

MCP = "mcp/"
SKILLS = "skills/"
ARGUMENTS = "flags/"
TREE = "tree/"


@dataclass(frozen=True, slots=True)
class Axis:
    """A field of a launch: the reason a change of it has, the field of the spec it is written in, the layer it keys."""

    reason: str
    place: str
    layer: str = "argv"


# In the order in which one of several is held to be the cause; `catalog` is what is left when no field differs.
AXES: Mapping[str, Axis] = {
    "cli-version": Axis("cli-version", "cli", "tools"),
    "backend": Axis("environment", "backend", "key"),
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
    "home": Axis("environment", "home", "environment"),
    "date": Axis("environment", "date", "environment"),
    "git": Axis("environment", "git", "environment"),
    "prompt": Axis("environment", "prompt", "conversation"),
    "tree": Axis("environment", "tree", "environment"),
    "catalog": Axis("cli-version", "cli", "tools"),
}
KEYS = ("model", "effort", "backend")
EXPLAINS_ARGV = {"permission", "delivery", "mcp", "skills", "cwd", "cli-version", "backend"}
FIELDS = {
    "cli-version": "cli_version",
    "backend": "backend",
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
    found -= {"model"} if same_model(before, after) else set()
    found |= before.elsewhere ^ after.elsewhere
    # Another model may be served from another cache; that is one change.
    found -= set() if moved_to_another_cache(before, after) and "model" not in found else {"backend"}
    for axis, folder in (("mcp", MCP), ("skills", SKILLS)):
        if _listed(before, folder) != _listed(after, folder):
            found.add(axis)
    found |= _argument_axes(before, after, found)
    # What leads a CLI to another cache stands in its environment.
    found -= {"env"} if "backend" in found else set()
    return tuple(axis for axis in AXES if axis in found)


def same_model(before: PlanPrefix, after: PlanPrefix) -> bool:
    """Whether two plans mean one model, by its name, by an alias, or as the CLI's default."""
    old, new = (model_id(after.vendor, plan.served_model) for plan in (before, after))
    return old == new


def moved_to_another_cache(before: PlanPrefix, after: PlanPrefix) -> bool:
    """Whether two plans are served from caches that are not the same; a baseline may not know its own."""
    return bool(before.backend and after.backend) and before.backend != after.backend


def _listed(plan: PlanPrefix, folder: str) -> set[tuple[str, str | None]]:
    return {(item.name, item.text) for item in plan.segments if item.name.startswith(folder)}


def _argument_axes(before: PlanPrefix, after: PlanPrefix, found: set[str]) -> set[str]:
    """What no other field accounts for in argv: arguments about tools, and any others."""
    if before.argv == after.argv or found & EXPLAINS_ARGV:
        return set()
    values = {value for plan in (before, after) for value in (plan.model, plan.effort) if value}
    values |= {text.rstrip("\n") for plan in (before, after) for text in _passed(plan)}
    options = [item for item in changed_options(before.argv, after.argv) if not _about(item, values)]
    about_tools = [item for item in options if "tool" in item[0].lower()]
    return ({"tools"} if about_tools else set()) | ({"flags"} if len(options) > len(about_tools) else set())


def _passed(plan: PlanPrefix) -> Iterator[str]:
    """Texts that arguments pass: they are compared as texts."""
    yield from (item.text or "" for item in plan.segments if item.name.startswith(ARGUMENTS))


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
