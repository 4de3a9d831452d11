"""The unit of all counting: one response of a model, whoever wrote it down and how often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentmux_launcher.usage import Tokens

Kind = Literal["main", "subagent", "side"]


@dataclass(frozen=True, slots=True)
class Response:
    """One response of a model.

    `time` is when it began, in seconds since 1970, UTC: the earliest that any copy states. `tokens` are normal: each
    token of the input in exactly one field; null is not known. `turn` counts the turns of the person in this session
    from 1; 0 is before the first. `kind`: the agent's own, a sub-agent's (`thread` says which), or a call that the CLI
    made beside the conversation (a title, a summary). `usd` is what the CLI itself reckoned. `after_compaction`: the
    first of a conversation that was summarised. `run_id` is the launch in the ledger, where there is one; `plan` and
    `prefix` are its digests. `source` is the file that says so, and null for the ledger. `calls` is how many model
    calls the figures sum up where a CLI counts by turn only; null is not known. `vendor` is who served the model, where
    the source says so.
    """

    provider: str
    session_id: str
    time: float
    tokens: Tokens
    model: str | None = None
    turn: int = 0
    kind: Kind = "main"
    thread: str | None = None
    message_id: str | None = None
    request_id: str | None = None
    agent: str | None = None
    effort: str | None = None
    cli_version: str | None = None
    usd: float | None = None
    after_compaction: bool = False
    run_id: str | None = None
    plan: str | None = None
    prefix: str | None = None
    cwd: str | None = None
    source: str | None = None
    calls: int | None = 1
    vendor: str | None = None

    @property
    def context(self) -> int | None:
        """The whole input of the call, cached or not; null where the figures sum up several."""
        return self.tokens.prompt if self.calls == 1 else None


@dataclass(frozen=True, slots=True)
class Session:
    """A session of one agent on one provider: its responses, each once, in the order of their time."""

    provider: str
    session_id: str
    responses: tuple[Response, ...]

    @property
    def main(self) -> tuple[Response, ...]:
        """The agent's own, without sub-agents and side calls."""
        return tuple(each for each in self.responses if each.kind == "main")
