"""What a cache may hold of an agent, as the ledger knows it: the prefix that was sent last, when, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux.preparation import session_of

if TYPE_CHECKING:
    from agentmux.preparation import Task
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


def before(ledger: Ledger, task: Task, provider: str) -> Before | None:
    """Of the session that goes on, else of the agent's last run; None where the ledger knows of no call."""
    last = ledger.last_used(task.root, task.wanted.agent, provider)
    if task.session is not None:
        session = session_of(ledger, task, provider)
        return None if session is None else _of_session(ledger, session, last)
    if last is None or last[0].prefix is None:
        return None
    run, used = last
    same = (each for each in ledger.runs(task.root) if (each.agent, each.provider) == (run.agent, run.provider))
    calling = any(each.running and each.prefix == run.prefix for each in same)
    return Before(run.prefix, "relaunch", None if calling else used, hour=_hour(ledger, run.run_id))


def _of_session(ledger: Ledger, session: Session, last: tuple[Run, float] | None) -> Before:
    calling = any(run.running and run.session_id == session.session_id for run in ledger.runs(session.project))
    return Before(
        session.prefix,
        "resume",
        None if calling else session.updated,
        session.context_tokens,
        _hour(ledger, session.last_run),
        last[1] if last and last[0].session_id != session.session_id and last[1] > session.updated else None,
    )


def _hour(ledger: Ledger, run_id: str) -> bool:
    return any(turn.cache_write_1h_tokens for turn in ledger.turns(run_id))
