"""What a cache may hold of an agent, as the ledger knows it: the prefix that was sent last, when, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux.launch.preparation import session_of

if TYPE_CHECKING:
    from agentmux.launch.preparation import Task
    from agentmux_launcher.ledger import Ledger, Run, Session


@dataclass(frozen=True, slots=True)
class Before:
    """What was sent last; `scenario` says how this launch would use it: `relaunch`, `resume`.

    `prefix` is its digest in the ledger. `used` is when the last call was over, in seconds since 1970; None: calls may
    go on. `tokens` are the session's whole prompt, None where the CLI does not say; `hour` says that it was stored for
    an hour. `beside` is when another session of the agent was used last, if that is later.
    """

    prefix: str | None
    scenario: str
    used: float | None = None
    tokens: int | None = None
    hour: bool = False
    beside: float | None = None

    def age(self, now: float) -> float:
        """Seconds without use."""
        return 0.0 if self.used is None else now - self.used


def before(ledger: Ledger, task: Task, provider: str) -> tuple[Before, ...]:
    """The session that goes on, else what the agent's runs sent, the last first; none where no call is known."""
    last = ledger.last_used(task.root, task.wanted.agent, provider)
    if task.session is not None:
        session = session_of(ledger, task, provider)
        return () if session is None else (_of_session(ledger, session, last),)
    calling = {
        _sent(run)
        for run in ledger.runs(task.root)
        if (run.agent, run.provider) == (task.wanted.agent, provider) and run.running
    }
    return tuple(
        Before(_sent(run), "relaunch", None if _sent(run) in calling else used, hour=_hour(ledger, run.run_id))
        for run, used in last
        if _sent(run) is not None
    )


def _sent(run: Run) -> str | None:
    """A session that keeps the text it began with has sent that again."""
    return run.held or run.prefix


def _of_session(ledger: Ledger, session: Session, last: list[tuple[Run, float]]) -> Before:
    calling = any(run.running and run.session_id == session.session_id for run in ledger.runs(session.project))
    others = (used for run, used in last if run.session_id != session.session_id and used > session.updated)
    return Before(
        session.prefix,
        "resume",
        None if calling else session.updated,
        session.context_tokens,
        _hour(ledger, session.last_run),
        next(others, None),
    )


def _hour(ledger: Ledger, run_id: str) -> bool:
    return any(turn.cache_write_1h_tokens for turn in ledger.turns(run_id))
