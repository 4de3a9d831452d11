"""The shape of `providers/NAME.yaml`: all there is to know of a provider, as data.

Every group of facts carries `source`: the version and date it was measured or read at. No fact has a default: one
that nobody knows is written as `unknown`, never left out and never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from agentmux_compiler.providers.schema_base import Argv, Controller, Facts, Group, Sourced, Unknown
from agentmux_compiler.providers.schema_layout import Layout, Lifetimes, VersionFault
from agentmux_compiler.providers.schema_machine import Need, Switches, Transcripts, Trust, Variables, Window
from agentmux_compiler.providers.schema_modes import Acp, Mode, Permissions

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
OwnedField = Literal["permission", "model", "effort", "resume", "prompt", "mcp", "delivery", "redirect"]
CONTROLLERS = ("persistent", "subprocess", "acp", "terminal")


class Package(Sourced):
    """How the CLI is installed. `verified` is the version all facts here hold for; `node`, `python` what it needs.

    `folders` are those the vendor's own installer uses; `not_installable` says why agentmux cannot install it.
    """

    registry: Literal["npm", "pypi", "none"]
    name: str | None
    verified: str
    companions: tuple[str, ...]
    node: str | None
    python: str | None
    hint: str
    folders: tuple[str, ...]
    not_installable: str | None

    @property
    def installable(self) -> bool:
        return self.registry != "none" and self.name is not None and self.not_installable is None


class Option(Sourced):
    """An option agentmux owns: its template (`{}` is the value), or the `variable` that takes the value instead.

    `values` are the accepted ones in rising order, None: any; `values_for` narrows them for globs of models.
    `refuses` are globs of values that belong to another vendor. `absent_for` are globs of models that take no such
    option. `default` is what the CLI takes without it.
    """

    argv: Argv
    variable: str | None
    values: tuple[str, ...] | None
    values_for: Mapping[str, tuple[str, ...]]
    refuses: tuple[str, ...]
    absent_for: tuple[str, ...]
    default: str | Unknown | None

    @property
    def usual(self) -> str | None:
        """The default, as far as it is known."""
        return None if self.default == "unknown" else self.default


class Resume(Sourced):
    """How a session goes on, and what becomes of text that was edited since (`{}` is the session's id).

    `flag_text_rewritten_by` is an argument of the user's with which the CLI renders a flag's text anew.
    """

    resume: Argv | None
    fork: Argv | None
    edited_instructions: Literal["appended", "rewritten", "ignored", "unknown"]
    edited_flag_text: Literal["appended", "rewritten", "ignored", "unknown", "n/a"]
    flag_text_rewritten_by: str | None = None


class Arguments(Sourced):
    """Everything that makes an argv.

    `order` is the order in which the groups follow the mode's own arguments; `redirect` ones appear only with a
    `base_url`. `owns` lists, per field of a spec, the spellings that are taken out of a user's `flags`: `--flag`,
    `--flag {}` (takes a value), `--flag key={}` (a value that begins with `key=`). `voids` maps a flag of the user's
    to the one of ours that it makes void. `one_argument_bytes` bounds a single argument.
    """

    order: tuple[Group, ...]
    owns: Mapping[OwnedField, tuple[str, ...]]
    voids: Mapping[str, str]
    permission: Permissions
    model: Option | None
    effort: Option | None
    resume: Resume
    add_directory: Argv | None
    one_argument_bytes: int | None


class Imports(Sourced):
    """What becomes of `@PATH` in an instruction file.

    `sections`: each imported file follows the one that names it, as one more of the chain, down to `depth` steps; one
    outside the working directory is left out, and one with an ending of `refused`. `inlined`: its text stands in the
    place of its name.
    """

    way: Literal["sections", "inlined"]
    depth: int | Unknown
    refused: tuple[str, ...] | Unknown


class Instructions(Sourced):
    """Instruction files. `written` is the one agentmux writes; `native` all that it reads by itself in one folder.

    `argv` passes `written` (`{}`) to a CLI that does not read it by itself, which then takes it up behind its own text.

    `chain` says which folders; `sorted_by` in which order; `of_added` whether those of added directories are read too.
    A name of `native` may end in a glob; a file whose front matter has one of `conditional` is not read at the start.
    `only_without` maps a name to names whose presence anywhere in the chain switches it off; `instead_of` a name to
    the one it replaces in its folder. `limit` is in bytes over `limit_scope`. `strips` names what the CLI removes.
    `heading` stands before each file (`{path}` is its absolute path, `{relative}` the one from the working directory),
    `join` between two of them. `imports` is null where the CLI makes nothing of a path.
    """

    written: str | None
    argv: Argv = ()
    native: tuple[str, ...]
    home: tuple[str, ...]
    conditional: tuple[str, ...]
    of_added: bool | Unknown
    only_without: Mapping[str, tuple[str, ...]]
    instead_of: Mapping[str, str]
    chain: Literal["root-to-cwd", "above-root-to-cwd", "cwd", "none", "unknown"]
    sorted_by: Literal["depth", "deepest-first", "path", "name-then-depth", "unknown"]
    limit: int | Unknown | None
    limit_scope: Literal["chain", "file", "none", "unknown"]
    strips: tuple[Literal["block-comments", "front-matter", "crlf", "unknown"], ...]
    heading: str
    join: str
    imports: Imports | Unknown | None


class FlagDelivery(Sourced):
    """Delivery by flag: `file` passes the path of a file, `text` the text itself, `directory` the file's folder.

    `argv` holds `{}`. `file` is the file's name below the plan's own folder, `template` its content around `{}` (a CLI
    may want front matter). `json_string` says the text is passed as a JSON string literal. With `directory` the
    text is read as one more file of the native chain. `on_resume`: False where a session that goes on refuses `argv`.
    `escapes` maps what the CLI would not take as it stands to what says it. `environment` are variables that lead the
    CLI to the text, from `{}` as in `argv` and `{folder}`, the plan's own.
    """

    way: Literal["file", "text", "directory"]
    argv: Argv
    file: str
    template: str
    json_string: bool
    on_resume: bool
    escapes: Mapping[str, str]
    environment: Mapping[str, str] = {}


class Skills(Sourced):
    """Skill folders. `written` is where agentmux copies skills, below the CLI's folder or a private directory.

    `private`: arguments that make the CLI read the skills of an own directory (`{}` as seen from where it runs, `{own}`
    from the project), None where none was measured.
    `behind_trust` says that it lists those of the project only where the trust gate is open.
    `row` renders one line of the listing from `{name}`, `{description}`, `{location}` (its SKILL.md, relative to the
    project) and `{root}` (the number of its folder among those listed, from the root down). `escapes` are characters
    that the CLI writes as entities; `newlines` what it makes of line ends in a description; `same_name` whether it
    lists two skills of one name, the deeper first. A description longer than `description_limit` characters is cut
    so that it has that many with `ellipsis`, or its skill is not listed (`beyond_limit`); `listing_limit` is in bytes
    over all rows.
    """

    listed: bool
    written: str | None
    native: tuple[str, ...]
    chain: Literal["root-to-cwd", "cwd", "root", "none", "unknown"]
    private: Argv | None
    behind_trust: bool = False
    row: str
    escapes: str
    newlines: Literal["spaces", "kept", "unknown"]
    order: Literal["casefold", "bytes", "reverse-bytes", "unknown"]
    same_name: Literal["once", "each", "unknown"]
    description_limit: int | Unknown | None
    beyond_limit: Literal["cut", "dropped"] = "cut"
    ellipsis: str
    listing_limit: int | Unknown | None


class Beside(Sourced):
    """What the CLI reads of a project by itself, and no spec has a form for.

    `paths` are files and folders below the project, each with what it holds, in the plural.
    """

    paths: Mapping[str, str]


class ServerArguments(Facts):
    """Arguments that declare one MCP server; `{server}` stands bare, every other value as a JSON literal.

    `command`: `{command}`; `args`: `{args}`, a list; `env`, once for each variable: `{name}` bare, `{value}`;
    `forwarded`: `{names}`, a list; `url`: `{url}`; `header`, once for each: `{name}` bare, `{value}`;
    `header_variable`: `{name}` bare, `{variable}`; `bearer`: `{variable}`, for `Authorization: Bearer ${NAME}`.
    """

    command: Argv
    args: Argv
    env: Argv
    forwarded: Argv
    url: Argv
    header: Argv
    header_variable: Argv
    bearer: Argv


class Mcp(Sourced):
    """How MCP servers reach the CLI.

    `way`: `file-flag` writes JSON to `file` below the plan's own folder and passes it by `argv`; `settings` writes it
    to `file` below the CLI's folder; `arguments` fills the templates of `pieces`. `key` holds the servers in a file;
    `url_key` and `type_value` say under which key an HTTP server's URL stands, and what its `type` is, `stdio_type`
    that of one over stdio; `extra` is added to every server. `session` sends them in `session/new`, which an ACP agent
    gets before any other way where its `servers` say that they are started.

    `secrets` says how `${NAME}` reaches a server: `expanded` by the CLI, `forwarded` by name, `inherited` with the
    CLI's environment, put into the `session` by the launcher. `expands` lists the fields in which the CLI expands it.
    `without_asking` says the CLI's permission does not hold for these servers' tools, `behind_trust` that they are
    started only where the trust gate is open, `denied_under` which permissions take their tools away. `names` is the
    pattern a server's name must have.
    """

    way: Literal["file-flag", "arguments", "settings", "session", "none", "unknown"]
    transports: tuple[Literal["stdio", "http"], ...]
    file: str | None
    key: str | None
    argv: Argv
    pieces: ServerArguments | None
    url_key: str | None
    type_value: str | None
    stdio_type: str | None
    extra: Mapping[str, bool | str | int | tuple[str, ...]]
    secrets: Literal["expanded", "forwarded", "inherited", "session", "none", "unknown"]
    expands: tuple[Literal["command", "env", "args", "url", "headers"], ...]
    without_asking: bool
    behind_trust: bool
    denied_under: tuple[Literal["plan", "ask", "edit", "auto", "bypass"], ...] = ()
    names: str


class Redirect(Sourced):
    """How the CLI is led to another endpoint: by `variable`, or by `argv`.

    In `argv`, `{base_url}` is a JSON literal, and `{url}` stands bare.
    `key_variable` is the variable it takes that endpoint's key from; `key_argv` names any other (`{name}`, a JSON
    literal). `model_variable` names that endpoint's model where no argument does. `set` is the environment a
    redirected CLI gets besides.
    """

    variable: str | None
    argv: Argv
    model_variable: str | None
    key_variable: str | None
    key_argv: Argv
    set: Mapping[str, str]


class Provider(Facts):
    """One provider: an agent CLI that agentmux compiles for."""

    name: Name
    aliases: tuple[str, ...]
    display: str
    executable: str
    version_argv: Argv
    package: Package
    vendors: tuple[str, ...]
    controller: Controller
    modes: Mapping[Controller, Mode | None]
    session_id: str | None
    arguments: Arguments
    instructions: Instructions
    flag_delivery: FlagDelivery | None
    default_delivery: Literal["file", "flag", "folder", "startup"]
    skills: Skills
    beside: Beside | None = None
    mcp: Mcp
    redirect: Redirect | Unknown | None
    variables: Variables
    switches: Switches
    trust: Trust
    before_launch: tuple[Need, ...] = ()
    acp: Acp | None
    window: Window
    transcripts: Transcripts | Unknown = "unknown"
    lifetimes: Lifetimes | None = None
    version_faults: tuple[VersionFault, ...] = ()
    layout: Layout

    @model_validator(mode="after")
    def _whole(self) -> Provider:
        if set(self.modes) != set(CONTROLLERS) or self.modes[self.controller] is None:
            raise ValueError("`modes` needs an entry for every controller, and one that is not null for `controller`")
        if (self.acp is None) != (self.modes["acp"] is None):
            raise ValueError("`acp` and the mode of that name need each other")
        return self
