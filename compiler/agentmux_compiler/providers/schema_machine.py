"""What surrounds a CLI: its environment, what it does besides its work, the gates it keeps, its window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from agentmux_compiler.providers.schema_base import Argv, Controller, Facts, Sourced, Unknown


class Variables(Sourced):
    """Environment of the CLI: the variable of its configuration folder, what is set, what is removed.

    `config_folder` is the folder that stands for where `config_dir` has no value. `api_keys` are those it takes a key
    from.
    """

    config_dir: str | Unknown | None
    config_folder: str | Unknown | None
    api_keys: tuple[str, ...]
    set: Mapping[str, str]
    unset: tuple[str, ...]


class Switch(Facts):
    """What turns one thing off: variables, arguments, or a `value` at the dotted `key` of a settings `file`."""

    set: Mapping[str, str]
    argv: Argv
    file: str | None
    key: str | None
    value: bool | str | None


class Switches(Sourced):
    """What a CLI does besides its work, and what turns it off where somebody asks for it; None: it does no such thing.

    `uploads` sends sessions or files to the vendor, beyond what a model request holds.
    """

    telemetry: Switch | Unknown | None
    updates: Switch | Unknown | None
    uploads: Switch | Unknown | None


class Trust(Sourced):
    """A gate that drops a project's files without a word: `gate` what it asks about, `drops` what it holds back.

    The CLIs of the controllers `absent_for` have no such gate.
    It is opened for one launch by `argv` (`{cwd}` is the absolute folder), which the CLIs of the controllers `argv_for`
    take, or by the variables of `set`; for good by an `entry` in the user's own `file`, in that file's language. Both
    may hold `{cwd}`, its last name as a `{slug}`, the first 12 digits of its SHA-256 as `{digest}`, and `{now}` in
    seconds since 1970 (`user_entry.py` of the launcher fills them in).
    """

    gate: Literal["none", "folder", "project-settings", "unknown"]
    drops: str
    absent_for: tuple[Controller, ...]
    argv: Argv
    argv_for: tuple[Controller, ...]
    set: Mapping[str, str]
    file: str | Unknown | None
    entry: str | Unknown | None


class Need(Sourced):
    """What a CLI does not start without where its environment has the variable `given`.

    That is an `entry` in the user's own `file`, in that file's language; `lacks` says in words what is missing.
    """

    given: str
    file: str
    entry: str
    lacks: str


class Window(Sourced):
    """How large a context is: where the CLI says it (`reported`), and tokens by globs of models where it does not.

    `compaction` is the frame that says that a session was summed up.
    """

    reported: str | Unknown | None
    sizes: Mapping[str, int]
    compaction: str | Unknown | None


class Transcripts(Sourced):
    """What the CLI writes down of its sessions, below its configuration folder.

    `formats` maps the name of a reader to globs (`**/`: any folders). `figures` is the field that is believed,
    and the two that follow say what it means; `scope`: of one model call, or of the session so far. `again` is what
    writes a response down once more, `absent` the calls that are made and not written down.
    """

    formats: Mapping[str, tuple[str, ...]]
    figures: str
    scope: Literal["call", "cumulative"]
    input_includes_cached: bool
    output_includes_reasoning: bool
    again: tuple[str, ...] | Unknown
    absent: tuple[str, ...] | Unknown
