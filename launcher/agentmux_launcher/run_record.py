"""What a run leaves behind as it goes: its frames in its folder, its account in the ledger."""

from __future__ import annotations

import json
import sqlite3
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from agentmux_launcher import ledger as rows
from agentmux_launcher.accounting import Account, add
from agentmux_launcher.codec import to_json
from agentmux_launcher.events import End, Event, Failure, Text, Thinking, Usage
from agentmux_launcher.window import window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentmux_launcher.controllers.base import Controller
    from agentmux_launcher.ledger import Ledger
    from agentmux_launcher.processes import Known
    from agentmux_launcher.reading import Ended
    from agentmux_launcher.run_folder import RunFolder

_USAGE = (
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cache_write_1h_tokens",
    "output_tokens",
    "reasoning_tokens",
)


class _Noted(NamedTuple):
    """A usage event, when the first of its response was seen, and whether it is the first after a compaction."""

    usage: Usage
    time: float
    after_compaction: bool


class RunRecord:
    """One run. Without a ledger (`None`) the folder alone is kept."""

    def __init__(
        self, run: rows.Run, folder: RunFolder, ledger: Ledger | None, windows: Mapping[str, int] | None = None
    ) -> None:
        self.account = Account(model=run.model, windows=windows or {})
        self.run = run
        self._folder = folder
        self._ledger = ledger
        self._lost = ""
        self._written = 0
        self._kept = 0
        self._last: rows.Turn | None = None
        self._began = time.time()
        self._usage: list[_Noted] = []
        self._seen: dict[str, float] = {}
        self._failure: Failure | None = None
        self._ended = False
        self._do(lambda known: known.begin(run))

    def started(self, child: Known, controller: Controller) -> None:
        self._folder.begin(controller.start, lasting=controller.lasting)
        self.child(child)

    def child(self, child: Known) -> None:
        """The run has another process."""
        self._begins()
        self._do(lambda known: known.started(self.run.run_id, child))

    def output(self, data: bytes) -> None:
        self._folder.output(data)

    def errors(self, data: bytes) -> None:
        self._folder.errors(data)

    def sent(self, frame: Mapping[str, Any]) -> None:
        self._begins()
        self._folder.sent(frame)

    def _begins(self) -> None:
        """A turn begins with the last that was sent, or started, before the CLI did anything."""
        if not self._under_way:
            self._began, self._last = time.time(), None

    @property
    def _under_way(self) -> bool:
        return bool(self.account.turns) and self.account.turns[-1].stop_reason is None

    def event(self, event: Event) -> None:
        before, self.account = self.account, add(self.account, event)
        if isinstance(event, Text | Thinking) and event.message_id is not None:
            self._seen.setdefault(event.message_id, time.time())
        elif isinstance(event, Usage):
            self._usage.append(self._noted(event, before))
        elif isinstance(event, Failure):
            self._failure, self._ended = event, True
        elif isinstance(event, End):
            self._ended = True

    def _noted(self, usage: Usage, before: Account) -> _Noted:
        anew = before.context is None and before.context_start is not None
        own_call = usage.scope == "call" and usage.parent is None
        return _Noted(usage, self._seen.get(usage.message_id or "", time.time()), anew and own_call)

    def turn(self, controller: Controller) -> None:
        """Write down the turn that has ended, if one has."""
        if not self._ended:
            return
        if self._under_way:
            self.account = add(self.account, End("error"))
        # A failure that follows a turn's end, with nothing sent since, is that turn's: its figures are written already.
        again = self._last if len(self.account.turns) == self._kept else None
        self._written += again is None
        turn, usage = again or self._turn(controller.session_id), self._usage_rows()
        failure, session = self._failure_row(), self._session(controller)
        self._do(lambda known: known.turn(turn, usage, failure, session))
        self._kept, self._last = len(self.account.turns), turn
        self._usage, self._failure, self._ended, self._began = [], None, False, time.time()
        self._seen.clear()

    def ended(self, end: Ended) -> None:
        self._folder.end(end)

    def close(self, exit_code: int) -> None:
        self._folder.close()
        self._do(lambda known: known.ended(self.run.run_id, exit_code))

    def _turn(self, session_id: str | None) -> rows.Turn:
        turn = self.account.turns[-1] if len(self.account.turns) > self._kept else None
        tokens = turn.tokens if turn else None
        size = window(self.account)
        return rows.Turn(
            run_id=self.run.run_id,
            turn=self._written,
            session_id=session_id,
            model=self.account.model or self.run.model,
            started=self._began,
            ended=time.time(),
            stop_reason=turn.stop_reason if turn else None,
            calls=len(turn.calls) if turn else 0,
            **{name: getattr(tokens, name.removesuffix("_tokens"), None) for name in _USAGE},
            context_tokens=self.account.context,
            context_window=size.tokens if size else None,
            prefill_tokens=tokens.prompt if tokens else None,
            usd=turn.usd if turn else None,
        )

    def _usage_rows(self) -> list[rows.UsageRow]:
        return [
            rows.UsageRow(
                run_id=self.run.run_id,
                turn=self._written,
                number=number,
                scope=usage.scope,
                **{name: getattr(usage, name) for name in _USAGE},
                context_tokens=usage.context_tokens,
                context_window=usage.context_window,
                model=usage.model,
                message_id=usage.message_id,
                parent=usage.parent,
                time=seen,
                after_compaction=anew,
            )
            for number, (usage, seen, anew) in enumerate(self._usage)
        ]

    def _failure_row(self) -> rows.FailureRow | None:
        failure = self._failure
        if failure is None:
            return None
        return rows.FailureRow(
            self.run.run_id,
            self._written,
            failure.class_.value,
            failure.title,
            failure.detail,
            failure.exit_code,
            failure.signal,
            failure.retryable,
            failure.retry_after_ms,
        )

    def _session(self, controller: Controller) -> rows.Session | None:
        if controller.session_id is None:
            return None
        run, counters = self.run, controller.counters
        return rows.Session(
            provider=run.provider,
            session_id=controller.session_id,
            project=run.project,
            agent=run.agent,
            model=run.model,
            effort=run.effort,
            permission=run.permission,
            cli_version=run.cli_version,
            plan=run.plan,
            prefix=run.held,
            last_run=run.run_id,
            context_tokens=self.account.context,
            counters=None if counters is None else json.dumps(to_json(counters)),
            updated=time.time(),
        )

    @property
    def lost(self) -> str:
        """Why something of the run is not kept; empty where all is."""
        return self._lost or ("its folder takes no more" if self._folder.lost else "")

    def _do(self, work: Callable[[Ledger], object]) -> None:
        """A ledger that fails is not asked again; the run goes on without."""
        if self._ledger is None:
            return
        try:
            work(self._ledger)
        except sqlite3.Error as error:
            self._lost, self._ledger = f"the ledger fails: {error}", None
