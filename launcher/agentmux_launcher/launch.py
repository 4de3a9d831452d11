"""All that a run is started with, and the environment its CLI gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux_launcher.arguments import expand, json_literal
from agentmux_launcher.manifest import LaunchPlan
from agentmux_launcher.processes import RUN_ID
from agentmux_launcher.pty.values import Command, Size, Wiring
from agentmux_launcher.usage import ZERO, Start, Tokens

if TYPE_CHECKING:
    from agentmux_launcher.executable import Executable

AGENT_ID = "AGENTMUX_AGENT_ID"
_TERMINAL = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


@dataclass(frozen=True, slots=True)
class Launch:
    """One run's beginning. `project` is absolute, `executable` the CLI's path, `env` the child's whole environment.

    `opening` is what stands in front of the first turn of a new session. `session_id` is the session that the run goes
    on with, or takes a copy of (`fork`); `counters` what its counters stood at, null where nobody knows. `trusted` says
    that the CLI may be told to trust the folder it runs in.
    """

    plan: LaunchPlan
    project: Path
    executable: str
    env: Mapping[str, str] = field(repr=False)
    run_id: str
    size: Size = field(default_factory=Size)
    opening: str = field(default="", repr=False)
    session_id: str | None = None
    fork: bool = False
    counters: Tokens | None = ZERO
    trusted: bool = False

    @property
    def wiring(self) -> Wiring:
        return Wiring(**self.plan.stdio)  # type: ignore[arg-type]

    @property
    def start(self) -> Start:
        """How its first process begins."""
        return Start(resumed=True, counters=self.counters) if self.session_id else Start()

    def slots(self, prompt: str | None) -> dict[str, str]:
        """Values of the plan's slots for its first process."""
        going_on = {} if self.session_id is None else {"fork" if self.fork else "resume": self.session_id}
        return {**self.always, **going_on} if prompt is None else {**self.always, **going_on, "prompt": prompt}

    @property
    def folder(self) -> str:
        """Where the CLI runs."""
        return str((self.project / self.plan.cwd).resolve())

    @property
    def always(self) -> dict[str, str]:
        """Values of slots that every process of the run has. A folder stands in a string of JSON or TOML."""
        return {"trust": json_literal(self.folder)[1:-1]} if self.trusted else {}

    def command(self, slots: Mapping[str, str]) -> Command:
        """What to start.

        Raises:
            OSError: a file of the plan is not there.
            ValueError: the prompt is too long to be an argument.
        """
        argv = expand(self.plan.argv, self._text, slots)
        return Command([self.executable, *argv], self.env, self.folder)

    def _text(self, path: str) -> str:
        return (self.project / path).read_bytes().decode("utf-8")


def environment(
    plan: LaunchPlan, executable: Executable, run_id: str, environ: Mapping[str, str], *, trusted: bool = False
) -> dict[str, str]:
    """The child's environment: ours, less what belongs to an outer agent, and what the plan says.

    Where the CLI's screen is passed through, its terminal is the one we are in, and keeps its name.
    """
    screen = plan.stdio.get("stdin") == "pty"
    inherited = {name: value for name, value in environ.items() if name not in plan.env.unset}
    child = {
        **(_TERMINAL | _own_terminal(environ) if screen else _TERMINAL),
        **inherited_without_terminal(inherited),
        "TERM_PROGRAM": "agentmux",
        RUN_ID: run_id,
        "AGENTMUX_BLOCKID": run_id,
        AGENT_ID: plan.agent,
        **(plan.gate.set if plan.gate and trusted else {}),
        **plan.env.set,
        **{name: environ[source] for name, source in plan.env.renamed.items() if source in environ},
        **{name: environ[name] for name in plan.env.passed if name in environ},
    }
    return executable.environment(child)


def missing(plan: LaunchPlan, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Variables that the plan passes on and that have no value here."""
    wanted = {*plan.env.passed, *plan.env.renamed.values()}
    if plan.mcp_servers:
        from agentmux_launcher.acp.handshake import variables  # noqa: PLC0415  for plans that have such servers

        wanted |= variables(plan.mcp_servers)
    return tuple(sorted(name for name in wanted if name not in environ))


def inherited_without_terminal(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name not in _TERMINAL}


def _own_terminal(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: environ[name] for name in _TERMINAL if name in environ}
