"""How a run is named on the command line: by its id, by a part of it, or as the latest of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux import project
from agentmux.errors import CannotRun
from agentmux_compiler.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_launcher.ledger import Run

LATEST = "latest"
_LIST = "`agentmux ps --all` lists them"


def unnamed(command: str) -> CannotRun:
    """That a command was given no run."""
    return CannotRun("which run?", remedy=f"`agentmux {command} {LATEST}` takes the newest of this project; {_LIST}")


def find(name: str, known: Sequence[Run], given: str | None) -> Run:
    """The run of an id, of any part of one that no other has, or the latest of the project at `given` or here.

    Raises:
        CannotRun: there is none, or more than one.
    """
    if name == LATEST:
        return _latest(known, str(project.find(given)))
    named = [each for each in known if each.run_id == name]
    found = named or [each for each in known if name and name in each.run_id]
    if len(found) == 1:
        return found[0]
    if found:
        raise CannotRun(f"`{name}` is in the ids of {len(found)} runs", remedy=f"take a longer part; {_LIST}")
    ids = [each.run_id for each in known]
    raise CannotRun(f"no run `{name}`", remedy=did_you_mean(name, ids) or _LIST)


def _latest(known: Sequence[Run], root: str) -> Run:
    """The newest; `known` has the oldest first."""
    run = next((each for each in reversed(known) if each.project == root), None)
    if run is None:
        raise CannotRun("nothing was run in this project yet", remedy="`agentmux ps --all` lists those of all projects")
    return run
