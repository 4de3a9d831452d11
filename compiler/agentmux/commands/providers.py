"""`agentmux providers`: the catalog, and which of the CLIs are installed here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from agentmux.clis import cli_of, look
from agentmux.errors import DONE
from agentmux.table import table
from agentmux_compiler.agent import Delivery
from agentmux_compiler.lowering import site
from agentmux_compiler.lowering.modes import own_mode, permissions_of
from agentmux_compiler.prefix.backends import choose
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_compiler.render import machine
from agentmux_compiler.render.paint import Paint
from agentmux_compiler.render.visible import visible
from agentmux_launcher.codec import to_json
from agentmux_launcher.executable import remedy
from agentmux_launcher.versions import Standing

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from agentmux.clis import Here
    from agentmux.streams import Streams
    from agentmux_compiler.providers.schema import Provider

HEADS = ("PROVIDER", "CLI", "VERIFIED", "HERE", "WHERE", "CONTROLLERS", "DELIVERIES", "PERMISSIONS", "EFFORTS", "MCP")
PERMISSIONS = ("plan", "ask", "edit", "auto", "bypass")
UNVERIFIED = "unknown"
DIFFERENCES = {
    Standing.OLDER: "is older than {verified}, which the catalog was verified with",
    Standing.NEWER: "is newer than {verified}, which the catalog was verified with",
    Standing.OTHER: "is not {verified}, which the catalog was verified with",
}


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    catalog = [load_provider(name) for name in NAMES]
    for_people = arguments.format == "full"
    here = look(catalog, os.environ) if for_people or arguments.installed else None
    if for_people:
        streams.out.write(listing(catalog, here or {}, Paint(streams.out.color)))
    else:
        known = {"providers": [as_json(provider) for provider in catalog]}
        streams.out.write(machine.dumps(known if here is None else {**known, "installed": machine_part(here)}))
    return DONE


def machine_part(here: Mapping[str, Here | None]) -> dict[str, Any]:
    """What this machine has, by provider; null: it is not here. All else of the JSON is the same everywhere."""
    return {name: None if found is None else to_json(found) for name, found in here.items()}


def as_json(provider: Provider) -> dict[str, Any]:
    """What the provider supports."""
    return {
        "name": provider.name,
        "aliases": list(provider.aliases),
        "display": provider.display,
        "executable": provider.executable,
        "verified": provider.package.verified,
        "source": provider.package.source,
        "install": provider.package.hint,
        "vendors": list(provider.vendors),
        "backends": {vendor: choose(vendor, None) for vendor in provider.vendors},
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


def controllers(provider: Provider) -> list[str]:
    return [name for name, mode in provider.modes.items() if mode is not None]


def deliveries(provider: Provider) -> list[str]:
    possible = site.deliveries(provider)
    return [way.value for way in Delivery if way in possible]


def permissions(provider: Provider) -> list[str]:
    """Those that the provider's own mode enforces."""
    known = permissions_of(provider, own_mode(provider))
    return [name for name in PERMISSIONS if getattr(known, name) is not None]


def efforts(provider: Provider) -> list[str] | None:
    """The accepted values in rising order; empty where the CLI takes none, None where any is taken."""
    option = provider.arguments.effort
    if option is None:
        return []
    return None if option.values is None else list(option.values)


def listing(catalog: Sequence[Provider], here: Mapping[str, Here | None], paint: Paint) -> str:
    found = [(provider, here.get(provider.name)) for provider in catalog]
    rows = [_row(provider, cli) for provider, cli in found]
    remarks = [*_missing([provider for provider, cli in found if cli is None]), *_differing(found)]
    return "\n".join([table(HEADS, rows, paint), *map(visible, remarks)]) + "\n" * bool(remarks)


def _missing(catalog: Sequence[Provider]) -> Iterator[str]:
    """How to get what is not here."""
    packaged = [provider.name for provider in catalog if provider.package.installable]
    if packaged:
        yield f"not here: {', '.join(packaged)}; `agentmux install NAME` installs the verified version"
    for provider in catalog:
        if not provider.package.installable:
            way = remedy(cli_of(provider))
            yield f"not here: {provider.name}" + (f"; {way}" if way else "")


def _differing(found: Iterable[tuple[Provider, Here | None]]) -> Iterator[str]:
    """Other versions than those that the catalog was verified with."""
    for provider, cli in found:
        verified, name = provider.package.verified, provider.name
        if cli is not None and cli.standing in DIFFERENCES:
            way = f"; `agentmux install {name}` installs that one beside it" if provider.package.installable else ""
            yield f"{name} {cli.version} {DIFFERENCES[cli.standing].format(verified=verified)}{way}"
        elif cli is not None and verified == UNVERIFIED:
            yield f"{name} is {cli.version or 'a version it does not say'}, and the catalog was verified with none"
        elif cli is not None and cli.standing is Standing.UNKNOWN:
            yield f"{name} does not say which version it is; the catalog was verified with {verified}"


def _row(provider: Provider, found: Here | None) -> tuple[str, ...]:
    taken = efforts(provider)
    return (
        provider.name,
        provider.executable,
        provider.package.verified,
        (found.version or "unknown") if found else "-",
        found.path if found else "-",
        ", ".join(controllers(provider)),
        ", ".join(deliveries(provider)),
        ", ".join(permissions(provider)),
        "any" if taken is None else ", ".join(taken) or "-",
        ", ".join(provider.mcp.transports) or "-",
    )
