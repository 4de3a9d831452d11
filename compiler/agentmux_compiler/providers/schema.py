"""The shape of `providers/NAME.yaml`: all there is to know of a provider, as data.

Every group of facts carries `source`: the version and date it was measured or read at. A fact nobody knows is
written as `unknown`, never left out and never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Unknown = Literal["unknown"]
Argv = tuple[str, ...]


class Facts(BaseModel):
    """Base of every group: frozen, and a field nobody declared is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Sourced(Facts):
    """A group of facts with where they come from, such as `measured 2.1.332, 2026-11-30`."""

    source: str


class Package(Sourced):
    """How the CLI is installed. `registry` is npm, pypi or none; `verified` the version all facts here hold for."""

    registry: Literal["npm", "pypi", "none"]
    name: str | None
    verified: str
    companions: tuple[str, ...] = ()
    node: str | None = None
    python: str | None = None
    hint: str
    folders: tuple[str, ...] = ()
    not_installable: str | None = None


class Stdio(Sourced):
    """How each stream of the child is wired."""

    stdin: Literal["pipe", "pty"]
    stdout: Literal["pipe", "raw-pty", "pty"]
    stderr: Literal["pipe", "pty"]


class Base(Facts):
    """The arguments every launch begins with, per mode; None where the CLI has no such mode."""

    one_shot: Argv | None
    persistent: Argv | None
    terminal: Argv | None


class Option(Facts):
    """An option agentmux owns: its template (`{}` is the value) and every spelling it strips from a user's flags.

    `values` are the accepted ones in rising order, None: any. `absent_for` are globs of models that take no such
    option; `layer` names what changing it does to the request: `key` (a parameter) or a layer of the layout.
    """

    argv: Argv
    owns: tuple[str, ...]
    values: tuple[str, ...] | None = None
    default: str | None = None
    absent_for: tuple[str, ...] = ()
    map: Mapping[str, str] = Field(default_factory=dict)


class Resume(Facts):
    """How a session goes on. `slot` is `end` (before the prompt) or `subcommand` (right there in the base)."""

    resume: Argv | None
    fork: Argv | None
    edited_instructions: Literal["appended", "rewritten", "ignored", "unknown"]
    edited_flag_text: Literal["appended", "rewritten", "ignored", "unknown", "n/a"]


class Arguments(Sourced):
    """Everything that makes an argv. `order` is the order in which the groups follow the base.

    `permission` maps each of the five names to arguments, or to None where the CLI cannot enforce it.
    `prompt` is the argument a turn's prompt stands in (`{}`), `prompt_absent` what stands there when it comes
    on stdin. `order` holds: resume-subcommand, permission, model, effort, mcp, delivery, directories, flags,
    resume, prompt.
    """

    base: Base
    order: tuple[str, ...]
    strip: tuple[str, ...] = ()
    permission: Mapping[str, Argv | None]
    model: Option | None
    effort: Option | None
    resume: Resume
    prompt_delivery: Literal["stdin", "argument", "stream-json", "acp", "terminal"]
    prompt: Argv = ()
    prompt_absent: Argv = ()
    add_directory: Argv | None = None


class Instructions(Sourced):
    """Instruction files. `written` is the one agentmux writes; `native` all it reads by itself, in reading order.

    `chain`: root-to-cwd, cwd or above-root-to-cwd. `only_without` maps a name to names whose presence in the chain
    switches it off. `limit` is in bytes over `limit_scope`. `strips` names what the CLI removes.
    """

    written: str | None
    native: tuple[str, ...]
    home: tuple[str, ...] = ()
    only_without: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    instead_of: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    chain: Literal["root-to-cwd", "above-root-to-cwd", "cwd", "none", "unknown"]
    sorted_by: Literal["depth", "path", "name-then-depth", "unknown"] = "depth"
    limit: int | None | Unknown
    limit_scope: Literal["chain", "file", "none", "unknown"] = "none"
    strips: tuple[Literal["block-comments", "front-matter", "crlf", "nothing", "unknown"], ...]
    opening: str = ""
    join: str = "\n"
    closing: str = ""


class FlagDelivery(Sourced):
    """Delivery by flag: `file` writes a file and passes its path, `text` passes the text itself, `directory` a folder.

    `argv` holds `{}`; `json_string` says the text is passed as a JSON string literal. `max_bytes` bounds one argument.
    """

    way: Literal["file", "text", "directory"]
    argv: Argv
    file: str
    json_string: bool = False
    max_bytes: int | None = None
    layer: str


class Skills(Sourced):
    """Skill folders. `written` is where agentmux copies skills (below `cwd`, or below a private directory).

    `private`: arguments that make the CLI read skills of an own directory (`{}`), None where none was measured.
    `row` renders one line of the listing; `order`: casefold, bytes, reverse-bytes. `listed` False: the CLI lists none.
    """

    listed: bool
    written: str | None
    native: tuple[str, ...]
    chain: Literal["root-to-cwd", "cwd", "root", "none", "unknown"]
    private: Argv | None
    row: str
    order: Literal["casefold", "bytes", "reverse-bytes", "unknown"]
    description_limit: int | None | Unknown
    layer: str


class Mcp(Sourced):
    """How MCP servers reach the CLI. `way`: file-flag (a JSON file and its flag), arguments, settings, session, none.

    `expands` says which forms of `${NAME}` the CLI expands itself (`env`, `args`); `inherits` that a server sees the
    CLI's environment; `forward` are arguments that pass a variable on by name (`{server}`, `{name}`).
    """

    way: Literal["file-flag", "arguments", "settings", "session", "none"]
    transports: tuple[Literal["stdio", "http", "sse"], ...]
    file: str | None = None
    argv: Argv = ()
    server_argv: Argv = ()
    arg_argv: Argv = ()
    env_argv: Argv = ()
    forward: Argv = ()
    server_extra: Mapping[str, bool | str | int] = Field(default_factory=dict)
    expands: tuple[Literal["env", "args"], ...] = ()
    inherits: bool
    layer: str


class Variables(Sourced):
    """Environment of the CLI: the configuration folder's variable, the base URL's, what is set and what is removed."""

    config_dir: str | None | Unknown
    base_url: str | None | Unknown
    api_key: tuple[str, ...]
    set: Mapping[str, str]
    set_redirected: Mapping[str, str] = Field(default_factory=dict)
    unset: tuple[str, ...]


class Part(Facts):
    """One entry of a layout, in the order the backend sees them.

    Either opaque (`bytes`: the CLI's own text) or a slot for text that agentmux knows:
    `appended`, `skills`, `mcp`, `native`, `startup`. `when` restricts it to plans whose argv or delivery holds that
    word; `unless` is the reverse. `varies_with` names what changes an opaque part: model, cwd, home, date, git,
    prompt, permission, mcp, tools.
    """

    layer: str
    name: str
    bytes: int | None = None
    slot: Literal["appended", "skills", "mcp", "native", "startup"] | None = None
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    varies_with: tuple[str, ...] = ()
    breakpoint: bool = False


class Layout(Sourced):
    """The order in which the backend sees the request of this CLI, for one version of it."""

    version: str
    parts: tuple[Part, ...]


class Usage(Sourced):
    """What the CLI's usage figures mean."""

    scope: Literal["call", "turn", "cumulative", "none", "unknown"]
    input_includes_cached: bool | Unknown


class Provider(Facts):
    """One provider: an agent CLI that agentmux compiles for."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    aliases: tuple[str, ...]
    display: str
    executable: str
    version_argv: Argv = ("--version",)
    package: Package
    vendors: tuple[str, ...]
    backends: Mapping[str, str]
    controller: Literal["persistent", "subprocess", "acp", "terminal"]
    stdio: Stdio
    frames: str
    session_id: str | None
    arguments: Arguments
    instructions: Instructions
    flag_delivery: FlagDelivery | None
    default_delivery: Literal["file", "flag", "folder", "startup"]
    skills: Skills
    mcp: Mcp
    variables: Variables
    usage: Usage
    layout: Layout
