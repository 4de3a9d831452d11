"""By which of its provider's ways an MCP server reaches a plan's CLI."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler.suggest import listing

if TYPE_CHECKING:
    from agentmux_compiler.agent import Server
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema import Provider

_STARTED = {"started", "deferred", "if-trusted"}


def transport_of(server: Server) -> str:
    return "http" if server.url is not None else "stdio"


def starts_in_session(provider: Provider) -> bool:
    """Whether the provider's agent starts servers over stdio that its session names."""
    return provider.acp is not None and provider.acp.servers.stdio in _STARTED


def way_of(site: Site, server: Server) -> str:
    """`session` where an agent starts such servers there, else the way that the catalog names; `none` without one."""
    mcp, acp, transport = site.provider.mcp, site.provider.acp, transport_of(server)
    if acp is not None and site.mode.prompt_delivery == "acp" and getattr(acp.servers, transport) in _STARTED:
        return "session"
    possible = mcp.way == "settings" or (mcp.way in {"file-flag", "arguments"} and "mcp" in site.mode.takes)
    return mcp.way if possible and transport in mcp.transports else "none"


def other_way(site: Site, server: Server) -> str:
    """How the provider could be given a server all the same, or that it cannot."""
    mcp, name = site.provider.mcp, site.provider.name
    driven = [
        f"`controller: {controller}`"
        for controller, mode in site.provider.modes.items()
        if mode is not None and way_of(replace(site, use=replace(site.use, controller=controller)), server) != "none"
    ]
    without = f"write `mcp: false` under `providers.{name}`, and it goes without servers"
    if driven:
        return f"write {' or '.join(driven)} under `providers.{name}`"
    others = mcp.way in {"file-flag", "arguments", "settings"} and mcp.transports
    return f"it takes servers over {listing(mcp.transports)}; {without}" if others else without
