"""What is known to break or empty a plan's cache by itself, seen in its sources before any launch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowering.site import is_committed, site_of
from agentmux_compiler.prefix.align import part_name
from agentmux_compiler.prefix.backends import load_backend
from agentmux_compiler.prefix.costs import caching_of, terms_of
from agentmux_compiler.prefix.counters import ESTIMATE_ERROR_PCT, counter_for
from agentmux_compiler.prefix.layout import holds, parts_for
from agentmux_compiler.prefix.words import words_of
from agentmux_compiler.providers import load_provider
from agentmux_compiler.render.words import number
from agentmux_compiler.suggest import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentmux_compiler.agent import Project, Settings
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowered import Lowered, PlanPrefix
    from agentmux_compiler.lowering.site import Site

LOCAL = ("server", "slot")
OF_TOOLS = ("denied:", "only", "without:")
SKILL_FILE = "SKILL.md"


def breakers(project: Project, plans: Iterable[Lowered]) -> list[Diagnostic]:
    """Everything that holds for the plans of a project, whatever changes."""
    prefixes = {lowered.prefix.key: lowered.prefix for lowered in plans}
    sites = (site_of(agent, use, load_provider(use.provider))[0] for agent in project.agents for use in agent.uses)
    pairs = ((site, prefixes[site.key]) for site in sites if site.key in prefixes)
    found = [fault for site, plan in pairs for fault in _of_plan(site, plan, project.settings)]
    return list(dict.fromkeys(found))


def _of_plan(site: Site, plan: PlanPrefix, settings: Settings) -> list[Diagnostic]:
    return [
        *_switching_skills(site),
        *_prompt_in_prefix(site, plan),
        *_short_lifetime(site, plan),
        *_stalling_sub_agents(site, plan, settings),
        *_tools_taken_away(site, plan),
        *_below_minimum(site, plan),
        *_known_bad_version(site),
        *_unwaited_servers(site),
    ]


def uncommitted(written: Iterable[str], plans: Iterable[Lowered]) -> list[Diagnostic]:
    """What a build wrote beside `.agentmux/` and git does not know yet, where a CLI tells the model git's status."""
    paths = [path for path in written if is_committed(path)]
    prefixes = (lowered.prefix for lowered in plans)
    telling = {plan.provider for plan in prefixes if any("git" in item.varies_with for item in plan.segments)}
    if not paths or not telling:
        return []
    others = f" and {number(len(paths) - 1)} more" if len(paths) > 1 else ""
    return [
        rules.UNCOMMITTED_OUTPUT.at(
            Span(paths[0]),
            f"the prompts of {listing(sorted(telling))} tell of `{paths[0]}`{others} until git has it",
            help="commit what was written before the next launch",
            notes=("these CLIs put git's status, or a list of the folder's files, in front of other text",),
        )
    ]


def _switching_skills(site: Site) -> Iterator[Diagnostic]:
    """A model or effort of a skill's own keys another cache, once when it begins and once when it ends."""
    obeyed = site.provider.layout.skill_switches
    for listed in site.agent.skills if obeyed else ():
        skill = listed.item
        own = [(name, value) for name, value in (("effort", skill.effort), ("model", skill.model)) if value]
        for name, value in own:
            used = getattr(site.use, name)
            if obeyed and name in obeyed.fields and value != used:
                yield rules.SKILL_SWITCHES_MODEL.at(
                    skill.switches_at or Span(f"{skill.folder}/{SKILL_FILE}"),
                    f"`{skill.name}` sets the {name} `{value}`, and the cache is keyed by it",
                    help=f"leave `{name}` out, or give the skill to an agent that runs with it",
                    notes=("the whole conversation is paid again when the skill begins, and again when it ends",),
                )


def _prompt_in_prefix(site: Site, plan: PlanPrefix) -> Iterator[Diagnostic]:
    """A part in front that varies with the first prompt, unless the backend takes it out."""
    backend = load_backend(plan.backend)
    ignored = backend.ignored.segments if backend else ()
    before = 0
    for segment in plan.segments:
        varies = segment.opaque and "prompt" in segment.varies_with and segment.layer != "conversation"
        if varies and part_name(segment) not in ignored:
            behind = sum(item.size for item in plan.segments) - before
            yield rules.PROMPT_IN_PREFIX.at(
                site.agent.place("env"),
                f"`{part_name(segment)}` of `{plan.provider}` changes with the first prompt, and {number(behind)} "
                "bytes stand behind it",
                help=_by_endpoint(site, part_name(segment)),
                notes=("sessions with different prompts share nothing from there on",),
            )
            return
        before += segment.size


def _by_endpoint(site: Site, name: str) -> str | None:
    """What leaves a part out, where another endpoint does."""
    layout = site.provider.layout
    parts = [*layout.parts, *(part for variant in layout.variants for part in variant.parts)]
    left_out = any(part.name == name and "redirected" in part.unless for part in parts)
    return "lead the CLI elsewhere by `base_url`, which leaves that part out" if left_out else None


def _short_lifetime(site: Site, plan: PlanPrefix) -> Iterator[Diagnostic]:
    facts, caching = site.provider.lifetimes, caching_of(plan)
    if facts is None or caching is None or site.use.api_key_env is None or plan.lifetime != facts.api_key:
        return
    longer = next((name for name, lifetime in facts.variables.items() if lifetime == facts.login), None)
    if longer is None or facts.login not in {row.name for row in caching.backend.lifetimes.rows}:
        return
    yield rules.SHORT_LIFETIME.at(
        site.use.place("api_key_env"),
        f"with an API key `{plan.provider}` lets its cache live {facts.api_key}, with a login {facts.login}",
        help=f'set `{longer}: "1"` in `env` if turns are further apart, for a dearer write',
        notes=("after that time everything is paid again, whatever the prefix",),
    )


def _stalling_sub_agents(site: Site, plan: PlanPrefix, settings: Settings) -> Iterator[Diagnostic]:
    facts, backend = site.provider.layout.sub_agents, load_backend(plan.backend)
    if facts is None or backend is None or backend.conditions.scope not in LOCAL:
        return
    if f"without:{facts.tool}" in words_of(site.provider, plan):
        return
    size = sum(segment.size for segment in plan.segments)
    tokens = round(counter_for(plan.vendor, plan.served_model).estimate(size) * (100 - facts.shared_pct) / 100)
    rate = settings.prefill_rate
    time = f", {tokens / rate:,.0f} s at {rate:g} a second" if rate else ""
    yield rules.SUB_AGENT_STALLS.at(
        site.use.place("backend"),
        f"`{plan.provider}` may start sub-agents, and on `{plan.backend}` their parent waits while about "
        f"{number(tokens)} tokens of each are prefilled{time}",
        help=f"deny `{facts.tool}` in `flags`, or let the engine hold several sequences",
        notes=("a child begins with tools and a system text of its own",),
    )


def _tools_taken_away(site: Site, plan: PlanPrefix) -> Iterator[Diagnostic]:
    """Tools that arguments take out of the head of the prompt, with the bytes left that others share."""
    words = words_of(site.provider, plan)
    gone = {word.partition(":")[2] for word in words if word.startswith("without:")}
    usual = frozenset(word for word in words if not word.startswith(OF_TOOLS))
    tools = [part for part in parts_for(site.provider, usual) if part.layer == "tools" and holds(part, usual)]
    first = next((index for index, part in enumerate(tools) if part.tool in gone), None)
    if first is None:
        return
    shared = sum(part.bytes or 0 for part in tools[:first])
    names = listing(dict.fromkeys(part.tool for part in tools if part.tool in gone))
    yield rules.TOOLS_TAKEN_AWAY.at(
        site.use.place("flags"),
        f"`flags` take {names} away: agents that keep them share the first {number(shared)} bytes of the prompt with "
        "this one, and no more",
        help="deny single uses by a rule such as `Bash(git push *)`, which changes no byte",
    )


def _below_minimum(site: Site, plan: PlanPrefix) -> Iterator[Diagnostic]:
    caching = caching_of(plan)
    minimum = terms_of(plan, caching).minimum if caching else None
    tokens = counter_for(plan.vendor, plan.served_model).estimate(sum(segment.size for segment in plan.segments))
    if minimum is not None and tokens * (1 + ESTIMATE_ERROR_PCT / 100) < minimum:
        yield rules.BELOW_MINIMUM.at(
            site.use.at,
            f"about {number(tokens)} tokens stand before the first prompt, and `{plan.backend}` caches nothing below "
            f"{number(minimum)}",
            notes=("every session pays for all of it, until its conversation is long enough",),
        )


def _known_bad_version(site: Site) -> Iterator[Diagnostic]:
    version = _version(site.cli_version)
    for fault in site.provider.version_faults:
        until = fault.before
        if _version(fault.since) <= version and (until is None or version < _version(until)):
            yield rules.KNOWN_BAD_VERSION.at(
                site.use.place("version"),
                f"`{site.provider.name}` {site.cli_version}: {fault.what}",
                help=f"use {until} or later" if until else None,
                notes=(fault.source,),
            )


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", text))


def _unwaited_servers(site: Site) -> Iterator[Diagnostic]:
    facts = site.provider.layout.servers
    if facts is None or facts.seconds == "unlimited" or not site.agent.mcp:
        return
    yield rules.UNWAITED_SERVER.at(
        site.agent.place("mcp"),
        f"`{site.provider.name}` waits about {facts.seconds:g} s for MCP servers: one that starts slower is missing in "
        "the first request, whose prefix is another one then",
        help="keep the start of a server short",
    )
