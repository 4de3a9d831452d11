"""Carry an installation out: run its commands, ask the CLI for its version, write the receipt."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux_launcher import managed
from agentmux_launcher.executable import Executable, Origin
from agentmux_launcher.install_plan import CannotInstall
from agentmux_launcher.versions import every, said

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agentmux_launcher.install_plan import InstallPlan, Step
    from agentmux_launcher.managed import Installation

VERSION_SECONDS = 120.0
TAIL = 12  # lines of a failed command that are shown


def carry_out(plan: InstallPlan, environ: Mapping[str, str], say: Callable[[str], None]) -> Installation:
    """Run the commands, ask the CLI for its version, write the receipt.

    The folder is filled where it stays, since a Python environment cannot be moved: without the receipt, which comes
    last, nobody takes it for an installation. What failed is removed; so is what an interrupted one left.

    Raises:
        CannotInstall: a command failed, or the CLI does not say that it is the version asked for.
        OSError: the folder cannot be made or removed.
    """
    _clear(plan.folder)
    plan.folder.mkdir(parents=True)
    try:
        for step in plan.steps:
            say(step.words)
            _run(step, plan.folder, environ)
        say(f"asking {plan.cli.executable} for its version")
        _check(plan, environ)
        return managed.finish(plan.folder, plan.receipt)
    except BaseException:
        _clear(plan.folder)
        raise


def _clear(folder: Path) -> None:
    """Remove a folder of ours; the receipt goes first, so that no half of it is taken for whole."""
    if folder.is_dir() and not folder.is_symlink():
        (folder / managed.RECEIPT).unlink(missing_ok=True)
        shutil.rmtree(folder)


def _run(step: Step, folder: Path, environ: Mapping[str, str]) -> None:
    path = os.pathsep.join((*step.path, environ.get("PATH", os.defpath)))
    done = subprocess.run(  # noqa: S603  npm or python, with arguments of the catalog
        step.argv,
        cwd=folder,
        env={**environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        command = Path(step.argv[0]).name
        raise CannotInstall(f"`{command}` ended with {done.returncode} while {step.words}", said=lines[-TAIL:])


def _check(plan: InstallPlan, environ: Mapping[str, str]) -> None:
    """Hold the CLI to the version it was installed as: asked in a home of its own, without keys or settings."""
    cli, installed = plan.cli, plan.folder / plan.receipt.executable
    if not installed.is_file():
        raise CannotInstall(f"the package brought no `{cli.executable}`")
    if not cli.version_argv:
        return
    executable = Executable(
        str(installed), Origin.MANAGED, tuple(str(plan.folder / each) for each in plan.receipt.path)
    )
    out, err = _version_output(executable, cli.version_argv, environ)
    told = out.replace(str(plan.folder), "")  # a CLI that says where it lies has not said its version
    if cli.verified not in every(told):
        found = said(told)
        what = f"says it is {found}" if found else "does not say its version"
        lines = [*out.splitlines(), *err.splitlines()]
        raise CannotInstall(f"`{cli.executable}` was installed as {cli.verified}, and {what}", said=lines[-TAIL:])


def _version_output(executable: Executable, argv: Sequence[str], environ: Mapping[str, str]) -> tuple[str, str]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        kept = ("PATH", "SYSTEMROOT", "COMSPEC", "PATHEXT", "TEMP", "TMP", "TMPDIR", "LANG")
        bare = {name: environ[name] for name in kept if name in environ}
        env = executable.environment({**bare, "HOME": home, "USERPROFILE": home, "TERM": "dumb"})
        try:
            done = subprocess.run(  # noqa: S603  what was just installed
                [executable.path, *argv],
                cwd=home,
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=VERSION_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return "", str(error)
    return done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
