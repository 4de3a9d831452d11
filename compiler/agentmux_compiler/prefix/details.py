"""What there is to say of a change beyond its reason, as one sentence or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.prefix.axes import FIELDS, KEYS, MCP, changed_options
from agentmux_compiler.prefix.backends import load_backend
from agentmux_compiler.prefix.models import matches, model_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentmux_compiler.lowered import PlanPrefix
    from agentmux_compiler.prefix.rendered import Piece


def axis_detail(axis: str, before: PlanPrefix, after: PlanPrefix, layer: str | None, *, alone: bool = True) -> str:
    """What became of a field of the launch, and what that does.

    `layer` is where the field parts the text, if it does; `alone` says that nothing else does either.
    """
    if axis == "tree":
        return "the CLI lists its folder to the model, and another file of ours lies there or is gone"
    if axis == "catalog":
        return "nothing asked for it: the catalog describes the request of this CLI anew"
    changed = _changed(axis, before, after)
    if axis in KEYS:
        return f"{changed}; {_key_effect(axis, after, layer, alone=alone)}"
    return changed if layer else f"{changed}; no text of the prefix depends on it"


KEYED = {"model": "each model has a cache of its own", "backend": "what one cache holds, another does not"}
EFFORT = {
    "key": "an effort is a key of the cache, not text",
    "template-head": "the server's chat template writes an effort at the head of the prompt",
    "parameter-only": "an effort is a parameter here and no key of the cache",
    "unknown": "whether an effort is a key of this cache is not known",
}
ELSEWHERE = {
    "cwd": "the CLI runs in another folder",
    "home": "the CLI has another home folder",
    "date": "it is another day",
    "git": "git reports another state of the work tree",
    "prompt": "the first prompt is another one",
}


def _key_effect(axis: str, after: PlanPrefix, layer: str | None, *, alone: bool) -> str:
    keyed = KEYED.get(axis) or EFFORT[effort_rendered(after)]
    if axis == "backend":
        return keyed
    if layer:
        return f"{keyed}, and `{after.provider}` also sends another text from `{layer}` on"
    if not alone:
        return keyed
    return f"{keyed}: `{after.provider}` sends the same text, byte for byte, with another parameter"


def effort_rendered(plan: PlanPrefix) -> str:
    """How the plan's backend sees an effort; as a key where nothing is known of the backend."""
    backend = load_backend(plan.backend)
    if backend is None:
        return "key"
    name = model_id(plan.vendor, plan.served_model)
    return next((row.rendered for row in backend.effort.rows if matches(name, row.models)), "unknown")


def _changed(axis: str, before: PlanPrefix, after: PlanPrefix) -> str:
    if axis in before.elsewhere ^ after.elsewhere:
        return ELSEWHERE[axis]
    match axis:
        case "mcp":
            return _came_and_went(_servers(before), _servers(after), "MCP server")
        case "skills":
            return "the skills that are listed changed"
        case "env":
            return _came_and_went(before.env, after.env, "variable")
        case "tools" | "flags":
            options = sorted(" ".join(option) for option in changed_options(before.argv, after.argv))
            return f"arguments changed: {', '.join(f'`{option}`' for option in options)}"
        case _:
            old, new = getattr(before, FIELDS[axis]), getattr(after, FIELDS[axis])
            return f"{_value(old)} became {_value(new)}"


def _value(value: str | None) -> str:
    return f"`{value}`" if value else "the CLI's default"


def _servers(plan: PlanPrefix) -> list[str]:
    return [item.name.removeprefix(MCP) for item in plan.segments if item.name.startswith(MCP)]


def _came_and_went(before: Sequence[str], after: Sequence[str], noun: str) -> str:
    came, went = sorted(set(after) - set(before)), sorted(set(before) - set(after))
    parts = [f"{noun} `{name}` came" for name in came] + [f"{noun} `{name}` went" for name in went]
    return ", ".join(parts) or f"an {noun} says something else of itself"


def order_detail(moved: Piece, pieces: Sequence[Piece]) -> str:
    """Before which of our segments a moved one stands now."""
    behind = (piece.segment for piece in pieces if piece.start > moved.start)
    following = next((item for item in behind if not item.opaque and item.layer == moved.segment.layer), None)
    return f"it stands before `{following.name}` now" if following else "it stands last now"


def placeholder(name: str) -> str:
    return f"{{{{{name}}}}}"


def volatile_detail(names: Iterable[str]) -> str:
    listed = ", ".join(f"`{placeholder(name)}`" for name in sorted(names))
    return f"{listed} changes by itself, and every new value breaks the prefix here again"


def removal_field(name: str) -> str:
    """The field of a spec that a segment came from, by its name."""
    folder, _, rest = name.partition("/")
    if folder == "agents":
        return rest.rpartition("/")[2].partition(".")[0].partition("@")[0].partition("+")[0]
    return folder
