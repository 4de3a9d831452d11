"""Plan how a provider's CLI gets into the managed folder: the commands, as values that can be shown."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux_launcher import managed
from agentmux_launcher.executable import Cli, which
from agentmux_launcher.managed import Receipt
from agentmux_launcher.versions import said, satisfies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What CLIs that need a newer Node than the machine's are run with; its npm package brings the vendor's own binary.
NODE = "24.21.0"
WINDOWS = sys.platform == "win32"
PYTHONS = ("python3.14", "python3.13", "python3.12", "python3.11", "python3")


class CannotInstall(Exception):  # noqa: N818  it states what happened
    """The CLI was not installed, and why; `said` are the last lines of the command that failed."""

    def __init__(self, message: str, remedy: str | None = None, said: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.said = tuple(said)


@dataclass(frozen=True, slots=True)
class Package:
    """A CLI's package: `companions` are `name@version` (npm) or `name==version` (PyPI).

    `node` and `python` are the requirements of the CLI, None where it has none.
    """

    registry: str
    name: str
    companions: tuple[str, ...] = ()
    node: str | None = None
    python: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A command of an installation, and what is to stand first on its PATH."""

    words: str
    argv: tuple[str, ...]
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """The commands that fill a folder, and the receipt it gets when the CLI has said its version."""

    cli: Cli
    folder: Path
    steps: tuple[Step, ...]
    receipt: Receipt


def plan(cli: Cli, package: Package, environ: Mapping[str, str]) -> InstallPlan:
    """The commands that install a CLI; asks the machine for its Node or Python, and changes nothing.

    Raises:
        CannotInstall: npm, or a Python that the CLI runs on, is not there.
    """
    folder = managed.provider_folder(environ, cli.provider) / cli.verified
    return (_npm if package.registry == "npm" else _pypi)(cli, package, folder, environ)


def _npm(cli: Cli, package: Package, folder: Path, environ: Mapping[str, str]) -> InstallPlan:
    npm = _on_path("npm", environ)
    if npm is None:
        remedy = f"install Node {package.node or ''}".rstrip() + ", which brings npm"
        raise CannotInstall(f"`{cli.provider}` is installed by npm, and npm is not on the PATH", remedy)
    wanted = (f"{package.name}@{cli.verified}", *package.companions)
    own = _needs_own_node(package.node, environ)
    node_folder = folder / "node"
    binaries = node_folder / "node_modules" / "node" / "bin"
    path = (str(binaries),) if own else ()
    steps = [Step(f"installing Node {NODE} for it", _npm_install(npm, node_folder, [f"node@{NODE}"]))] if own else []
    steps.append(Step(f"installing {', '.join(wanted)}", _npm_install(npm, folder, wanted), path))
    receipt = Receipt(
        provider=cli.provider,
        version=cli.verified,
        registry="npm",
        packages=(*wanted, f"node@{NODE}") if own else wanted,
        executable=f"node_modules/.bin/{cli.executable}{'.cmd' if WINDOWS else ''}",
        path=("node/node_modules/node/bin", "node_modules/.bin") if own else ("node_modules/.bin",),
    )
    return InstallPlan(cli, folder, tuple(steps), receipt)


def _npm_install(npm: str, folder: Path, wanted: Sequence[str]) -> tuple[str, ...]:
    options = ("--save-exact", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
    return (npm, "install", "--prefix", str(folder), *options, *wanted)


def _needs_own_node(requirement: str | None, environ: Mapping[str, str]) -> bool:
    """Whether the machine's Node is too old; npm then picks, without a word, an old release that fits it."""
    if requirement is None:
        return False
    node = _on_path("node", environ)
    version = _asked([node, "--version"], environ) if node else None
    return version is None or not satisfies(version, requirement)


def _pypi(cli: Cli, package: Package, folder: Path, environ: Mapping[str, str]) -> InstallPlan:
    python = _python(package.python, environ)
    if python is None:
        raise CannotInstall(
            f"`{cli.provider}` runs on Python {package.python}, and none was found", "install one, then try again"
        )
    wanted = (f"{package.name}=={cli.verified}", *package.companions)
    binaries = "Scripts" if WINDOWS else "bin"
    own = folder / binaries / ("python.exe" if WINDOWS else "python")
    pip = (str(own), "-I", "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--quiet")
    steps = (
        Step("making a Python environment for it", (python, "-I", "-m", "venv", str(folder))),
        Step(f"installing {', '.join(wanted)}", (*pip, *wanted)),
    )
    executable = f"{binaries}/{cli.executable}{'.exe' if WINDOWS else ''}"
    return InstallPlan(cli, folder, steps, Receipt(cli.provider, cli.verified, "pypi", wanted, executable, (binaries,)))


def _python(requirement: str | None, environ: Mapping[str, str]) -> str | None:
    """This interpreter, else the newest one on the PATH that meets the requirement."""
    if requirement is None or satisfies(".".join(map(str, sys.version_info[:3])), requirement):
        return sys.executable
    found = (_on_path(name, environ) for name in PYTHONS)
    asked = ((python, _asked([python, "--version"], environ)) for python in found if python)
    return next((python for python, version in asked if version and satisfies(version, requirement)), None)


def _on_path(name: str, environ: Mapping[str, str]) -> str | None:
    return which(name, environ.get("PATH", os.defpath).split(os.pathsep))


def _asked(argv: Sequence[str], environ: Mapping[str, str]) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603  node or python, as found on the PATH
            argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False, env=environ
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return said(done.stdout.decode("utf-8", "replace"))
