"""What may stand in `agents.d/*.yaml` and in front matter: pydantic models, which are also the JSON Schema."""

from __future__ import annotations

import re
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from agentmux_compiler.agent import Delivery, Permission
from agentmux_compiler.prefix.backends import BACKENDS
from agentmux_compiler.suggest import did_you_mean, listing

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def refuse(message: str, remedy: str | None = None) -> PydanticCustomError:
    """The error of an invalid value, in our words."""
    return PydanticCustomError("refused", "{message}", {"message": message, "remedy": remedy or ""})


def _one_line(text: str) -> str:
    if any(character < " " or character == "\x7f" for character in text):
        raise refuse("takes one line of text")
    return text


def _variable(name: str) -> str:
    if not VARIABLE.fullmatch(name):
        raise refuse("takes the name of an environment variable", "letters, digits and `_`, not a digit first")
    return name


def _server_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise refuse("takes letters, digits, `-` and `_`, at most 64")
    return name


def _base_url(url: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#]+[^\s]*", url):
        raise refuse("takes an address that begins with `http://` or `https://`")
    return url


def _backend(name: str) -> str:
    if name not in BACKENDS:
        raise refuse(
            f"takes the name of a cache, and `{name}` is none",
            did_you_mean(name, BACKENDS) or f"it takes {listing(BACKENDS)}",
        )
    return name


Line = Annotated[str, AfterValidator(_one_line)]
Filled = Annotated[Line, Field(min_length=1)]
Variable = Annotated[str, AfterValidator(_variable)]
Lines = Annotated[tuple[Line, ...], Field(strict=False)]
Names = Annotated[tuple[str, ...], Field(strict=False)]
PermissionName = Annotated[Permission, Field(strict=False, description="What the agent may do")]
DeliveryName = Annotated[Delivery, Field(strict=False, description="How instructions reach the provider's CLI")]


class Model(BaseModel):
    """Base of every model: frozen, nothing converted, a field nobody declared is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class FileReference(Model):
    """Text that lies in a file of its own."""

    file: Filled = Field(description="Path relative to the project; `.md.j2` is a template")


def _prose_kind(value: object) -> str | None:
    if isinstance(value, str):
        return "<text>"
    return "<file>" if isinstance(value, dict | FileReference) else None


Prose = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[FileReference, Tag("<file>")],
    Discriminator(_prose_kind, custom_error_type="prose", custom_error_message="text or `{file: PATH}`"),
]


def _flags_kind(value: object) -> str | None:
    if isinstance(value, str):
        return "<text>"
    return "<list>" if isinstance(value, list | tuple) else None


Flags = Annotated[
    Annotated[Line, Tag("<text>")] | Annotated[Lines, Tag("<list>")],
    Discriminator(_flags_kind, custom_error_type="flags", custom_error_message="text or a list"),
]


class ProviderUse(Model):
    """How an agent runs on one provider."""

    model: Filled | None = Field(None, description="Model, as the provider's CLI names it")
    effort: Filled | None = Field(None, description="Reasoning effort, as the provider's CLI names it")
    permission: PermissionName | None = None
    delivery: DeliveryName | None = None
    flags: Flags = Field(
        (),
        description="Further arguments of the CLI: text that is split as a shell would, or a list. An item of a list "
        "is passed as it stands, unless it begins with `-` and holds white space: then it is split too",
    )
    base_url: Annotated[str, AfterValidator(_base_url)] | None = Field(None, description="Another endpoint")
    api_key_env: Variable | None = Field(None, description="Name of the variable that holds the key")
    backend: Annotated[str, AfterValidator(_backend)] | None = Field(
        None, description="Whose cache serves the prefix", json_schema_extra={"enum": [*BACKENDS, None]}
    )
    vendor: Filled | None = Field(None, description="Who serves the model")
    controller: Filled | None = Field(None, description="How the launcher drives the CLI")
    version: Filled | None = Field(None, description="Version of the CLI it is meant for; default: the verified one")
    mcp: bool | None = Field(None, description="Whether it is given the MCP servers of the agent; default: it is")
    lend: tuple[Literal["files", "terminals"], ...] = Field(
        (),
        strict=False,
        description="What the launcher does below `workdir` for an agent by the controller `acp` that asks it to: read "
        "and write files, run commands",
    )


class McpServer(Model):
    """An MCP server, over stdio (`command`) or HTTP (`url`). `${NAME}` stays a name until the launch."""

    command: Filled | None = Field(None, description="Executable of a server over stdio")
    args: Lines = Field((), description="Its arguments")
    env: dict[Variable, Line] = Field({}, description="Its environment")
    url: Annotated[str, AfterValidator(_base_url)] | None = Field(None, description="Address of a server over HTTP")
    headers: dict[Filled, Line] = Field({}, description="Headers sent to `url`")

    @model_validator(mode="after")
    def _one_transport(self) -> McpServer:
        if self.command is None and self.url is None:
            raise refuse("needs `command` or `url`")
        if self.command is not None and self.url is not None:
            raise refuse("has both `command` and `url`", "keep one of them")
        if self.url is None and self.headers:
            raise refuse("has `headers` but no `url`")
        if self.command is None and (self.args or self.env):
            raise refuse("has `args` or `env` but no `command`")
        return self


class AgentSpec(Model):
    """One agent: `agents.d/NAME.yaml`."""

    display: Filled | None = Field(None, description="Name shown to people; default: the file's name, title-cased")
    description: Line = Field("", description="What the agent is for, in one line")
    extends: Filled | None = Field(None, description="Name of the spec that this one starts from")
    abstract: bool = Field(False, description="Only a base for others, not built itself")
    providers: dict[str, ProviderUse | None] = Field(
        {}, description="Providers it runs on, in order; the first is what `agentmux run` uses"
    )
    permission: PermissionName | None = None
    workdir: Filled = Field(".", description="Where the CLI runs, relative to the project")
    delivery: DeliveryName | None = None
    soul: Prose | None = Field(None, description="Who the agent is: text, or `{file: PATH}`")
    instructions: Prose | None = Field(None, description="What it does: text, or `{file: PATH}`")
    bundles: Names = Field(
        (), description="Bundles in the order in which their text stands; `...` is the inherited list"
    )
    skills: Names = Field((), description="Skills it may use; `...` is the inherited list")
    mcp: dict[Annotated[str, AfterValidator(_server_name)], McpServer] = Field({}, description="MCP servers by name")
    env: dict[Variable, Line] = Field({}, description="Environment of the CLI; `${NAME}` is a variable at launch")
    startup: Prose | None = Field(None, description="Part of the first turn of a new session, never of a resumed one")


class Paths(Model):
    """Other folders than the defaults, relative to the project."""

    bundles: Filled = Field("bundles", description="Folder of the bundles")
    skills: Filled = Field("skills", description="Folder of the skills")
    snapshots: Filled = Field("snapshots", description="Folder of the baseline")


OptOut = Literal["telemetry", "updates", "uploads"]
Section = Literal["global-bundles", "soul", "instructions", "bundles", "skills-index"]
SECTIONS: tuple[Section, ...] = get_args(Section)


def _all_sections(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    if sorted(sections) != sorted(SECTIONS):
        names = ", ".join(f"`{name}`" for name in SECTIONS)
        raise refuse("takes every section once", f"the sections are {names}")
    return sections


class ProjectSettings(Model):
    """Settings of a project: `agents.d/_project.yaml`."""

    paths: Paths = Field(Paths(), description="Other folders than the defaults")
    sections: Annotated[tuple[Section, ...], Field(strict=False), AfterValidator(_all_sections)] = Field(
        SECTIONS, description="Order of the sections of an instruction file"
    )
    header: bool = Field(True, description="Whether outputs begin with the constant comment that marks them as ours")
    prefill_rate: float | None = Field(None, gt=0, allow_inf_nan=False, description="Prefill speed, tokens per second")
    launches_per_day: float | None = Field(None, ge=0, allow_inf_nan=False, description="How often an agent is started")
    retention_days: int | None = Field(
        None, ge=1, description="How long the folders of runs are kept, days; default 30"
    )
    retention_runs: int | None = Field(
        None, ge=0, description="How many of the latest runs are kept however old they are; default 50"
    )
    opt_out: Annotated[tuple[OptOut, ...], Field(strict=False)] = Field(
        (),
        description="What launched CLIs are told not to do: send `telemetry`, look for `updates`, send sessions or "
        "files to their vendor (`uploads`)",
    )
    ignore: Names = Field((), description="Codes of warnings and notes that are not reported, such as `AMX210`")


class BundleFront(Model):
    """Front matter of `bundles/NAME.md`."""

    title: Filled | None = Field(None, description="Emitted as a heading above the text")
    is_global: bool = Field(False, alias="global", description="Part of every agent")
    order: int = Field(0, description="Place among the global bundles, rising")
    providers: Names | None = Field(None, description="Providers that get it; default: all")
    allow_unicode: Names = Field((), description="Invisible characters meant to be there, such as `U+200B`")
