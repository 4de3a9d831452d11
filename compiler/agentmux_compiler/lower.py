"""Lower: every agent on every provider it runs on, to files, a launch plan and the prefix these lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentmux_compiler.agent import Delivery
from agentmux_compiler.argv import build_argv
from agentmux_compiler.assemble import assemble, assemble_startup
from agentmux_compiler.diagnostics import Diagnostic
from agentmux_compiler.lowered import ArgumentParts, Lowered, OutputFile
from agentmux_compiler.lowering.acp import acp_plan, lend_faults
from agentmux_compiler.lowering.chain import chain
from agentmux_compiler.lowering.delivery import Delivered, deliver
from agentmux_compiler.lowering.environment import environment
from agentmux_compiler.lowering.figures import convention_of, own_words
from agentmux_compiler.lowering.folder_tree import tree_segments
from agentmux_compiler.lowering.gate import gate_of, needs_of
from agentmux_compiler.lowering.imports import unseen
from agentmux_compiler.lowering.mcp import Servers, place_servers
from agentmux_compiler.lowering.modes import controller_of, mode_of
from agentmux_compiler.lowering.native import native_segments
from agentmux_compiler.lowering.opt_outs import opted_out
from agentmux_compiler.lowering.outputs import merge_outputs, volatile_faults
from agentmux_compiler.lowering.plan_prefix import plan_prefix, server_segments, text_slots
from agentmux_compiler.lowering.reading import also_read, doubled, over_budget
from agentmux_compiler.lowering.shared import index_needed, shared_file_faults, shared_servers, visible_servers
from agentmux_compiler.lowering.site import Site, is_committed, site_of
from agentmux_compiler.lowering.skills_out import Placed, SkillsOut, listing, place_skills, shared_faults, visible
from agentmux_compiler.lowering.stripped import stripped
from agentmux_compiler.lowering.versions import own_version, version_faults
from agentmux_compiler.providers import load_provider
from agentmux_compiler.segment import Segment
from agentmux_compiler.writing.header import carries_header
from agentmux_launcher.manifest import Argument, Environment, LaunchPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_compiler.agent import Project
    from agentmux_compiler.lowering.chain import NativeFile
    from agentmux_compiler.tree import Tree


@dataclass(frozen=True, slots=True)
class _Draft:
    """A plan by itself, before it is seen together with the others."""

    site: Site
    segments: tuple[Segment, ...]
    startup: Segment | None
    delivered: Delivered
    skills: SkillsOut
    servers: Servers
    env: Environment
    argv: tuple[Argument, ...]
    parts: ArgumentParts
    found: list[Diagnostic] = field(default_factory=list)

    @property
    def files(self) -> tuple[OutputFile, ...]:
        return (*self.delivered.files, *self.servers.files, *self.skills.files)


@dataclass(frozen=True, slots=True)
class _Together:
    """What the plans share: outputs by path, the segments of each instruction file, skills anybody may see."""

    outputs: Mapping[str, OutputFile]
    instructions: Mapping[str, tuple[OutputFile, tuple[Segment, ...]]]
    skills: tuple[Placed, ...]
    sites: tuple[Site, ...]


def lower(project: Project, tree: Tree) -> tuple[tuple[Lowered, ...], list[Diagnostic]]:
    """All plans, agents by name and providers in the order of each spec."""
    sites, found = _sites(project)
    drafts = [_draft(site, sites, project, tree) for site in sites]
    found += [fault for draft in drafts for fault in draft.found]
    outputs, conflicts = merge_outputs(file for draft in drafts for file in draft.files)
    together = _Together(
        outputs,
        _instructions(drafts, outputs),
        tuple(placed for draft in drafts for placed in draft.skills.placed if placed.shared),
        sites,
    )
    chains = [(draft.site, chain(draft.site, together.instructions, tree)) for draft in drafts]
    found += [*conflicts, *shared_faults(sites, together.skills), *shared_servers(sites), *also_read(chains)]
    found += [fault for site, files in chains for fault in over_budget(site, files)]
    found += doubled((draft.site, draft.segments, files) for draft, (_, files) in zip(drafts, chains, strict=True))
    plans = tuple(_lowered(draft, files, together) for draft, (_, files) in zip(drafts, chains, strict=True))
    return plans, list(dict.fromkeys(found))


def _instructions(
    drafts: Sequence[_Draft], outputs: Mapping[str, OutputFile]
) -> Mapping[str, tuple[OutputFile, tuple[Segment, ...]]]:
    """Every instruction file with its segments; of several plans that want it, those of the first."""
    pairs = [(file.path, draft.segments) for draft in drafts for file in draft.delivered.files]
    return {path: (outputs[path], segments) for path, segments in reversed(pairs)}


def _sites(project: Project) -> tuple[tuple[Site, ...], list[Diagnostic]]:
    made = [site_of(agent, use, load_provider(use.provider)) for agent in project.agents for use in agent.uses]
    sites = tuple(site for site, _ in made)
    return sites, [*(fault for _, more in made for fault in more), *shared_file_faults(sites)]


def _draft(site: Site, sites: Sequence[Site], project: Project, tree: Tree) -> _Draft:
    settings = project.settings
    segments, found = assemble(site.agent, site.use, site.provider, settings, skills_index=index_needed(site, sites))
    startup, more = assemble_startup(site.agent, site.use, site.provider)
    found += more
    delivered, more = deliver(site, segments, settings)
    found += [*more, *_text_faults(site, segments, startup, delivered)]
    found += [fault for file in delivered.files for fault in unseen(site, file.path, segments, tree)]
    skills, more = place_skills(site, tree)
    found += more
    servers, more = place_servers(site)
    found += more
    outs = opted_out(site, settings)
    found += outs.found
    env, redirect, more = environment(site, servers.variables, {**delivered.environment, **outs.set})
    found += more
    written = (*delivered.files, *servers.files, *skills.files)
    parts = ArgumentParts(
        redirect=redirect,
        mcp=servers.argv,
        delivery=delivered.argv,
        directories=(*delivered.directories, *skills.directories),
        opt_outs=outs.argv,
        files=frozenset(site.seen_from_cwd(file.path) for file in written),
    )
    argv, more = build_argv(site.provider, site.use, parts)
    found += [*more, *lend_faults(site)]
    return _Draft(site, segments, startup, delivered, skills, servers, env, argv, parts, found)


def _text_faults(
    site: Site, segments: tuple[Segment, ...], startup: Segment | None, delivered: Delivered
) -> list[Diagnostic]:
    """What becomes of a text on its way: volatile values in it, and what the CLI takes out of it."""
    committed = any(is_committed(file.path) for file in delivered.files)
    first_turn = (startup,) if startup is not None else ()
    as_file = bool(delivered.files) and not delivered.appended
    headed = any(carries_header(file.content) for file in delivered.files)
    return [
        *volatile_faults(segments, committed=committed),
        *volatile_faults(first_turn, committed=False),
        *(stripped(site, segments, headed=headed) if as_file else ()),
    ]


def _lowered(draft: _Draft, files: Sequence[NativeFile], together: _Together) -> Lowered:
    site = draft.site
    slots = {
        **text_slots(site, draft.segments, draft.startup, appended=draft.delivered.appended),
        "native": native_segments(site, files),
        "skills": listing(site, visible(site, draft.skills.placed, together.skills)),
        "mcp": server_segments(visible_servers(site, together.sites)),
        "tree": tree_segments(site, together.outputs),
    }
    return Lowered(
        files=tuple(together.outputs[file.path] for file in draft.files),
        plan=_plan(draft),
        prefix=plan_prefix(site, draft.argv, draft.env, slots),
        segments=draft.segments,
        use=site.use,
        parts=draft.parts,
    )


def _plan(draft: _Draft) -> LaunchPlan:
    site, use, provider = draft.site, draft.site.use, draft.site.provider
    mode, _ = mode_of(provider, use)
    return LaunchPlan(
        agent=site.agent.name,
        provider=provider.name,
        display=site.agent.display,
        executable=mode.executable or provider.executable,
        controller=controller_of(provider, use),
        model=use.model,
        effort=use.effort,
        permission=use.permission.value,
        delivery=site.delivery.value,
        cwd=site.cwd,
        argv=draft.argv,
        env=draft.env,
        files=tuple(file.path for file in draft.files),
        startup=_first_turn(draft),
        prompt_delivery=mode.prompt_delivery,
        frames=mode.frames,
        session_id_field=provider.session_id,
        cli_version=site.cli_version,
        stdio=mode.stdio.model_dump(),
        mcp_servers=draft.servers.session,
        version_argv=provider.version_argv,
        install_folders=provider.package.folders,
        install_hint=provider.package.hint,
        installable=provider.package.installable,
        windows=provider.window.sizes,
        gate=gate_of(site),
        needs=needs_of(provider),
        pinned=use.version is not None,
        own_version=own_version(mode),
        version_faults=() if mode.package else version_faults(provider),
        acp=acp_plan(site),
        usage=convention_of(mode),
        own_words=own_words(mode),
    )


def _first_turn(draft: _Draft) -> str | None:
    """The text in front of the first prompt of a new session."""
    segments = draft.segments if draft.site.delivery is Delivery.STARTUP else ()
    texts = [segment.text for segment in (*segments, *([draft.startup] if draft.startup else []))]
    return "\n".join(texts) or None
