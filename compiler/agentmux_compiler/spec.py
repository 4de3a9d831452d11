"""Load `agents.d/`: every file parsed, laid over its base and checked, with a place for every fault."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from agentmux_compiler import rules
from agentmux_compiler.agent import Settings
from agentmux_compiler.diagnostics import Diagnostic, Span, has_errors
from agentmux_compiler.providers import REGISTRY
from agentmux_compiler.sources.inherit import base_of, merge, order_of
from agentmux_compiler.sources.settings import settings_of
from agentmux_compiler.sources.source_names import folder_outside, invalid_name, name_fault, outside
from agentmux_compiler.sources.spec_errors import validate
from agentmux_compiler.sources.spec_models import AgentSpec, ProjectSettings
from agentmux_compiler.sources.yaml_nodes import Mapping, Node
from agentmux_compiler.sources.yaml_source import parse
from agentmux_compiler.tree import byte_order

if TYPE_CHECKING:
    from agentmux_compiler.tree import Tree

AGENTS = "agents.d"
PROJECT = "_project"
_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Spec:
    """A spec with all that it inherits. `node` is what `fields` were made from: each value with its place.

    `left_out` are the fields, here and in its bases, that had to be left out as faulty or are not known.
    """

    name: str
    path: str
    fields: AgentSpec
    node: Mapping
    left_out: frozenset[str] = frozenset()

    def may_have_meant(self, field: str) -> bool:
        """Whether `field` is missing because of a fault that is reported already."""
        return bool(get_close_matches(field, self.left_out, n=1))


@dataclass(frozen=True, slots=True)
class Specs:
    """What `agents.d/` says: abstract specs too, in byte order.

    `whole` is False where something could not be used, so that what nobody seems to list may be listed there.
    """

    settings: Settings
    agents: tuple[Spec, ...]
    whole: bool = True


def load(tree: Tree) -> tuple[Specs, list[Diagnostic]]:
    """Read every spec of a project; without `agents.d/` there are none."""
    files, found = _files(tree)
    nodes: dict[str, Node | None] = {}
    for name, path in files.items():
        nodes[name], more = _parsed(tree, path)
        found += more
    settings, more = _settings(nodes.pop(PROJECT, None))
    found += more
    specs, more = _merged(files, nodes)
    found += more
    agents = tuple(specs[name] for name in sorted(specs, key=byte_order))
    return Specs(settings, agents, whole=not has_errors(found)), found


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of an agent's spec; that of `_project.yaml` is `#/$defs/ProjectSettings`."""
    agent = AgentSpec.model_json_schema(by_alias=True)
    project = ProjectSettings.model_json_schema(by_alias=True)
    known = sorted({name for names in REGISTRY.items() for name in (names[0], *names[1])})
    agent["properties"]["providers"]["propertyNames"] = {"enum": known}
    definitions = {**agent.pop("$defs"), **project.pop("$defs"), "ProjectSettings": project}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **agent, "$defs": definitions}


def _files(tree: Tree) -> tuple[dict[str, str], list[Diagnostic]]:
    """Paths of the specs by name. Other files may lie beside them; hidden ones are an editor's."""
    files: dict[str, str] = {}
    found = [folder_outside(AGENTS)] if tree.outside(AGENTS) else []
    for entry in tree.names(AGENTS):
        ending = next((each for each in _ENDINGS if entry.endswith(each)), None)
        if ending is None or entry.startswith("."):
            continue
        name, path = entry.removesuffix(ending), f"{AGENTS}/{entry}"
        fault = None if name == PROJECT else name_fault(name)
        if fault:
            found.append(_unusable_name(path, name, fault))
        elif name in files:
            found.append(_duplicate(files[name], path))
        else:
            files[name] = path
    return files, found


def _unusable_name(path: str, name: str, fault: str) -> Diagnostic:
    if not name.startswith("_"):
        return invalid_name(path, "agent", name, fault)
    message = f"agent name `{name}` begins with `_`, which only `{PROJECT}` may"
    return rules.INVALID_NAME.at(Span(path), message, help="a spec that is only a base has `abstract: true`")


def _duplicate(first: str, path: str) -> Diagnostic:
    message = f"`{path}` names the same agent as `{first}`"
    return rules.DUPLICATE_AGENT.at(Span(path), message, help="remove one of the two files")


def _parsed(tree: Tree, path: str) -> tuple[Node | None, list[Diagnostic]]:
    data = tree.read(path)
    if data is None:
        return None, [outside(Span(path), "the file", path)]
    return parse(path, data)


def _settings(node: Node | None) -> tuple[Settings, list[Diagnostic]]:
    return settings_of(node) if node is not None else (Settings(), [])


def _merged(files: dict[str, str], nodes: dict[str, Node | None]) -> tuple[dict[str, Spec], list[Diagnostic]]:
    """Every spec that can be used, over a base whose faults are already reported and left out."""
    order, found = order_of(nodes)
    specs: dict[str, Spec] = {}
    for name in order:
        spec, more = _checked(name, files[name], nodes[name], specs)
        found += more
        if spec:
            specs[name] = spec
    return specs, found


def _checked(name: str, path: str, own: Node | None, specs: dict[str, Spec]) -> tuple[Spec | None, list[Diagnostic]]:
    base = base_of(own)
    below = specs.get(base.text) if base else None
    if own is None or (base and not below):
        return None, []
    merged, found = merge(below.node if below else None, own)
    model, rest, more = validate(AgentSpec, merged)
    if model is None or not isinstance(merged, Mapping) or not isinstance(rest, Mapping):
        return None, [*found, *more]
    left_out = merged.names - rest.names | (below.left_out if below else frozenset())
    return Spec(name, path, model, rest, left_out), [*found, *more]
