"""What an agent becomes for one provider: files, a launch plan, and the prompt prefix they lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentmux_compiler.agent import Use
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.segment import Segment, Text
from agentmux_launcher.manifest import Argument, LaunchPlan, LineRun


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file to be written: `content` has LF ends; `committed` ones stand outside `.agentmux/`.

    `segments` are the parts of an instruction file in order (for the map of its lines); `owner` names the
    plans that want it (`agent/provider`), `at` the place in `agents.d/` that caused it. `merged` is a JSON object
    whose values go into the settings file that is there, beside what others wrote in it. `volatile` names placeholders
    that `placeholders.fill_volatile` replaces when the file is written; no committed file has any. `executable` is the
    bit that a copy takes from its source; None: whatever the file that is there has. `quoting` are segments whose
    placeholders are samples for the reader, and stay.
    """

    path: str
    content: bytes
    committed: bool
    at: Span
    owners: tuple[str, ...]
    lines: tuple[LineRun, ...] = ()
    merged: bool = False
    volatile: tuple[str, ...] = ()
    executable: bool | None = None
    quoting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PrefixSegment:
    """One part of the request prefix in the order the backend sees it.

    `layer` is one of the layout's layers. Our own and native text has `body`; a part that is the CLI's own
    is opaque: `body` is None and `size` its measured bytes. `asked_at` is the place in `agents.d/` that put it here.
    `volatile` names the placeholders in it; `file` is the committed output of ours that the text stands in, if any.
    `varies_with` names what changes an opaque part under the same name (model, effort, permission, mcp, tools, cwd),
    `chosen_by` what decides whether it is there, and in which size; `breakpoint` says the CLI marks its end as a place
    whose prefix the backend stores.
    """

    layer: str
    name: str
    body: Text | None
    size: int
    asked_at: Span | None = None
    volatile: tuple[str, ...] = ()
    file: str = ""
    varies_with: tuple[str, ...] = ()
    breakpoint: bool = False
    chosen_by: tuple[str, ...] = ()

    @property
    def text(self) -> str | None:
        return self.body.text if self.body else None

    @property
    def opaque(self) -> bool:
        return self.body is None


@dataclass(frozen=True, slots=True)
class ResumeRules:
    """What becomes of text that was edited while a session rests: `appended`, `rewritten`, `ignored`, `unknown`, `n/a`.

    `flag_text` holds for text that a flag delivered, `instructions` for all other.
    """

    instructions: str
    flag_text: str


@dataclass(frozen=True, slots=True)
class PlanPrefix:
    """The request prefix of one plan, with all that keys it: what `snapshots/` stores and the diff compares.

    `model` and `effort` key a cache without being text; `argv` and `env` (names) are kept for their reasons.
    `places` locates `model`, `effort`, `permission`, `delivery`, `bundles`, `skills`, `mcp`, `flags`, `workdir`
    in the sources. `resolved_model` is what a short name stands for, or the CLI's default; `lifetime` the one it
    asks its vendor for (None: the backend's own). `resume` is None where nobody will resume: a recorded request.
    `elsewhere` names what is another on the machine at hand: cwd, home, date, git or prompt.
    """

    agent: str
    provider: str
    vendor: str
    backend: str
    model: str | None
    effort: str | None
    permission: str
    delivery: str
    cwd: str
    cli_version: str
    argv: tuple[str, ...]
    env: tuple[str, ...]
    segments: tuple[PrefixSegment, ...]
    places: Mapping[str, Span] = field(default_factory=dict)
    resolved_model: str | None = None
    lifetime: str | None = None
    resume: ResumeRules | None = None
    elsewhere: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        return f"{self.agent}/{self.provider}"

    @property
    def served_model(self) -> str | None:
        """The model that answers, as far as it is known."""
        return self.resolved_model or self.model


@dataclass(frozen=True, slots=True)
class ArgumentParts:
    """Arguments that depend on what was written for a plan; `files` are its outputs, relative to where the CLI runs.

    `opt_outs` turn off what the project does not want.
    """

    redirect: tuple[Argument, ...] = ()
    mcp: tuple[Argument, ...] = ()
    delivery: tuple[Argument, ...] = ()
    directories: tuple[Argument, ...] = ()
    opt_outs: tuple[Argument, ...] = ()
    files: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Lowered:
    """One agent on one provider: what to write, what to start, what the backend will see.

    `use` and `parts` are what `argv.build_argv` made the plan's arguments from, for a launch that overrides some.
    """

    files: tuple[OutputFile, ...]
    plan: LaunchPlan
    prefix: PlanPrefix
    segments: tuple[Segment, ...]
    use: Use | None = None
    parts: ArgumentParts = ArgumentParts()
