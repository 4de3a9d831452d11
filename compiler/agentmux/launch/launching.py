"""From what a person asked for to a launch: the plan, the CLI on this machine, the session, what it will cost."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux import __version__
from agentmux.day import today
from agentmux.errors import CannotRun
from agentmux.launch.cached import before
from agentmux.launch.preparation import Answer, Prepared, Price, Task, ask, fresh, session_of
from agentmux_launcher import executable as executables
from agentmux_launcher.codec import from_json
from agentmux_launcher.executable import Executable, Origin, cli_of
from agentmux_launcher.launch import Launch, environment, missing
from agentmux_launcher.ledger_schema import UNREADABLE
from agentmux_launcher.pty import size_here
from agentmux_launcher.pty.values import FAILED_BEFORE, NOT_FOUND
from agentmux_launcher.run_folder import new_id
from agentmux_launcher.startup import Identity, opening
from agentmux_launcher.usage import ZERO, Tokens
from agentmux_launcher.versions import Standing, between, numbers, standing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentmux.streams import Stream
    from agentmux_launcher.ledger import Ledger, Run, Session
    from agentmux_launcher.manifest import LaunchPlan
    from agentmux_launcher.pty import Size

CONTROLLERS = ("persistent", "subprocess", "acp", "terminal")


class CannotLaunch(CannotRun):
    """Nothing was started; `exit_code` says how far it came."""

    def __init__(self, message: str, *, exit_code: int = FAILED_BEFORE, remedy: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class Found:
    """The CLI of a plan on this machine; `version` is None where it does not say one."""

    executable: Executable
    version: str | None


@dataclass(frozen=True, slots=True)
class Given:
    """What a launch was given besides its plan: a copy of a session, trust in the folder."""

    fork: bool = False
    trust: bool = False


def prepared(task: Task, err: Stream) -> tuple[Prepared, Price | None]:
    """The plan, compiled if sources changed, and then its price; says on `err` what is wrong.

    Raises:
        CannotLaunch: it does not compile.
    """
    ready = fresh(Path(task.root), task.wanted)
    answer = Answer(ready) if ready else ask(task)
    err.write(answer.said)
    if answer.prepared is None:
        raise CannotLaunch("nothing was started")
    return answer.prepared, answer.price


def price(task: Task, ready: Prepared, ledger: Ledger | None) -> Price:
    """What a plan that was prepared earlier will pay; the compiler is asked only where that may be something."""
    known = () if ledger is None else before(ledger, task, ready.plan.provider)
    if not known or ready.prefix is None:
        return Price()
    alive = [each for each in known if ready.lifetime is None or each.age(task.now) <= ready.lifetime]
    goes_on = known[0].scenario == "resume"
    if ready.prefix in {each.prefix for each in (alive if goes_on else (*alive, known[0]))}:
        return Price()
    return ask(replace(task, after=ready.prefix)).price or Price()


def find(plan: LaunchPlan, environ: Mapping[str, str], ledger: Ledger | None) -> Found:
    """The plan's CLI and its version.

    Raises:
        CannotLaunch: it is not installed; says how to get it.
    """
    cli = cli_of(plan)
    found = executables.find(cli, environ)
    if found is None:
        message = f"`{plan.executable}` is not installed"
        raise CannotLaunch(message, exit_code=NOT_FOUND, remedy=executables.remedy(cli))
    return Found(found, _version(plan, found, environ, ledger))


def _version(plan: LaunchPlan, found: Executable, environ: Mapping[str, str], ledger: Ledger | None) -> str | None:
    """What the CLI says its version is. Some take seconds to, so it is asked once for each file."""
    managed = found.origin is Origin.MANAGED and plan.own_version is None
    if managed and plan.cli_version in Path(found.path).parts:
        return plan.cli_version
    path = os.path.realpath(found.path)
    status = Path(path).stat()
    stamp = f"{status.st_size} {status.st_mtime_ns}"
    known = ledger.version(path, stamp) if ledger else None
    if known is None:
        known = executables.version_of(found, plan.version_argv or ("--version",), environ)
        if known and ledger:
            with contextlib.suppress(*UNREADABLE):
                ledger.keep_version(path, stamp, known)
    return known


def going_on(task: Task, plan: LaunchPlan, ledger: Ledger | None, *, fork: bool) -> Session | str | None:
    """The session that the launch goes on with: as the ledger knows it, by its id alone, or none.

    Raises:
        CannotLaunch: there is none, it is in use, or the provider cannot.
    """
    if task.session is None:
        return None
    slot = "fork" if fork else "resume"
    if not plan.can(slot):
        raise CannotLaunch(f"`{plan.provider}` cannot {slot} a session")
    known = session_of(ledger, task, plan.provider) if ledger else None
    if known is None and not task.session:
        raise CannotLaunch(f"no session of `{plan.agent}` on `{plan.provider}` is known to go on with")
    if ledger and known is None:
        _check_owner(task.session, plan, ledger)
    if known and ledger and not fork:
        run = next((run for run in ledger.runs() if _uses(run, known) and run.running), None)
        if run:
            raise CannotLaunch(
                f"the session is in use by the run `{run.run_id}`", remedy="add `--fork` for a copy of it"
            )
    return known or task.session


def _check_owner(session_id: str, plan: LaunchPlan, ledger: Ledger) -> None:
    owner = next((run.provider for run in ledger.runs() if run.session_id == session_id), plan.provider)
    if owner != plan.provider:
        raise CannotLaunch(f"`{session_id}` is a session of `{owner}`", remedy=f"add `--provider {owner}`")


def _uses(run: Run, session: Session) -> bool:
    """Whether a run has a session, or has gone on with it and not yet been answered."""
    gone_on = None if run.forked else run.resumed
    return run.provider == session.provider and session.session_id in {run.session_id, gone_on}


def changed(session: Session, plan: LaunchPlan, version: str | None) -> list[str]:
    """What is not as it was when a session was last used, besides its prompt."""
    pairs = {
        "agent": (session.agent, plan.agent),
        "model": (session.model, plan.model),
        "effort": (session.effort, plan.effort),
        "permission": (session.permission, plan.permission),
        "version of the CLI": (session.cli_version, version),
    }
    return [f"{name}: {old or 'default'}, now {new or 'default'}" for name, (old, new) in pairs.items() if old != new]


def launch(ready: Prepared, found: Found, root: Path, session: Session | str | None, given: Given) -> Launch:
    """All that is needed to start."""
    plan, run_id = ready.plan, new_id()
    return Launch(
        plan=plan,
        project=root,
        executable=found.executable.path,
        env=environment(plan, found.executable, run_id, os.environ, trusted=given.trust),
        run_id=run_id,
        size=_size(),
        opening="" if session else _opening(ready, root),
        session_id=session if isinstance(session, str) or session is None else session.session_id,
        fork=given.fork,
        trusted=given.trust,
        counters=ZERO if session is None else _counters(session),
    )


def _size() -> Size:
    """That of the terminal which shows the run; a stream that was closed before the start (`>&-`) is none."""
    shows = sys.stdout is not None and sys.stdout.isatty()
    return size_here(sys.stdout.fileno() if shows else -1)


def dry(ready: Prepared, root: Path, session: Session | str | None, given: Given) -> Launch:
    """What would be started: the CLI by its name where it is not here."""
    plan = ready.plan
    found = executables.find(cli_of(plan), os.environ) or Executable(plan.executable, Origin.PATH)
    return launch(ready, Found(found, None), root, session, given)


def _opening(ready: Prepared, root: Path) -> str:
    plan = ready.plan
    identity = Identity(plan.display, plan.agent, plan.provider, str(root / plan.cwd), __version__, today())
    return opening(identity, plan.startup, ready.peers)


def _counters(session: Session | str) -> Tokens | None:
    if isinstance(session, str) or session.counters is None:
        return None
    return from_json(Tokens, json.loads(session.counters))


def notes(plan: LaunchPlan, found: Found, environ: Mapping[str, str]) -> list[str]:
    """What a person should know of the CLI and its environment before it starts."""
    said = _version_notes(plan, found.version) if found.version else []
    return said + [f"`{name}` has no value here, and the plan passes it on" for name in missing(plan, environ)]


def _version_notes(plan: LaunchPlan, version: str) -> list[str]:
    """How the version that is here stands to the one that the plan is for, and what is known to be wrong with it."""
    wanted = plan.own_version or plan.cli_version
    if standing(version, wanted) is Standing.VERIFIED:
        return []
    named = f"{plan.executable} {version}"
    if not numbers(wanted):
        return [f"{named}: no version of it has been verified"]
    kind = "version that the spec names" if plan.pinned and plan.own_version is None else "verified version"
    faults = (fault for fault in plan.version_faults if between(version, fault.since, fault.before))
    known = [f"{named}: {fault.what}{f', until {fault.before}' if fault.before else ''}" for fault in faults]
    return [f"{named} is not the {kind}, {wanted}", *known]


def resumed_notes(session: Session, plan: LaunchPlan, version: str | None, now: float) -> list[str]:
    """What goes on, what of it changed, and how much of it a cold cache would pay again."""
    used = dt.datetime.fromtimestamp(session.updated, dt.UTC).strftime("%Y-%m-%d %H:%M")
    age = max(0, int(now - session.updated)) // 60
    size = f", {session.context_tokens:,} tokens" if session.context_tokens else ""
    said = [f"going on with the session `{session.session_id}`{size}, last used {used} UTC ({age} minutes ago)"]
    return said + [f"  other {each}" for each in changed(session, plan, version)]
