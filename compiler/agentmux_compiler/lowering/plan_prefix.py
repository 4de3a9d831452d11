"""The prefix of a plan: what its slots hold, and the words by which the provider's layout is chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler.agent import Delivery
from agentmux_compiler.lowered import PlanPrefix, PrefixSegment, ResumeRules
from agentmux_compiler.lowering.environment import names
from agentmux_compiler.lowering.flags import split
from agentmux_compiler.lowering.native import own_segment
from agentmux_compiler.prefix.axes import ARGUMENTS, MCP
from agentmux_compiler.prefix.backends import choose, vendor_of
from agentmux_compiler.prefix.layout import render_layout
from agentmux_compiler.prefix.rendered import octets
from agentmux_compiler.prefix.words import argument_values, leaves_server, resolved_model, words_of
from agentmux_compiler.segment import Text
from agentmux_compiler.tree import byte_order
from agentmux_launcher.arguments import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentmux_compiler.agent import Server
    from agentmux_compiler.diagnostics import Span
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema import Resume
    from agentmux_compiler.providers.schema_layout import Part
    from agentmux_compiler.segment import Segment
    from agentmux_launcher.manifest import Argument, Environment

_OF_USE = ("model", "effort", "permission", "delivery", "flags", "base_url")
_OF_AGENT = ("bundles", "skills", "mcp", "workdir", "env")
CUSTOM = "custom"


def plan_prefix(
    site: Site, argv: Sequence[Argument], env: Environment, slots: Mapping[str, tuple[PrefixSegment, ...]]
) -> PlanPrefix:
    """All that keys and makes up the prefix of a plan."""
    use, provider = site.use, site.provider
    options = provider.arguments
    url = _endpoint(site)
    vendor = use.vendor or (next(iter(provider.vendors), None) if url is None else vendor_of(url)) or CUSTOM
    model = resolved_model(provider, use.model)
    plan = PlanPrefix(
        agent=site.agent.name,
        provider=provider.name,
        vendor=vendor,
        backend=choose(vendor, model, use.backend, url),
        model=use.model if options.model else None,
        effort=use.effort if options.effort else None,
        permission=use.permission.value,
        delivery=site.delivery.value,
        cwd=site.cwd,
        cli_version=site.cli_version,
        argv=shown(argv, {}),
        env=names(env),
        segments=(),
        places=_places(site),
        resolved_model=model,
        lifetime=_lifetime(site),
        resume=_resume(options.resume, shown(argv, {})),
    )
    return replace(plan, segments=_segments(site, plan, slots))


def _segments(
    site: Site, plan: PlanPrefix, slots: Mapping[str, tuple[PrefixSegment, ...]]
) -> tuple[PrefixSegment, ...]:
    provider = site.provider
    words = words_of(provider, plan)
    texts = {part.name: _passed(site, plan, part) for part in provider.layout.all_parts if part.argument}
    found = slots.get("mcp", ())
    servers = tuple(item for item in found if leaves_server(provider, plan.argv, item.name.removeprefix(MCP)))
    return render_layout(provider, {**slots, **texts, "mcp": servers}, words, site.use.version)


def _passed(site: Site, plan: PlanPrefix, part: Part) -> tuple[PrefixSegment, ...]:
    """The text that the user's own arguments pass for a part, traced to `flags`."""
    at = site.use.place("flags")
    given, _ = split(site.use)
    kept = (value for value in argument_values(part.argument, given) if any(arg.endswith(value) for arg in plan.argv))
    texts = [f"{value}\n" for value in kept]
    bodies = (Text(text, at.path, (at.line,) * text.count("\n")) for text in texts)
    name = f"{ARGUMENTS}{site.agent.name}/{site.provider.name}/{part.name.replace(' ', '-')}"
    return tuple(
        PrefixSegment(part.layer, f"{name}{'' if not index else f'-{index + 1}'}.md", body, octets(body.text), at)
        for index, body in enumerate(bodies)
    )


def _endpoint(site: Site) -> str | None:
    """Where the CLI is led, by the spec's `base_url` or by the variable it would be set in."""
    redirect = site.provider.redirect
    variable = None if redirect is None or redirect == "unknown" else redirect.variable
    return site.use.base_url or site.agent.env.get(variable or "")


def _lifetime(site: Site) -> str | None:
    """How long the CLI asks its vendor to keep a prefix; with a login that nobody named, the shorter time."""
    facts = site.provider.lifetimes
    if facts is None:
        return None
    asked = (lifetime for name, lifetime in facts.variables.items() if name in site.agent.env)
    return next(asked, facts.api_key)


def _resume(facts: Resume, argv: Sequence[str]) -> ResumeRules:
    """What becomes of edited text in a session that goes on with these arguments."""
    words = f" {' '.join(argv).replace('=', ' ')} "
    anew = facts.flag_text_rewritten_by is not None and f" {facts.flag_text_rewritten_by} " in words
    return ResumeRules(facts.edited_instructions, "rewritten" if anew else facts.edited_flag_text)


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
