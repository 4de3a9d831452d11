"""What a plan's CLI wants of the user: trust in a folder, without which it holds things back, and what it must find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.lowering.modes import controller_of, trusting
from agentmux_launcher.manifest import Gate, Need, UserEntry

if TYPE_CHECKING:
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema import Provider

HOME = "~"


def gate_of(site: Site) -> Gate | None:
    """None where the CLI has none, or nobody knows."""
    provider, trust = site.provider, site.provider.trust
    controller = controller_of(provider, site.use)
    if trust.gate in {"none", "unknown"} or controller in trust.absent_for:
        return None
    openable = bool(trust.set or trusting(provider, controller))
    return Gate(trust.gate, trust.drops, trust.set, openable, trust_entry(provider))


def needs_of(provider: Provider) -> tuple[Need, ...]:
    """What the CLI does not start without."""
    found = ((need, _entry(provider, need.file, need.entry)) for need in provider.before_launch)
    return tuple(Need(need.given, entry, need.lacks) for need, entry in found if entry)


def trust_entry(provider: Provider) -> UserEntry | None:
    """The user's own file that opens the gate for good, None where nothing is known of one."""
    file, entry = provider.trust.file, provider.trust.entry
    return _entry(provider, file, entry) if file and entry and "unknown" not in {file, entry} else None


def _entry(provider: Provider, file: str, entry: str) -> UserEntry | None:
    """An entry of the user's own file; None where nobody knows which folder it moves with."""
    variable, folder = provider.variables.config_dir, provider.variables.config_folder or HOME
    if "unknown" in {variable, folder}:
        return None
    if file.startswith(f"{folder}/"):
        return UserEntry(file.removeprefix(f"{folder}/"), entry, folder, variable)
    return UserEntry(file.removeprefix(f"{HOME}/"), entry)
