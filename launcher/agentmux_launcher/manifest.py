"""The contract that crosses from compiler to launcher: what to start, and what was written for it.

Standard library only. The compiler imports these types to write; never the other way round.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentmux_launcher.codec import from_json, to_json
from agentmux_launcher.usage import Convention

if TYPE_CHECKING:
    from pathlib import Path

FORMAT_VERSION = 1
MANIFEST_PATH = ".agentmux/manifest.json"


@dataclass(frozen=True, slots=True)
class Literal:
    """An argument as it stands."""

    value: str


@dataclass(frozen=True, slots=True)
class FromFile:
    """An argument whose `{}` is the text of a file (path relative to the project), as JSON string literal if asked.

    `arguments.json_literal` makes that literal.
    """

    template: str
    file: str
    json_string: bool = False


@dataclass(frozen=True, slots=True)
class Slot:
    """Arguments that appear only when the launch knows a value.

    That is `resume` or `fork` (a session's id), `prompt` (text), or `trust` (where the CLI runs, if that is allowed).
    `{}` in `present` is the value; `absent` stands there otherwise. `arguments.expand` fills it in.
    """

    slot: str
    present: tuple[str, ...]
    absent: tuple[str, ...] = ()


Argument = Literal | FromFile | Slot


@dataclass(frozen=True, slots=True)
class Environment:
    """Environment of the child: values set, names passed through from the launching one, names removed.

    `renamed` maps a name of the child's to the one whose value it gets from the launching environment.
    """

    set: Mapping[str, str] = field(default_factory=dict)
    passed: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionServer:
    """An MCP server that the launcher names when it makes a session; `${NAME}` in a value is a variable at launch."""

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LineRun:
    """`count` lines of an output from `line` on came from `path`, line `source_line` on (all counted from 1)."""

    line: int
    count: int
    segment: str
    path: str
    source_line: int


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a build owns; `committed` ones stand outside `.agentmux/`, `owners` are the plans that want it.

    `keys` is for a settings file that others write too: digests of the values that are ours, by JSON pointer.
    """

    path: str
    sha256: str
    bytes: int
    committed: bool
    lines: tuple[LineRun, ...] = ()
    owners: tuple[str, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UserEntry:
    """An `entry` for a file of the user's own that a CLI reads, in that file's language.

    `path` is relative to `folder`, which begins with `~`, or to what the variable `moved_by` names. `user_entry.py`
    fills in what either leaves open.
    """

    path: str
    entry: str
    folder: str = "~"
    moved_by: str | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """What a CLI holds back until it trusts a `folder` or its `project-settings`.

    `set` opens it for one launch; the arguments that do have the slot `trust`. `openable` says that either does. `file`
    opens it for good.
    """

    asks: str
    drops: str
    set: Mapping[str, str] = field(default_factory=dict)
    openable: bool = False
    file: UserEntry | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """What a CLI does not start without where its environment has the variable `given`: `lacks` says it in words."""

    given: str
    entry: UserEntry
    lacks: str


@dataclass(frozen=True, slots=True)
class VersionFault:
    """`what` is known to be wrong with versions of a CLI from `since` on and before `before` (null: to this day)."""

    since: str
    before: str | None
    what: str


@dataclass(frozen=True, slots=True)
class SessionSetting:
    """A request that gives a session of an ACP agent a value of `what` (permission, model, effort).

    `key` is the parameter that holds it (`modeId`, `modelId`, `value`), `option` the session's option that it is for.
    """

    what: str
    method: str
    key: str
    value: str
    option: str | None = None


@dataclass(frozen=True, slots=True)
class AcpPlan:
    """How an ACP agent is driven, as far as it does not say so itself.

    `goes_on` are the methods that go on with a session, the best first; unless it `loads_at_once`, none may be tried in
    the minute of the clock in which the session began. `authenticate` maps a variable to the method that it stands for.
    Requests for tools of the kinds in `passes` are allowed without asking anybody, within the working directory.
    `lends` is what the client does for the agent: `files`, `terminals`.

    An answer that opens a session may take `start_seconds` or `session_seconds`. A turn in which nothing is heard for
    `quiet_seconds` is remarked upon, for `silent_seconds` ended. `leaves` is what outlives the agent.
    """

    client_version: str = "0"
    goes_on: tuple[str, ...] = ()
    loads_at_once: bool = True
    forks: bool = False
    settings: tuple[SessionSetting, ...] = ()
    authenticate: Mapping[str, str] = field(default_factory=dict)
    passes: tuple[str, ...] = ()
    lends: tuple[str, ...] = ()
    start_seconds: float = 120.0
    session_seconds: float = 120.0
    quiet_seconds: float = 300.0
    silent_seconds: float = 3600.0
    ends_at_eof: bool = True
    ends_at_sigterm: bool = True
    leaves: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """All that is needed to start one agent on one provider. Paths are relative to the project, argv's to `cwd`.

    `version_argv` asks the CLI for its version; `install_folders` are those its vendor's installer uses, `install_hint`
    is the vendor's own command, and `installable` says that agentmux can install it. `usage` is what the CLI's figures
    mean, null where that is what they mean in its dialect; `own_words` begin texts in its frames that no model wrote.

    `cli_version` is the version that the spec names (`pinned`), else the verified one; `own_version` that of an
    executable which another package brings. `version_faults` hold for the provider's own. `windows` are sizes of
    context windows, by globs of models.
    """

    agent: str
    provider: str
    display: str
    executable: str
    controller: str
    model: str | None
    effort: str | None
    permission: str
    delivery: str
    cwd: str
    argv: tuple[Argument, ...]
    env: Environment
    files: tuple[str, ...]
    startup: str | None
    prompt_delivery: str
    frames: str
    session_id_field: str | None
    cli_version: str
    stdio: Mapping[str, str]
    mcp_servers: tuple[SessionServer, ...] = ()
    version_argv: tuple[str, ...] = ()
    install_folders: tuple[str, ...] = ()
    install_hint: str = ""
    installable: bool = False
    gate: Gate | None = None
    windows: Mapping[str, int] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()
    pinned: bool = False
    own_version: str | None = None
    version_faults: tuple[VersionFault, ...] = ()
    acp: AcpPlan | None = None
    usage: Convention | None = None
    own_words: tuple[str, ...] = ()

    def can(self, slot: str) -> bool:
        """Whether a session can be gone on with (`resume`) or copied (`fork`), by an argument or by the protocol."""
        by_protocol = {"resume": bool(self.acp and self.acp.goes_on), "fork": bool(self.acp and self.acp.forks)}
        named = any(isinstance(item, Slot) and item.slot == slot for item in self.argv)
        return named or by_protocol.get(slot, False)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the last build wrote, and the plans it made. No clock, no absolute path, no secret.

    `folders` are those a build made; one goes again with its last output.
    """

    agentmux_version: str
    files: tuple[WrittenFile, ...] = ()
    plans: tuple[LaunchPlan, ...] = ()
    format_version: int = FORMAT_VERSION
    folders: tuple[str, ...] = ()


class ManifestError(Exception):
    """The manifest is unreadable or of another major version."""


def dumps(manifest: Manifest) -> str:
    return json.dumps(to_json(manifest), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def loads(text: str) -> Manifest:
    """Parse a manifest.

    Raises:
        ManifestError: not JSON, not this shape, or a format version we do not know.
    """
    try:
        value = json.loads(text)
        if value["format_version"] != FORMAT_VERSION:
            raise ManifestError(f"manifest has format version {value['format_version']}, not {FORMAT_VERSION}")
        return from_json(Manifest, value)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ManifestError(f"manifest cannot be read: {error}") from error


def read(root: Path) -> Manifest | None:
    """The project's manifest, or None where nothing was built yet."""
    try:
        return loads((root / MANIFEST_PATH).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
