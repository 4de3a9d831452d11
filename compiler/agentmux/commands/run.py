"""`agentmux run`: start an agent's CLI, show what it does, and leave nothing of it behind."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux import project
from agentmux.broken_ledger import unreadable
from agentmux.day import today
from agentmux.errors import CannotRun, refuse
from agentmux.launch import dry_run, launching
from agentmux.launch.first_turn import first_turn, is_text, settle_words
from agentmux.launch.launching import CannotLaunch, Given
from agentmux.launch.needs import meet
from agentmux.launch.preparation import Task, Wanted
from agentmux.launch.running import Asked, carry_out
from agentmux.launch.same_minute import let_it_pass
from agentmux.launch.trusting import settle
from agentmux_compiler.render.visible import visible
from agentmux_launcher.ledger import UNREADABLE, Ledger, LedgerError, Session, path_of
from agentmux_launcher.person import somebody
from agentmux_launcher.pty.values import FAILED_BEFORE
from agentmux_launcher.retention import prune

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from agentmux.launch.preparation import Prepared, Price
    from agentmux.streams import Streams


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    root = project.find(arguments.project)
    project.check_agents(root, [arguments.agent])
    task = _task(arguments, root, streams)
    try:
        with _ledger(streams) as ledger:
            return _launch(arguments, task, ledger, streams)
    except CannotLaunch as error:
        refuse(streams.err, error)
        return error.exit_code
    except UNREADABLE as error:
        refuse(streams.err, unreadable(error))
        return FAILED_BEFORE


def _task(arguments: argparse.Namespace, root: Path, streams: Streams) -> Task:
    settle_words(arguments)
    if not is_text(str(root)):
        raise CannotRun("the project's path is not UTF-8", remedy="rename its folder; the ledger keeps paths as text")
    provider = project.check_providers([arguments.provider])[0] if arguments.provider else None
    session = arguments.resume if arguments.resume is not None else "" if arguments.fork else None
    return Task(
        root=str(root),
        wanted=Wanted(arguments.agent, provider, arguments.model, arguments.effort, arguments.permission),
        today=today(),
        ledger=str(path_of(os.environ)),
        write=not arguments.dry_run,
        color=streams.err.color,
        session=session,
        now=time.time(),
    )


@contextlib.contextmanager
def _ledger(streams: Streams) -> Iterator[Ledger | None]:
    """The user's ledger; without one a run works, and cannot be gone on with."""
    try:
        opened = Ledger(path_of(os.environ))
    except LedgerError as error:
        streams.err.line(f"no ledger, so this run cannot be gone on with by `--resume`: {error}")
        yield None
        return
    with opened:
        yield opened


def _launch(arguments: argparse.Namespace, task: Task, ledger: Ledger | None, streams: Streams) -> int:
    ready, price = launching.prepared(task, streams.err)
    plan = ready.plan
    if plan.controller not in launching.CONTROLLERS:
        raise CannotLaunch(f"`{plan.provider}` is driven by `{plan.controller}`, which `run` cannot do yet")
    given = Given(fork=arguments.fork, trust=arguments.trust)
    session = launching.going_on(task, plan, ledger, fork=arguments.fork)
    if arguments.dry_run:
        _tell(price or launching.price(task, ready, ledger), streams)
        return dry_run.show(launching.dry(ready, Path(task.root), session, given), arguments, streams.out)
    prompt = first_turn(arguments, plan)
    found = launching.find(plan, os.environ, ledger)
    launch = launching.launch(ready, found, Path(task.root), session, given)
    notes = meet(launch, somebody, allowed=arguments.prepare)
    notes += [*settle(launch, somebody), *launching.notes(plan, found, os.environ)]
    if isinstance(session, Session):
        notes += launching.resumed_notes(session, plan, found.version, time.time())
    for note in notes:
        streams.err.line(visible(note))
    price = price or launching.price(task, ready, ledger)
    _tell(price, streams)
    if isinstance(session, Session):
        let_it_pass(session, plan, streams.err)
    held = price.held or (session.prefix if isinstance(session, Session) and ready.keeps else ready.prefix)
    asked = Asked(prompt, arguments.output, arguments.timeout, found.version, ready.prefix, held)
    code = carry_out(launch, asked, ledger, streams)
    _let_go(task, ready, ledger)
    return code


def _tell(price: Price, streams: Streams) -> None:
    """Say what the launch will pay again."""
    for place, line in enumerate(price.lines):
        streams.err.line(f"  {line}" if place else line)


def _let_go(task: Task, ready: Prepared, ledger: Ledger | None) -> None:
    """Let go of what earlier runs left and nobody keeps; no run fails for it."""
    with contextlib.suppress(OSError, *UNREADABLE):
        prune(Path(task.root), ready.kept_runs, time.time())
        if ledger is not None:
            ledger.sweep()
