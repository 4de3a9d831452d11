"""`agentmux install`: put a provider's CLI, at its verified version, into the managed folder."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

from agentmux import project
from agentmux.clis import cli_of, shown
from agentmux.errors import DONE, CannotRun
from agentmux_compiler.providers import load_provider
from agentmux_compiler.render.visible import visible
from agentmux_compiler.writing.lock import exclusive
from agentmux_launcher import managed
from agentmux_launcher.install import carry_out
from agentmux_launcher.install_plan import CannotInstall, Package, plan

if TYPE_CHECKING:
    import argparse

    from agentmux.streams import Streams
    from agentmux_compiler.providers.schema import Provider
    from agentmux_launcher.install_plan import InstallPlan, Step
    from agentmux_launcher.managed import Installation


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    (name,) = project.check_providers([arguments.provider])
    provider = load_provider(name)
    _require_package(provider)
    try:
        made = plan(cli_of(provider), package_of(provider), os.environ)
        there = managed.finished(made.folder)
        if arguments.dry_run:
            streams.out.write("".join(f"{visible(command(step))}\n" for step in made.steps))
        else:
            installation = there or _installed(made, streams)
            streams.out.line(visible(_result(installation, new=there is None)))
    except CannotInstall as error:
        raise CannotRun(error.message, remedy=error.remedy, notes=error.said) from error
    return DONE


def package_of(provider: Provider) -> Package:
    package = provider.package
    return Package(package.registry, package.name or "", package.companions, package.node, package.python)


def command(step: Step) -> str:
    """A step as a line for a shell; its PATH, where it has one, in front."""
    if sys.platform == "win32":
        return subprocess.list2cmdline(step.argv)
    path = [f"PATH={shlex.quote(os.pathsep.join(step.path))}:$PATH"] if step.path else []
    return " ".join([*path, shlex.join(step.argv)])


def _require_package(provider: Provider) -> None:
    """Refuse what no registry has.

    Raises:
        CannotRun: with the vendor's own command, where one is known.
    """
    package = provider.package
    if not package.installable:
        reason = package.not_installable or "neither npm nor PyPI has it"
        remedy = f"the vendor's own way is `{package.hint}`" if package.hint else None
        raise CannotRun(f"agentmux cannot install `{provider.name}`: {reason}", remedy=remedy)


def _installed(made: InstallPlan, streams: Streams) -> Installation:
    """Install it, unless somebody else has while we waited for them."""
    made.folder.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(made.folder.parent / ".lock"):
        there = managed.finished(made.folder)
        return there or carry_out(made, os.environ, lambda words: streams.err.line(visible(words)))


def _result(installation: Installation, *, new: bool) -> str:
    receipt = installation.receipt
    where = shown(installation.executable, os.environ)
    return f"{receipt.provider} {receipt.version} {'is installed' if new else 'was installed already'}: {where}"
