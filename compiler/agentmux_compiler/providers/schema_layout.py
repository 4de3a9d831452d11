"""The shape of a provider's layout: what its backend sees in which order, and by which words that changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import model_validator

from agentmux_compiler.providers.schema_base import Controller, Facts, Sourced

Layer = Literal[
    "tools", "mcp", "system", "environment", "instructions", "skills", "startup", "conversation"
]  # fmt: skip
Slot = Literal["appended", "skills", "mcp", "native", "startup", "tree"]
Cause = Literal[
    "model", "effort", "cwd", "home", "date", "git", "prompt", "permission", "mcp", "skills", "tools", "delivery",
    "flags",
]  # fmt: skip


class Part(Facts):
    """One entry of a layout, in the order the backend sees them.

    Either opaque (`bytes`: the CLI's own text, as measured), or a slot for text that agentmux knows, or the text that
    an `argument` passes (spelt as in `Arguments.owns`). The part is there if every word of `when` and none of `unless`
    holds for the plan; a word may be a glob. A part with a `tool` is there only where that tool is. `each` are bytes
    that every item of a slot takes besides: an MCP server's tools, known only at launch, count as two small ones.
    Neighbours with a `rank`, and the slot of skills with an empty one, stand in the order of the provider's skills.
    `varies_with` names what changes an opaque part under one name and size. `breakpoint`: the CLI marks the end of this
    part as one of the places whose prefix the backend stores.

    Words are every token of the argv, `env:NAME`, `delivery:NAME`, `permission:NAME`, `model:NAME` (aliases resolved),
    `family:NAME`, `effort:NAME`, `redirected`, what arguments do to tools (`denied:NAME`, `added:NAME`, `only`,
    `only:NAME`, `without:NAME`) and, for each slot that holds something, its name.
    """

    layer: Layer
    name: str
    bytes: int | None = None
    slot: Slot | None = None
    each: int = 0
    rank: str | None = None
    argument: tuple[str, ...] = ()
    tool: str | None = None
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    varies_with: tuple[Cause, ...] = ()
    breakpoint: bool = False

    @model_validator(mode="after")
    def _one_kind(self) -> Part:
        if (self.bytes is not None) + (self.slot is not None) + bool(self.argument) != 1:
            raise ValueError(f"part `{self.name}` needs one of `bytes`, `slot` and `argument`")
        return self


class ToolFlags(Facts):
    """Arguments that decide which tools a CLI declares.

    `denied` take the named tools away, `only` leave no others (of `limited`, where it names some) unless the value is
    one of `every`, `added` allow what would not be declared otherwise, but not by the names `not_added`; a rule in
    parentheses behind a name is about some uses of a tool: it denies nothing, unless it is `(*)`, and allows the tool.
    `servers` leave only the named MCP servers. `aliases` are other names of tools. `settings` maps a flag that takes
    JSON to the dotted path of a list of denied tools in it. `server` is the name by which a server's tools are denied.
    """

    denied: tuple[str, ...]
    only: tuple[str, ...]
    every: tuple[str, ...]
    limited: tuple[str, ...]
    added: tuple[str, ...]
    servers: tuple[str, ...]
    aliases: Mapping[str, str]
    settings: Mapping[str, str]
    server: str | None
    not_added: tuple[str, ...]


class Tree(Facts):
    """How far a CLI lists the working directory: `depth` levels (null: all); `folds_hidden`: one of hidden folders."""

    depth: int | None
    folds_hidden: bool


class SubAgents(Sourced):
    """The tool that starts sub-agents, and how much of the parent's request the first one of a child begins with."""

    tool: str
    shared_pct: float


class Servers(Sourced):
    """How many seconds the first request waits for MCP servers; `unlimited` where it waits for all of them."""

    seconds: float | Literal["unlimited"]


class SkillSwitches(Sourced):
    """Fields of a skill's front matter that the CLI obeys while the skill is at work."""

    fields: tuple[Literal["model", "effort"], ...]


class Variant(Facts):
    """Another order, for plans in which every word of `when` holds."""

    when: tuple[str, ...]
    parts: tuple[Part, ...]


class Layout(Sourced):
    """The order in which the backend sees the request of this CLI, for one version of it.

    `version` is `unknown` where no request was seen: then the order of the parts is assumed. `controllers` are the
    modes it was measured in. `families` are globs of models that get the same text. The first of `variants` whose
    words hold stands for `parts`.
    """

    version: str
    controllers: tuple[Controller, ...]
    tools: ToolFlags | None = None
    tree: Tree | None = None
    sub_agents: SubAgents | None = None
    servers: Servers | None = None
    skill_switches: SkillSwitches | None = None
    families: Mapping[str, tuple[str, ...]] = {}
    parts: tuple[Part, ...]
    variants: tuple[Variant, ...] = ()

    @property
    def all_parts(self) -> tuple[Part, ...]:
        """Those of every variant too."""
        return (*self.parts, *(part for variant in self.variants for part in variant.parts))


class VersionFault(Sourced):
    """What is known to be wrong with versions of the CLI from `since` on and before `before` (null: to this day)."""

    since: str
    before: str | None
    what: str


class Lifetimes(Sourced):
    """Which lifetime the CLI asks its vendor for: with an API key, with a login, or where a variable is set."""

    api_key: str
    login: str
    variables: Mapping[str, str]
