"""The rows of the ledger; their fields are its columns."""

from __future__ import annotations

from dataclasses import dataclass

from agentmux_launcher.processes import Known, alive


@dataclass(frozen=True, slots=True)
class Run:
    """One `agentmux run`. Times are seconds since 1970, in UTC.

    `plan` and `prefix` are digests of what the run was started with, `held` that of the prefix its session goes on
    with: with older text where the CLI keeps that which a session began with.
    """

    run_id: str
    project: str
    agent: str
    provider: str
    controller: str
    model: str | None
    effort: str | None
    permission: str
    cli_version: str | None
    plan: str | None
    prefix: str | None
    folder: str
    pid: int
    pid_started: str
    child_pid: int | None = None
    child_started: str | None = None
    session_id: str | None = None
    resumed: str | None = None
    forked: bool = False
    started: float = 0.0
    ended: float | None = None
    exit_code: int | None = None
    held: str | None = None

    @property
    def launcher(self) -> Known:
        return Known(self.pid, self.pid_started)

    @property
    def child(self) -> Known | None:
        return None if self.child_pid is None else Known(self.child_pid, self.child_started or "")

    @property
    def running(self) -> bool:
        """Whether its launcher provably still runs."""
        return self.ended is None and alive(self.launcher)


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn used. `prefill_tokens` is the whole input of all its calls, `context_tokens` that of the last."""

    run_id: str
    turn: int
    session_id: str | None
    model: str | None
    started: float
    ended: float
    stop_reason: str | None
    calls: int
    input_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    context_tokens: int | None = None
    context_window: int | None = None
    prefill_tokens: int | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One usage event of a turn.

    `time` is when the first of the response was seen; null in what ledgers before version 2 hold. `after_compaction`:
    the agent's first call after the conversation was summarised.
    """

    run_id: str
    turn: int
    number: int
    scope: str
    input_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    context_tokens: int | None = None
    context_window: int | None = None
    model: str | None = None
    message_id: str | None = None
    parent: str | None = None
    time: float | None = None
    after_compaction: bool = False


@dataclass(frozen=True, slots=True)
class FailureRow:
    """How a turn failed; turn 0 is the run's own beginning."""

    run_id: str
    turn: int
    class_: str
    title: str
    detail: str
    exit_code: int | None
    signal: int | None
    retryable: bool
    retry_after_ms: int | None


@dataclass(frozen=True, slots=True)
class Session:
    """A provider's session as its last turn left it; `counters` is JSON, where a provider's figures go on counting."""

    provider: str
    session_id: str
    project: str
    agent: str
    model: str | None
    effort: str | None
    permission: str
    cli_version: str | None
    plan: str | None
    prefix: str | None
    last_run: str
    context_tokens: int | None = None
    counters: str | None = None
    updated: float = 0.0
