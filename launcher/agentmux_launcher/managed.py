"""The managed folder: CLIs that `agentmux install` put there, each with a receipt that says it is whole."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux_launcher.codec import from_json, to_json
from agentmux_launcher.versions import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HOME_VARIABLE = "AGENTMUX_HOME"
RECEIPT = "installed.json"


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an installation consists of; it is written last, and a folder without one is unfinished.

    `executable` and the folders of `path` (to stand first on the child's PATH) are POSIX paths below the folder.
    """

    provider: str
    version: str
    registry: str
    packages: tuple[str, ...]
    executable: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Installation:
    """A finished installation and its folder."""

    folder: Path
    receipt: Receipt

    @property
    def executable(self) -> Path:
        return self.folder / self.receipt.executable

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(str(self.folder / folder) for folder in self.receipt.path)


def home(environ: Mapping[str, str]) -> Path:
    """`AGENTMUX_HOME`, else `.agentmux` in the user's own folder."""
    named = environ.get(HOME_VARIABLE)
    return Path(named).absolute() if named else user_folder(environ) / ".agentmux"


def user_folder(environ: Mapping[str, str]) -> Path:
    named = environ.get("HOME") or environ.get("USERPROFILE")
    return Path(named) if named else Path.home()


def provider_folder(environ: Mapping[str, str], provider: str) -> Path:
    return home(environ) / "shared" / "cli" / provider


def installed(environ: Mapping[str, str], provider: str, preferred: str) -> Installation | None:
    """The finished installation of the preferred version, else of the newest that is there."""
    found = {each.receipt.version: each for each in _installations(provider_folder(environ, provider))}
    newest = max(found, key=lambda version: (numbers(version), version), default="")
    return found.get(preferred) or found.get(newest)


def finished(folder: Path) -> Installation | None:
    """The installation in a folder, None where there is no receipt, or none that can be read, or no executable."""
    try:
        receipt = from_json(Receipt, json.loads((folder / RECEIPT).read_bytes()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    installation = Installation(folder, receipt)
    return installation if installation.executable.is_file() else None


def finish(folder: Path, receipt: Receipt) -> Installation:
    """Write the receipt, which is what makes an installation one."""
    text = json.dumps(to_json(receipt), indent=1, sort_keys=True) + "\n"
    temporary = folder / f".{RECEIPT}"
    temporary.write_bytes(text.encode())
    temporary.replace(folder / RECEIPT)
    return Installation(folder, receipt)


def _installations(folder: Path) -> Iterator[Installation]:
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return
    for name in names:
        installation = finished(folder / name)
        if installation is not None and installation.receipt.version == name:
            yield installation
