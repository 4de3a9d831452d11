"""`agentmux providers`: the catalog, and which of the CLIs are installed here."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from agentmux.errors import DONE
from agentmux.installed import Installed, look
from agentmux.table import table
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_compiler.render import machine
from agentmux_compiler.render.paint import Paint

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from agentmux.streams import Streams
    from agentmux_compiler.providers.schema import Provider

HEADS = ("PROVIDER", "CLI", "VERIFIED", "HERE", "CONTROLLERS", "DELIVERIES", "PERMISSIONS", "EFFORTS", "MCP")
PERMISSIONS = ("plan", "ask", "edit", "auto", "bypass")


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    catalog = [load_provider(name) for name in NAMES]
    for_people = arguments.format == "full"
    here = installed(catalog) if for_people or arguments.installed else None
    if for_people:
        streams.out.write(listing(catalog, here or {}, Paint(streams.out.color)))
    else:
        streams.out.write(machine.dumps({"providers": [as_json(provider, here) for provider in catalog]}))
    return DONE


def installed(catalog: Sequence[Provider]) -> dict[str, Installed | None]:
    """What this machine has of each; the CLIs are asked at the same time, since some take seconds to answer."""
    with ThreadPoolExecutor(max_workers=len(catalog)) as pool:
        found = pool.map(lambda provider: look(provider.executable, provider.version_argv), catalog)
        return dict(zip((provider.name for provider in catalog), found, strict=True))


def as_json(provider: Provider, here: Mapping[str, Installed | None] | None) -> dict[str, Any]:
    """What the provider supports; `installed` only where this machine was looked at (null: it is not here)."""
    supported = {
        "name": provider.name,
        "aliases": list(provider.aliases),
        "display": provider.display,
        "executable": provider.executable,
        "verified": provider.package.verified,
        "install": provider.package.hint,
        "vendors": list(provider.vendors),
        "backends": dict(provider.backends),
        "controller": provider.controller,
        "controllers": controllers(provider),
        "default_delivery": provider.default_delivery,
        "deliveries": deliveries(provider),
        "permissions": permissions(provider),
        "efforts": efforts(provider),
        "instructions": provider.instructions.written,
        "skills": provider.skills.written,
        "mcp": list(provider.mcp.transports),
        "resume": provider.arguments.resume.resume is not None,
        "fork": provider.arguments.resume.fork is not None,
    }
    if here is None:
        return supported
    found = here[provider.name]
    return {**supported, "installed": {"version": found.version} if found else None}


def controllers(provider: Provider) -> list[str]:
    return [name for name, mode in provider.modes.items() if mode is not None]


def deliveries(provider: Provider) -> list[str]:
    to_file = ["file"] if provider.instructions.written else []
    by_flag = ["flag"] if provider.flag_delivery else []
    return [*to_file, *by_flag, "folder", "startup"]


def permissions(provider: Provider) -> list[str]:
    return [name for name in PERMISSIONS if getattr(provider.arguments.permission, name) is not None]


def efforts(provider: Provider) -> list[str] | None:
    """The accepted values in rising order; empty where the CLI takes none, None where any is taken."""
    option = provider.arguments.effort
    if option is None:
        return []
    return None if option.values is None else list(option.values)


def listing(catalog: Sequence[Provider], here: Mapping[str, Installed | None], paint: Paint) -> str:
    return table(HEADS, [_row(provider, here.get(provider.name)) for provider in catalog], paint)


def _row(provider: Provider, found: Installed | None) -> tuple[str, ...]:
    taken = efforts(provider)
    return (
        provider.name,
        provider.executable,
        provider.package.verified,
        (found.version or "unknown") if found else "-",
        ", ".join(controllers(provider)),
        ", ".join(deliveries(provider)),
        ", ".join(permissions(provider)),
        "any" if taken is None else ", ".join(taken) or "-",
        ", ".join(provider.mcp.transports) or "-",
    )
