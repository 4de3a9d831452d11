"""The gate of a plan's CLI: what it holds back from a folder that it does not trust, and what opens it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.lowering.modes import controller_of, trusting
from agentmux_launcher.manifest import Gate, TrustFile

if TYPE_CHECKING:
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema import Provider

HOME = "~"
_NOT_KNOWN = {None, "unknown"}


def gate_of(site: Site) -> Gate | None:
    """None where the CLI has none, or nobody knows."""
    provider, trust = site.provider, site.provider.trust
    if trust.gate in {"none", "unknown"}:
        return None
    openable = bool(trust.set or trusting(provider, controller_of(provider, site.use)))
    return Gate(trust.gate, trust.drops, trust.set, openable, None if openable else trust_file(provider))


def trust_file(provider: Provider) -> TrustFile | None:
    """The user's own file that opens the gate for good, None where nothing is known of one."""
    trust, variables = provider.trust, provider.variables
    if (
        trust.file in _NOT_KNOWN
        or trust.entry in _NOT_KNOWN
        or "unknown" in {variables.config_dir, variables.config_folder}
    ):
        return None
    file, entry, folder = str(trust.file), str(trust.entry), variables.config_folder or HOME
    if file.startswith(f"{folder}/"):
        return TrustFile(file.removeprefix(f"{folder}/"), entry, folder, variables.config_dir)
    return TrustFile(file.removeprefix(f"{HOME}/"), entry)
