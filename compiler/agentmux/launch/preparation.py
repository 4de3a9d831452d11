"""What a launch needs of the compiler: asked for in a process of its own, and only where sources changed since."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import agentmux
import agentmux_compiler
import agentmux_launcher
from agentmux import __version__
from agentmux.day import today
from agentmux.errors import CannotRun
from agentmux_compiler.tree import digest
from agentmux_compiler.writing import record
from agentmux_launcher.codec import from_json, to_json
from agentmux_launcher.manifest import LaunchPlan
from agentmux_launcher.retention import USUAL, Keep
from agentmux_launcher.startup import Peer

if TYPE_CHECKING:
    from agentmux_launcher.ledger import Ledger, Session

FOLDER = ".agentmux/launch"
FORMAT = 2


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which plan, and what this launch sets besides the spec. No provider: the agent's first."""

    agent: str
    provider: str | None = None
    model: str | None = None
    effort: str | None = None
    permission: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word or "" for word in (self.agent, self.provider, self.model, self.effort, self.permission))

    @property
    def path(self) -> str:
        """Where what was prepared is kept, below the project; the record of what it depends on lies beside it."""
        return f"{FOLDER}/{self.agent}-{digest(json.dumps(self.words).encode())[:12]}.json"


@dataclass(frozen=True, slots=True)
class Task:
    """What the process is asked; `now` is in seconds since 1970.

    `write` says that outputs may be written; `session` is the one that the launch goes on with, empty for the last one.
    `after` is the prefix of a plan that is prepared already and of which only the price is wanted.
    """

    root: str
    wanted: Wanted
    today: str
    ledger: str | None = None
    write: bool = True
    color: bool = False
    session: str | None = None
    after: str | None = None
    now: float = 0.0


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan ready to be launched; `prefix` is its digest in the ledger, None where there is none.

    `keeps` says that a session that goes on has the text it began with, whatever was edited since; `kept_runs` which
    folders of runs the project keeps. `lifetime` is for how many seconds its cache keeps what nobody
    uses, None where that is not known.
    """

    plan: LaunchPlan
    peers: tuple[Peer, ...] = ()
    prefix: str | None = None
    keeps: bool = False
    kept_runs: Keep = USUAL
    lifetime: int | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """What a launch pays again: a line that says it, then one for each change.

    `held` is the digest of what a session that goes on really sends, None where nobody has compared it.
    """

    lines: tuple[str, ...] = ()
    held: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a task: `said` is for stderr, `price` None where nobody has asked."""

    prepared: Prepared | None = None
    said: str = ""
    price: Price | None = None


def session_of(ledger: Ledger, task: Task, provider: str) -> Session | None:
    """The session that a launch goes on with, as the ledger knows it."""
    if task.session:
        return ledger.session(provider, task.session)
    return ledger.last_session(task.root, task.wanted.agent, provider)


def key_of(wanted: Wanted, day: str) -> record.Key:
    return record.Key(__version__, ("run", *wanted.words), day)


def record_path(wanted: Wanted) -> str:
    return wanted.path.removesuffix(".json") + ".record"


def fresh(root: Path, wanted: Wanted) -> Prepared | None:
    """What an earlier launch prepared, if nothing that it depends on has changed since."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        value = json.loads((root / wanted.path).read_bytes())
        stands = record.load_fresh(root, key_of(wanted, today()), record_path(wanted)) is not None
        if stands and value["format"] == FORMAT:
            return from_json(Prepared, value["prepared"])
    return None


def kept(prepared: Prepared) -> bytes:
    """The bytes that `fresh` reads."""
    return json.dumps({"format": FORMAT, "prepared": to_json(prepared)}, ensure_ascii=False).encode()


def ask(task: Task) -> Answer:
    """Have it done.

    Raises:
        CannotRun: the process ended without an answer.
    """
    sources = {
        str(Path(module.__file__ or "").parents[1]) for module in (agentmux, agentmux_compiler, agentmux_launcher)
    }
    done = subprocess.run(  # noqa: S603  our own
        [sys.executable, "-P", "-m", "agentmux.launch.prepare", json.dumps(to_json(task))],
        stdout=subprocess.PIPE,
        check=False,
        start_new_session=True,  # Ctrl-C is for the launcher, which then ends it without a word
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sorted(sources))},
    )
    try:
        return from_json(Answer, json.loads(done.stdout))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise CannotRun(f"the compiler ended with {done.returncode} and without an answer") from None
