"""The project a command is about: its folder, its source text, the names it knows."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.errors import CannotRun
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
    remedy = f"{_CREATE}, or name the project with `--project DIR`"
    raise CannotRun(f"no project here: neither this folder nor one above holds `{AGENTS}/`", remedy=remedy)


_CREATE = f"create `{AGENTS}/NAME.yaml` to start one"


def check_names(root: Path, agents: Iterable[str], providers: Iterable[str]) -> None:
    """Refuse a name that no spec and no provider has: it would silently select nothing.

    Raises:
        CannotRun: there is none of that name.
    """
    for agent in agents:
        _check("agent", agent, agent_names(root))
    for provider in providers:
        _check("provider", provider, provider_names())


def agent_names(root: Path) -> tuple[str, ...]:
    files = (name for name in DiskTree(root).names(AGENTS) if name.endswith(".yaml"))
    return tuple(name.removesuffix(".yaml") for name in files if not name.startswith("_"))


def provider_names() -> tuple[str, ...]:
    """The providers that agentmux knows, in byte order."""
    files = (resources.files("agentmux_compiler") / "providers").iterdir()
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")))


def _check(kind: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        notes = [f"there are {listing(known)}"] if known else [f"there is no {kind} yet"]
        raise CannotRun(f"no {kind} `{name}`", remedy=did_you_mean(name, known), notes=notes)


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
