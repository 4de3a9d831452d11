"""Which version of which executable a plan is for, and what is known of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_launcher.manifest import VersionFault

if TYPE_CHECKING:
    from agentmux_compiler.providers.schema import Provider
    from agentmux_compiler.providers.schema_modes import Mode


def own_version(mode: Mode) -> str | None:
    """The verified version of an executable that a package of its own brings, None for the provider's own."""
    return mode.package.rpartition("@")[2] if mode.package else None


def version_faults(provider: Provider) -> tuple[VersionFault, ...]:
    """What is known to be wrong with versions of the provider's CLI."""
    return tuple(VersionFault(fault.since, fault.before, fault.what) for fault in provider.version_faults)
