"""What plans that run in one folder share: an instruction file, or the MCP servers of a settings file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Delivery
from agentmux_compiler.suggest import listing
from agentmux_compiler.text.placeholders import USE_VARIABLES, expand

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_compiler.agent import Bundle, Listed, Server
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowering.site import Site


def index_needed(site: Site, sites: Sequence[Site]) -> bool:
    """Whether a plan's text holds the index of skills: its CLI, or one that reads the same file, lists none itself."""
    return any(not _lists_skills(each) for each in _of_one_file(site, sites))


def _lists_skills(site: Site) -> bool:
    return site.provider.skills.listed and site.provider.skills.written is not None


def _of_one_file(site: Site, sites: Sequence[Site]) -> list[Site]:
    """The plans of an agent that have one instruction file together, this one among them."""
    if site.delivery is not Delivery.FILE:
        return [site]
    return [each for each in sites if each.agent is site.agent and _same_file(each, site)]


def _same_file(one: Site, other: Site) -> bool:
    return one.delivery is other.delivery and one.provider.instructions.written == other.provider.instructions.written


def shared_file_faults(sites: Sequence[Site]) -> list[Diagnostic]:
    """Text for one provider in a file that several read."""
    found: list[Diagnostic] = []
    for site in sites:
        together = [each.provider.name for each in _of_one_file(site, sites)]
        if len(together) > 1:
            found += _for_one_provider(site, together)
    return list(dict.fromkeys(found))


def _for_one_provider(site: Site, together: Sequence[str]) -> Iterator[Diagnostic]:
    file = site.provider.instructions.written
    for bundle in site.agent.bundles:
        if bundle.item.providers is not None and not set(together) <= set(bundle.item.providers):
            yield _only_for_some(bundle, file, together)
    bodies = [site.agent.soul, site.agent.instructions, *(bundle.item.body for bundle in site.agent.bundles)]
    for body in bodies:
        if body is not None and expand(body, {})[0].used & set(USE_VARIABLES):
            yield rules.PROVIDER_IN_SHARED_FILE.at(
                site.agent.place("instructions"),
                f"`{body.path}` names its provider or model, and `{file}` is read by {listing(together)}",
                help="use `delivery: flag` for all but one of them",
            )


def _only_for_some(bundle: Listed[Bundle], file: str | None, together: Sequence[str]) -> Diagnostic:
    return rules.PROVIDER_IN_SHARED_FILE.at(
        bundle.at,
        f"`{bundle.item.name}` is for {listing(bundle.item.providers or ())}, and {listing(together)} read `{file}`",
        help="use `delivery: flag` for all but one of them",
    )


def visible_servers(site: Site, sites: Sequence[Site]) -> tuple[Server, ...]:
    """The servers that a plan's CLI starts: its own, and those of others in the settings file it reads."""
    own = site.servers
    if site.provider.mcp.way != "settings":
        return own
    others = (server for each in sites if _same_settings(site, each) for server in each.servers)
    return tuple({server.name: server for server in (*others, *own)}.values())


def _same_settings(one: Site, other: Site) -> bool:
    return one.provider.mcp.file == other.provider.mcp.file and one.cwd == other.cwd and one.provider is other.provider


def shared_servers(sites: Sequence[Site]) -> list[Diagnostic]:
    """Servers that agents get because another one that runs there lists them."""
    found: list[Diagnostic] = []
    for site in sites:
        names = {server.name for server in site.servers}
        others = [each for each in sites if site.provider.mcp.way == "settings" and _same_settings(site, each)]
        without = [each.agent.name for each in others if not names <= {server.name for server in each.servers}]
        if without:
            found.append(_shared(site, without))
    return found


def _shared(site: Site, others: Sequence[str]) -> Diagnostic:
    return rules.SHARED_SERVER.at(
        site.agent.place("mcp"),
        f"`{site.provider.name}` gives these servers to {listing(others)} too, which run in the same folder",
        help="use `delivery: folder` where they are listed, or list them for all who run there",
    )
