"""Carry a launch out: its record, its signals, its controller, its end."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux.errors import system_message
from agentmux.launch.launching import CannotLaunch
from agentmux.launch.run_host import About, RunHost, view_of
from agentmux_launcher import ledger as rows
from agentmux_launcher import processes
from agentmux_launcher.controllers.per_turn import PerTurn
from agentmux_launcher.controllers.persistent import Persistent
from agentmux_launcher.conversation import FAILED, Conversation
from agentmux_launcher.guard import Guard
from agentmux_launcher.person import somebody
from agentmux_launcher.pty.values import FAILED_BEFORE, SpawnError
from agentmux_launcher.run_folder import RUNS, RunFolder
from agentmux_launcher.run_record import RunRecord
from agentmux_launcher.supervise import Inbox, Signalled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agentmux.streams import Streams
    from agentmux_launcher.controllers.base import Controller, Listener
    from agentmux_launcher.launch import Launch
    from agentmux_launcher.ledger import Ledger
    from agentmux_launcher.manifest import LaunchPlan

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGBREAK")


@dataclass(frozen=True, slots=True)
class Asked:
    """How a launch is to be carried out. Without a prompt the person at the terminal gives the turns.

    `prefix` is what the run sends, `session_prefix` what its session holds.
    """

    prompt: str | None
    output: str = "text"
    timeout: float | None = None
    version: str | None = None
    prefix: str | None = None
    session_prefix: str | None = None


def carry_out(launch: Launch, asked: Asked, ledger: Ledger | None, streams: Streams) -> int:
    """Run it to its end.

    Raises:
        CannotLaunch: the folder of the run cannot be made, or lies behind a link.
    """
    folder = launch.project / RUNS / launch.run_id
    link = next((each for each in (folder.parent.parent, folder.parent) if each.is_symlink()), None)
    if link is not None:
        message = f"`{link}` is a link, and nothing is written through one"
        raise CannotLaunch(message, remedy="put a folder in its place")
    try:
        kept = RunFolder(folder)
        kept.plan(launch.plan)
    except OSError as error:
        raise CannotLaunch(f"the run's folder cannot be made: {error}") from error
    record = RunRecord(_row(launch, asked, ledger, folder), kept, ledger, launch.plan.windows)
    exit_code = FAILED_BEFORE
    try:
        carry = _on_screen if launch.plan.controller == "terminal" else _in_turns
        exit_code = carry(launch, asked, record, streams)
    finally:
        record.close(exit_code)
    return exit_code


def _in_turns(launch: Launch, asked: Asked, record: RunRecord, streams: Streams) -> int:
    inbox = Inbox()
    host = RunHost(view_of(asked.output, streams, _about(launch)), inbox, somebody(), chat=asked.prompt is None)
    try:
        conversation = Conversation(inbox, host, record, Guard(launch.run_id), asked.timeout)
        with _signals(inbox):
            outcome = conversation.run(_controller(launch, inbox, conversation), asked.prompt)
    finally:
        host.close()
    if streams.out.failed is None:
        return outcome.exit_code
    streams.err.line(f"standard output took no more: {system_message(streams.out.failed)}")
    streams.err.line(f"  `agentmux tail {launch.run_id}` shows all of it")
    return outcome.exit_code or FAILED


def _about(launch: Launch) -> About:
    plan, began = launch.plan, time.monotonic()
    return About(plan.provider, plan.agent, plan.model, lambda: time.monotonic() - began, time.monotonic, plan.windows)


def _controller(launch: Launch, inbox: Inbox, listener: Listener) -> Controller:
    if launch.plan.controller == "acp":
        from agentmux_launcher.controllers.acp import Acp  # noqa: PLC0415  for agents of that protocol only

        return Acp(launch, inbox, listener)
    kind = Persistent if launch.plan.controller == "persistent" else PerTurn
    return kind(launch, inbox, listener)


def _on_screen(launch: Launch, asked: Asked, record: RunRecord, _streams: Streams) -> int:
    from agentmux_launcher.controllers.terminal import Screen  # noqa: PLC0415  for terminals only
    from agentmux_launcher.pty.here import Here  # noqa: PLC0415

    inbox, guard = Inbox(), Guard(launch.run_id)

    def started(child: processes.Known) -> None:
        guard.watch(child)
        record.child(child)

    try:
        with _signals(inbox, "SIGTERM", "SIGHUP", "SIGBREAK"):
            return Screen(launch, inbox, Here()).run(asked.prompt, started, asked.timeout)
    except SpawnError as error:
        raise CannotLaunch(str(error), exit_code=error.exit_code) from error
    except (OSError, ValueError) as error:
        raise CannotLaunch(str(error)) from error
    finally:
        guard.dismiss()


@contextlib.contextmanager
def _signals(inbox: Inbox, *names: str) -> Iterator[None]:
    """Signals as messages, while the block runs."""
    numbers = [getattr(signal, name) for name in names or SIGNALS if hasattr(signal, name)]
    before = {number: signal.signal(number, lambda got, _: inbox.put(Signalled(got))) for number in numbers}
    try:
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def _row(launch: Launch, asked: Asked, ledger: Ledger | None, folder: Path) -> rows.Run:
    plan, me = launch.plan, processes.me()
    return rows.Run(
        run_id=launch.run_id,
        project=str(launch.project),
        agent=plan.agent,
        provider=plan.provider,
        controller=plan.controller,
        model=plan.model,
        effort=plan.effort,
        permission=plan.permission,
        cli_version=asked.version,
        plan=_kept_plan(ledger, plan),
        prefix=asked.prefix,
        held=asked.session_prefix,
        folder=str(folder),
        pid=me.pid,
        pid_started=me.started,
        resumed=launch.session_id,
        forked=launch.fork,
        started=time.time(),
    )


def _kept_plan(ledger: Ledger | None, plan: LaunchPlan) -> str | None:
    """A ledger that takes nothing is told of when the run is to be written down."""
    with contextlib.suppress(sqlite3.Error):
        return ledger.keep_plan(plan) if ledger else None
    return None
