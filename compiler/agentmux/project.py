"""The project a command is about: its folder, its source text, the names it knows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.errors import CannotRun
from agentmux_compiler.providers import NAMES, canonical
from agentmux_compiler.suggest import did_you_mean, listing
from agentmux_compiler.tree import DiskTree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

AGENTS = "agents.d"


def find(given: str | None) -> Path:
    """The folder given, else the nearest one from here upwards that holds `agents.d/`.

    Raises:
        CannotRun: there is none.
    """
    if given is not None:
        root = Path(given)
        if not (root / AGENTS).is_dir():
            raise CannotRun(f"`{given}` holds no `{AGENTS}/`", remedy=_CREATE)
        return root.resolve()
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / AGENTS).is_dir():
            return folder
    remedy = f"{_CREATE}, `--project DIR` names another"
    raise CannotRun(f"no project here: neither this folder nor one above holds `{AGENTS}/`", remedy=remedy)


_CREATE = "`agentmux init` starts one"


def check_agents(root: Path, names: Sequence[str]) -> tuple[str, ...]:
    """The names as given; one that no spec has is refused, since it would silently select nothing.

    Raises:
        CannotRun: there is no agent of that name.
    """
    known = agent_names(root) if names else ()
    for name in names:
        if name not in known:
            raise _unknown("agent", name, known)
    return tuple(names)


def check_providers(names: Iterable[str]) -> tuple[str, ...]:
    """The names, aliases replaced.

    Raises:
        CannotRun: there is no provider of that name.
    """
    return tuple(_provider(name) for name in names)


def _provider(name: str) -> str:
    provider = canonical(name)
    if provider is None:
        raise _unknown("provider", name, NAMES)
    return provider


def agent_names(root: Path) -> tuple[str, ...]:
    files = (name for name in DiskTree(root).names(AGENTS) if name.endswith(".yaml"))
    return tuple(name.removesuffix(".yaml") for name in files if not name.startswith("_"))


def _unknown(kind: str, name: str, known: Sequence[str]) -> CannotRun:
    notes = [f"there are {listing(known)}"] if known else [f"there is no {kind} yet"]
    return CannotRun(f"no {kind} `{name}`", remedy=did_you_mean(name, known), notes=notes)


def source_reader(root: Path) -> Callable[[str], str | None]:
    """Source text by path as the stages see it: no byte order mark, LF; None where it cannot be shown."""
    tree = DiskTree(root)

    def read(path: str) -> str | None:
        try:
            data = tree.read(path)
        except OSError:
            return None
        if data is None:
            return None
        return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")

    return read
