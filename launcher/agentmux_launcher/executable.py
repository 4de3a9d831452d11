"""Find a provider's CLI on this machine, ask for its version, say how to get it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux_launcher import managed
from agentmux_launcher.versions import said

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentmux_launcher.manifest import LaunchPlan

TIMEOUT = 30.0  # seconds; some CLIs take eight to print their version
_TOGETHER = 4
_LONGEST = 1 << 16


class Origin(StrEnum):
    """Where an executable was found."""

    MANAGED = "managed"
    PATH = "path"
    VENDOR = "vendor"


@dataclass(frozen=True, slots=True)
class Cli:
    """A provider's CLI as the catalog has it: `folders` are its vendor's own, `hint` is the vendor's own command."""

    provider: str
    executable: str
    verified: str
    version_argv: tuple[str, ...] = ("--version",)
    folders: tuple[str, ...] = ()
    hint: str = ""
    installable: bool = False


@dataclass(frozen=True, slots=True)
class Executable:
    """A CLI that is there; `folders` are to stand first on the PATH of whoever runs it."""

    path: str
    origin: Origin
    folders: tuple[str, ...] = ()

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The environment in which it finds what was installed with it."""
        path = os.pathsep.join((*self.folders, environ.get("PATH", os.defpath)))
        return {**environ, "PATH": path} if self.folders else dict(environ)


def cli_of(plan: LaunchPlan) -> Cli:
    """The CLI of a launch plan."""
    return Cli(
        provider=plan.provider,
        executable=plan.executable,
        verified=plan.cli_version,
        version_argv=plan.version_argv,
        folders=plan.install_folders,
        hint=plan.install_hint,
        installable=plan.installable,
    )


def find(cli: Cli, environ: Mapping[str, str]) -> Executable | None:
    """The managed folder before the PATH before the folders that the vendor's installer uses."""
    installation = managed.installed(environ, cli.provider, cli.verified)
    if installation is not None and (brought := _brought(installation, cli.executable)):
        return Executable(brought, Origin.MANAGED, installation.path)
    for origin, folders in (
        (Origin.PATH, environ.get("PATH", os.defpath).split(os.pathsep)),
        (Origin.VENDOR, [expanded(folder, environ) for folder in cli.folders]),
    ):
        path = which(cli.executable, folders)
        if path is not None:
            return Executable(path, origin)
    return None


def _brought(installation: managed.Installation, name: str) -> str | None:
    """An executable of an installation: the one that it is for, or one that a companion brings."""
    own = installation.executable
    return str(own) if own.stem == name else which(name, [str(own.parent.absolute())])


def which(name: str, folders: Sequence[str]) -> str | None:
    """An executable in one of the folders; a relative one, which means something else in every place, is left out."""
    absolute = [folder for folder in folders if Path(folder).is_absolute()]
    return shutil.which(name, path=os.pathsep.join(absolute)) if absolute else None


def expanded(folder: str, environ: Mapping[str, str]) -> str:
    """A vendor's folder with `~` and `%NAME%` replaced; what has no value leaves it relative, so that nobody looks."""
    text = re.sub(r"%(\w+)%", lambda match: environ.get(match[1], ""), folder)
    return str(managed.user_folder(environ) / text[2:]) if text.startswith("~/") else text


def versions_of(
    asked: Sequence[tuple[Executable, Sequence[str]]], environ: Mapping[str, str], seconds: float = TIMEOUT
) -> list[str | None]:
    """The versions that CLIs say they are, in the order asked; None where one says none in time.

    A few at a time are asked together, since some take seconds; one that takes longer is ended with all it started.
    """
    waves = [asked[start : start + _TOGETHER] for start in range(0, len(asked), _TOGETHER)]
    return [version for wave in waves for version in _wave(wave, environ, seconds)]


def version_of(
    executable: Executable, argv: Sequence[str], environ: Mapping[str, str], seconds: float = TIMEOUT
) -> str | None:
    """As `versions_of`, for one."""
    return versions_of([(executable, argv)], environ, seconds)[0]


def remedy(cli: Cli) -> str | None:
    """How to get a CLI that is not there, None where nobody knows."""
    ways = [f"run `agentmux install {cli.provider}`"] if cli.installable else []
    ways += [f"the vendor's own way is `{cli.hint}`"] if cli.hint else []
    return "; ".join(ways) or None


def _wave(
    asked: Sequence[tuple[Executable, Sequence[str]]], environ: Mapping[str, str], seconds: float
) -> list[str | None]:
    deadline = time.monotonic() + seconds
    children: list[subprocess.Popen[bytes] | None] = []
    try:
        for executable, argv in asked:
            children.append(_started([executable.path, *argv], executable.environment(environ)))
        return [_answer(child, deadline) for child in children]
    finally:
        for child in children:
            if child is not None:
                _end(child)


def _started(argv: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes] | None:
    try:
        return subprocess.Popen(  # noqa: S603  the CLI that the catalog names
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            bufsize=0,  # so that it can be closed while something is waited for
            stderr=subprocess.DEVNULL,
            env=environ,
            start_new_session=True,
        )
    except OSError:
        return None


def _answer(child: subprocess.Popen[bytes] | None, deadline: float) -> str | None:
    if child is None:
        return None
    words = bytearray()
    reader = threading.Thread(target=_read, args=(child, words), daemon=True, name="version")
    reader.start()
    reader.join(max(0, deadline - time.monotonic()))
    if reader.is_alive():
        return None
    if len(words) < _LONGEST:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(max(0, deadline - time.monotonic()))
    return said(words[:_LONGEST].decode("utf-8", "replace"))


def _read(child: subprocess.Popen[bytes], words: bytearray) -> None:
    """All it says, but no more than a version can take."""
    assert child.stdout is not None  # noqa: S101  it was asked for
    with contextlib.suppress(OSError, ValueError):
        while len(words) < _LONGEST and (data := child.stdout.read(_LONGEST)):
            words += data


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a child that did not answer, and its group: a CLI may be a script that started the real one.

    Nobody has waited for it yet, so that its number is not another's.
    """
    if child.returncode is None:
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                child.kill()
            else:
                os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    if child.stdout:
        child.stdout.close()
