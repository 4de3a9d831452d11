"""A resolved agent: every reference of its spec replaced by what it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.segment import Text

T = TypeVar("T")


class Delivery(StrEnum):
    """How instructions reach the provider's CLI."""

    FILE = "file"
    FLAG = "flag"
    FOLDER = "folder"
    STARTUP = "startup"


class Permission(StrEnum):
    """What the agent may do; mapped per provider."""

    PLAN = "plan"
    ASK = "ask"
    EDIT = "edit"
    AUTO = "auto"
    BYPASS = "bypass"


@dataclass(frozen=True, slots=True)
class Bundle:
    """A Markdown bundle of `bundles/`; `name` is its file's stem, `template` says it is `.md.j2`."""

    name: str
    body: Text
    title: str | None = None
    is_global: bool = False
    order: int = 0
    providers: tuple[str, ...] | None = None
    allow_unicode: tuple[str, ...] = ()
    template: bool = False


@dataclass(frozen=True, slots=True)
class Skill:
    """A folder `skills/NAME` with a SKILL.md; `files` are paths below that folder, SKILL.md among them."""

    name: str
    folder: str
    description: str
    files: tuple[str, ...]
    effort: str | None = None
    model: str | None = None
    described_at: Span | None = None
    switches_at: Span | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """An MCP server of a spec: over stdio (`command`) or HTTP (`url`). `${NAME}` stands unexpanded in the values."""

    name: str
    command: str | None
    args: tuple[str, ...]
    env: Mapping[str, str]
    url: str | None
    headers: Mapping[str, str]
    at: Span


@dataclass(frozen=True, slots=True)
class Use:
    """One provider an agent runs on, agent-wide settings already merged in. `places` locates its fields."""

    provider: str
    at: Span
    model: str | None = None
    effort: str | None = None
    permission: Permission = Permission.ASK
    delivery: Delivery | None = None
    flags: tuple[str, ...] | str = ()
    base_url: str | None = None
    api_key_env: str | None = None
    backend: str | None = None
    vendor: str | None = None
    controller: str | None = None
    version: str | None = None
    mcp: bool = True
    lend: tuple[str, ...] = ()
    places: Mapping[str, Span] | None = None

    def place(self, field: str) -> Span:
        """Where `field` was written, else where the provider was named."""
        return (self.places or {}).get(field, self.at)


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """An item of a list in `agents.d/`, with the place that lists it."""

    item: T
    at: Span


@dataclass(frozen=True, slots=True)
class ResolvedAgent:
    """An agent ready to be assembled. `name` is the file's stem; `places` locates its top-level fields."""

    name: str
    display: str
    description: str
    path: str
    uses: tuple[Use, ...]
    workdir: str
    soul: Text | None
    instructions: Text | None
    startup: Text | None
    bundles: tuple[Listed[Bundle], ...]
    skills: tuple[Listed[Skill], ...]
    mcp: tuple[Server, ...]
    env: Mapping[str, str]
    places: Mapping[str, Span]
    templates: tuple[str, ...] = ()

    def place(self, field: str) -> Span:
        """Where `field` was written, else the top of the agent's file."""
        return self.places.get(field, Span(self.path))


@dataclass(frozen=True, slots=True)
class Settings:
    """`agents.d/_project.yaml`; a project needs none."""

    agents: str = "agents.d"
    bundles: str = "bundles"
    skills: str = "skills"
    snapshots: str = "snapshots"
    sections: tuple[str, ...] = ("global-bundles", "soul", "instructions", "bundles", "skills-index")
    header: bool = True
    prefill_rate: float | None = None
    launches_per_day: float | None = None
    retention_days: int | None = None
    retention_runs: int | None = None
    opt_outs: tuple[Listed[str], ...] = ()
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Project:
    """Everything the sources say: settings, concrete agents by name in byte order, all bundles and skills."""

    settings: Settings
    agents: tuple[ResolvedAgent, ...]
    bundles: tuple[Bundle, ...]
    skills: tuple[Skill, ...]
