"""What a build or a diff found: plain values that every renderer takes and `--format json` prints.

Names of the fields are part of the machine formats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentmux_compiler.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class TextKept:
    """Bytes and tokens of the rendered prompt that stay equal from the start.

    `tokens_*` were counted by `method`, whose error is at most `error_pct` per cent (0: exact, None: unknown).
    """

    bytes_total: int
    bytes_kept: int
    tokens_total: int
    tokens_kept: int
    method: str
    error_pct: float | None


@dataclass(frozen=True, slots=True)
class Break:
    """The first divergence: `byte` is the offset in the rendered prompt, `before`/`after` the text around it."""

    layer: str
    segment: str
    path: str | None
    line: int | None
    byte: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Change:
    """One change and its one reason; `masked` ones stand behind the first break and cost nothing more."""

    reason: str
    layer: str
    segment: str
    path: str | None
    line: int | None
    masked: bool
    code: str
    column: int | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the backend can reuse, in tokens, without and with the change; unknown figures are None."""

    reusable_before: int | None
    reusable_after: int | None
    lost: int | None
    added: int | None
    usd: float | None
    prefill_seconds: float | None


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do instead, and how many tokens more it would keep in the scenario that loses most."""

    text: str
    keeps_tokens: int
    scenario: str


@dataclass(frozen=True, slots=True)
class PlanDiff:
    """One plan against its baseline. `verdict`: unchanged, kept, broken, new, removed.

    `own` is `text` over the project's own text alone, without the parts that are the CLI's. `prefill_rate` is the one
    the project states, in tokens per second.
    """

    agent: str
    provider: str
    vendor: str
    backend: str
    model: str | None
    effort: str | None
    cli_version: str
    verdict: str
    text: TextKept
    first_break: Break | None = None
    changes: tuple[Change, ...] = ()
    scenarios: Mapping[str, Scenario | None] = field(default_factory=dict)
    usd_per_day: float | None = None
    price_as_of: str | None = None
    ttl: str | None = None
    certainty: str | None = None
    own: TextKept | None = None
    advice: tuple[Advice, ...] = ()
    prefill_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of plans by verdict."""

    plans: int = 0
    unchanged: int = 0
    kept: int = 0
    broken: int = 0
    new: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class DiffReport:
    """All plans against a baseline; `baseline` says which (`snapshots`, `git:REV`, a folder)."""

    baseline: str
    plans: tuple[PlanDiff, ...]
    summary: Summary
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class FileStatus:
    """`status`: written, unchanged, removed, would-write, would-remove."""

    path: str
    status: str
    bytes: int
    sha256: str | None


@dataclass(frozen=True, slots=True)
class BuildReport:
    """A whole build: what it said, what it wrote, what changed in the prefixes."""

    diagnostics: tuple[Diagnostic, ...]
    files: tuple[FileStatus, ...]
    diff: DiffReport


def summarise(plans: tuple[PlanDiff, ...]) -> Summary:
    verdicts = [plan.verdict for plan in plans]
    counts = {name: verdicts.count(name) for name in ("unchanged", "kept", "broken", "new", "removed")}
    return Summary(plans=len(plans), **counts)
