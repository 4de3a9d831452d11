"""The prefix of a plan: what its slots hold, and the words by which the provider's layout is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.agent import Delivery
from agentmux_compiler.environment import names
from agentmux_compiler.lowered import PlanPrefix, PrefixSegment
from agentmux_compiler.modes import controller_of
from agentmux_compiler.native import own_segment
from agentmux_compiler.prefix.backends import choose
from agentmux_compiler.prefix.layout import render_layout
from agentmux_compiler.segment import Text
from agentmux_compiler.tree import byte_order
from agentmux_launcher.arguments import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentmux_compiler.agent import Server
    from agentmux_compiler.diagnostics import Span
    from agentmux_compiler.segment import Segment
    from agentmux_compiler.site import Site
    from agentmux_launcher.manifest import Argument, Environment

_OF_USE = ("model", "effort", "permission", "delivery", "flags", "base_url")
_OF_AGENT = ("bundles", "skills", "mcp", "workdir", "env")
CUSTOM = "custom"


def plan_prefix(
    site: Site, argv: Sequence[Argument], env: Environment, slots: Mapping[str, tuple[PrefixSegment, ...]]
) -> PlanPrefix:
    """All that keys and makes up the prefix of a plan."""
    use, provider = site.use, site.provider
    arguments = shown(argv, {})
    vendor = use.vendor or (provider.vendors[0] if use.base_url is None else CUSTOM)
    return PlanPrefix(
        agent=site.agent.name,
        provider=provider.name,
        vendor=vendor,
        backend=choose(vendor, use.model, use.backend, use.base_url),
        model=use.model if provider.arguments.model else None,
        effort=use.effort if provider.arguments.effort else None,
        permission=use.permission.value,
        delivery=site.delivery.value,
        cwd=site.cwd,
        cli_version=provider.package.verified,
        argv=arguments,
        env=names(env),
        segments=render_layout(provider, slots, words(site, arguments)),
        places=_places(site),
    )


def words(site: Site, arguments: Iterable[str]) -> frozenset[str]:
    """What a layout may ask for; a model that nobody named is the CLI's own."""
    use, options = site.use, site.provider.arguments
    model = use.model or (options.model.default if options.model else None)
    effort = use.effort or (options.effort.default if options.effort else None)
    controller = controller_of(site.provider, use)
    held = {f"delivery:{site.delivery}", f"permission:{use.permission}", f"controller:{controller}"}
    held |= {f"model:{model}"} if model else set()
    held |= {f"effort:{effort}"} if effort else set()
    return frozenset({*arguments, *held, *(("redirected",) if use.base_url is not None else ())})


def _places(site: Site) -> dict[str, Span]:
    """Where the fields stand that can change a prefix; a field that was not written has no place."""
    of_use = {name: span for name, span in (site.use.places or {}).items() if name in _OF_USE}
    return of_use | {name: span for name, span in site.agent.places.items() if name in _OF_AGENT}


def text_slots(
    site: Site, segments: Sequence[Segment], startup: Segment | None, *, appended: bool
) -> dict[str, tuple[PrefixSegment, ...]]:
    """The slots of the plan's own text: behind the CLI's own, or in the first turn."""
    made = tuple(own_segment(segment) for segment in segments)
    turn = (own_segment(startup),) if startup is not None else ()
    return {
        "appended": made if appended else (),
        "startup": (*made, *turn) if site.delivery is Delivery.STARTUP else turn,
    }


def server_segments(servers: Iterable[Server]) -> tuple[PrefixSegment, ...]:
    """The servers a plan has, by name; their tools are known only at launch."""
    ordered = sorted({server.name: server for server in servers}.values(), key=lambda server: byte_order(server.name))
    return tuple(
        PrefixSegment(
            "mcp",
            f"mcp/{server.name}",
            Text(f"{server.name}\n", server.at.path, (server.at.line,)),
            len(server.name.encode()) + 1,
            server.at,
        )
        for server in ordered
    )
