"""The one kind of event that every dialect becomes; each is a JSON line of `run --output json` and `tail`."""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agentmux_launcher.codec import to_json

FORMAT_VERSION = 1


class FailureClass(enum.StrEnum):
    """Why a turn or a run failed."""

    AUTH = "auth"
    RATE_LIMITED = "rate_limited"
    USAGE_LIMIT = "usage_limit"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    NETWORK = "network"
    CONTEXT_EXCEEDED = "context_exceeded"
    MAX_TURNS = "max_turns"
    MODEL_NOT_FOUND = "model_not_found"
    PERMISSION_DENIED = "permission_denied"
    BAD_ARGUMENTS = "bad_arguments"
    CLI_MISSING = "cli_missing"
    CLI_TOO_OLD = "cli_too_old"
    RESUME_NOT_FOUND = "resume_not_found"
    TRUNCATED = "truncated"
    NO_OUTPUT = "no_output"
    KILLED = "killed"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Session:
    """What the CLI says of its session; again only where something of it changed. `mcp_servers` maps to their status.

    Fields are null until the CLI has said them.
    """

    session_id: str | None = None
    model: str | None = None
    cli_version: str | None = None
    mcp_servers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer, as it streams. `parent` is the tool call whose sub-agent said it; null: the agent."""

    text: str
    message_id: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of the model's reasoning, with the fields of `Text`."""

    text: str
    message_id: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool is called; `input` is whole, or the raw text where it is no JSON."""

    id: str
    name: str
    input: Any
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back; `ok` is null where the CLI does not say."""

    id: str
    ok: bool | None
    output: str
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """One way to answer; `kind` is allow_once, allow_always, reject_once or reject_always."""

    id: str
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Permission:
    """The CLI asks; then, with the same id, `chosen` is the id of the option that was taken."""

    id: str
    options: tuple[PermissionOption, ...] = ()
    chosen: str | None = None
    tool: str | None = None
    tool_call_id: str | None = None
    input: Any = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call or of one turn, never counted twice; null is not known.

    Each token of the input is in exactly one of `input_tokens` (the cache had no part in it), `cache_read_tokens`,
    `cache_write_tokens` (for five minutes, or the backend's only lifetime) and `cache_write_1h_tokens`; where a CLI
    says nothing of its cache, `input_tokens` hold all and the others are null.
    `output_tokens` hold `reasoning_tokens`. `context_tokens` is the whole input of a call; of a turn, what fills the
    window at its end, where the CLI says that by itself. `context_window` is what the CLI says the model's is.
    """

    scope: Literal["call", "turn"]
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


@dataclass(frozen=True, slots=True)
class Cost:
    """What this turn cost, as the CLI reckons it."""

    usd: float


@dataclass(frozen=True, slots=True)
class Retry:
    """The CLI asks the model again. `abandoned` is the message whose text is void with that."""

    attempt: int | None = None
    status: int | None = None
    retry_after_ms: int | None = None
    reason: str | None = None
    abandoned: str | None = None


@dataclass(frozen=True, slots=True)
class Compaction:
    """The conversation was summarised; the next call begins anew. Counts are of tokens, as the CLI reckons them."""

    trigger: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan; `status` is pending, in_progress or completed, `priority` high, medium or low."""

    text: str
    status: str | None = None
    priority: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What the agent means to do, as a whole; without a step: no more than that it has no plan now."""

    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Mode:
    """The mode the session is in from now on, by the CLI's own name: of permissions, of thinking, as the CLI has it."""

    id: str


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands that the CLI now takes in a prompt, in its order; again only where they changed."""

    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class End:
    """The end of a turn: end_turn, max_tokens, max_turns, refusal, interrupted, error, or the CLI's own word."""

    stop_reason: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a turn or the run failed. `class_` is `class` in JSON; `retry_after_ms` only where somebody named a time."""

    class_: FailureClass
    title: str
    detail: str = ""
    exit_code: int | None = None
    signal: int | None = None
    retryable: bool = False
    retry_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Words of the CLI that are no frame, or are not the model's; from `agentmux`: what happened to the stream."""

    text: str
    source: Literal["stdout", "stderr", "cli", "agentmux"]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A frame that no translator knows; a text where it is half a frame."""

    frame: Any


Event = (
    Session
    | Text
    | Thinking
    | ToolCall
    | ToolResult
    | Permission
    | Usage
    | Cost
    | Retry
    | Compaction
    | Plan
    | Mode
    | Commands
    | End
    | Failure
    | Notice
    | Unknown
)

NAMES: dict[type, str] = {
    Session: "session",
    Text: "text",
    Thinking: "thinking",
    ToolCall: "tool_call",
    ToolResult: "tool_result",
    Permission: "permission",
    Usage: "usage",
    Cost: "cost",
    Retry: "retry",
    Compaction: "compaction",
    Plan: "plan",
    Mode: "mode",
    Commands: "commands",
    End: "end",
    Failure: "failure",
    Notice: "notice",
    Unknown: "unknown",
}


def to_object(event: Event) -> dict[str, Any]:
    """The event as a JSON object: its fields, its name as `event`, and the version of the format."""
    fields = {name.rstrip("_"): value for name, value in to_json(event).items()}
    return {"event": NAMES[type(event)], "format_version": FORMAT_VERSION, **fields}


def to_line(event: Event) -> str:
    """The event as one line of JSON with sorted keys, and its end."""
    value = to_object(event)
    try:
        return _dumps(value)
    except ValueError:
        return _dumps(_finite(value))


def _dumps(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which a model can write
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text + "\n"


def _finite(value: Any) -> Any:
    """JSON has no infinity, though a number of many digits reads as one."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
