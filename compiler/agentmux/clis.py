"""The CLIs of the catalog on this machine: which are there, from where, at which version."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux_launcher.executable import Cli, Origin, find, versions_of
from agentmux_launcher.managed import user_folder
from agentmux_launcher.versions import Standing, standing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentmux_compiler.providers.schema import Provider
    from agentmux_launcher.executable import Executable


@dataclass(frozen=True, slots=True)
class Here:
    """A CLI that this machine has; `version` is None where it did not say one in time."""

    path: str
    origin: Origin
    version: str | None
    standing: Standing


def cli_of(provider: Provider) -> Cli:
    package = provider.package
    return Cli(
        provider=provider.name,
        executable=provider.executable,
        verified=package.verified,
        version_argv=provider.version_argv,
        folders=package.folders,
        hint=package.hint,
        installable=package.installable,
    )


def look(catalog: Sequence[Provider], environ: Mapping[str, str]) -> dict[str, Here | None]:
    """What this machine has of each provider, by name."""
    clis = [cli_of(provider) for provider in catalog]
    found = {cli.provider: executable for cli in clis if (executable := find(cli, environ))}
    there = [cli for cli in clis if cli.provider in found]
    versions = versions_of([(found[cli.provider], cli.version_argv) for cli in there], environ)
    known = {cli.provider: version for cli, version in zip(there, versions, strict=True)}
    return {cli.provider: _here(cli, found, known, environ) for cli in clis}


def _here(
    cli: Cli, found: Mapping[str, Executable], versions: Mapping[str, str | None], environ: Mapping[str, str]
) -> Here | None:
    executable = found.get(cli.provider)
    if executable is None:
        return None
    version = versions[cli.provider]
    return Here(shown(executable.path, environ), executable.origin, version, standing(version, cli.verified))


def shown(path: str | Path, environ: Mapping[str, str]) -> str:
    """A path of this machine as people write it, with `~` for the user's own folder."""
    home = user_folder(environ)
    return f"~/{Path(path).relative_to(home).as_posix()}" if Path(path).is_relative_to(home) else str(path)
