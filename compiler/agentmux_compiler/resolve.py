"""Specs to agents: every bundle, skill, file and provider a spec names is found, or said to be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Project, ResolvedAgent, Server
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.sources.bundles import BundleFolder, read_bundles
from agentmux_compiler.sources.listings import listed_bundles, listed_skills, unused_bundles, unused_skills
from agentmux_compiler.sources.skills import SkillFolder, read_skills
from agentmux_compiler.sources.source_names import outside, project_path
from agentmux_compiler.sources.uses import uses_of
from agentmux_compiler.sources.yaml_nodes import Mapping
from agentmux_compiler.text.texts import Library

if TYPE_CHECKING:
    from agentmux_compiler.agent import Use
    from agentmux_compiler.spec import Spec, Specs
    from agentmux_compiler.text.texts import Prose
    from agentmux_compiler.tree import Tree

_PROSE = ("soul", "instructions", "startup")


@dataclass(frozen=True, slots=True)
class _Sources:
    """All that specs may name."""

    bundles: BundleFolder
    skills: SkillFolder
    library: Library


def resolve(specs: Specs, tree: Tree) -> tuple[Project, list[Diagnostic]]:
    """Agents that can be built, and all bundles and skills; abstract specs are checked and left out."""
    settings = specs.settings
    bundles, found = read_bundles(tree, settings.bundles)
    skills, more = read_skills(tree, settings.skills)
    found += more
    sources = _Sources(bundles, skills, Library(tree))
    agents: list[ResolvedAgent] = []
    for spec in specs.agents:
        agent, more = _agent(spec, sources)
        found += more
        agents += [agent] if agent.uses and not spec.fields.abstract else []
    if specs.whole and specs.agents:
        found += [*unused_bundles(specs.agents, bundles, found), *unused_skills(specs.agents, skills, found)]
    project = Project(settings, tuple(agents), tuple(bundles.bundles.values()), tuple(skills.skills.values()))
    return project, list(dict.fromkeys(found))


def _agent(spec: Spec, sources: _Sources) -> tuple[ResolvedAgent, list[Diagnostic]]:
    uses, found = _uses(spec)
    workdir, more = _workdir(spec, sources.library.tree)
    found += more
    bundles, more = listed_bundles(spec, sources.bundles)
    found += more
    skills, more = listed_skills(spec, sources.skills)
    found += more
    prose: dict[str, Prose] = {}
    for field in _PROSE:
        prose[field], more = sources.library.prose(spec.node.get(field))
        found += more
    agent = ResolvedAgent(
        name=spec.name,
        display=spec.fields.display or spec.name.replace("-", " ").title(),
        description=spec.fields.description,
        path=spec.path,
        uses=uses,
        workdir=workdir,
        soul=prose["soul"].text,
        instructions=prose["instructions"].text,
        startup=prose["startup"].text,
        bundles=bundles,
        skills=skills,
        mcp=_servers(spec),
        env=spec.fields.env,
        places={entry.key.text: entry.place for entry in spec.node.entries},
        templates=tuple(field for field in _PROSE if prose[field].template),
    )
    return agent, found


def _uses(spec: Spec) -> tuple[tuple[Use, ...], list[Diagnostic]]:
    if spec.fields.providers or spec.fields.abstract or spec.may_have_meant("providers"):
        return uses_of(spec)
    entry = spec.node.entry("providers")
    fault = rules.MISSING_FIELD.at(
        entry.place if entry else Span(spec.path),
        f"agent `{spec.name}` runs on no provider",
        help="add `providers: {claude: {}}`, or `abstract: true` if it is only a base",
    )
    return (), [fault]


def _workdir(spec: Spec, tree: Tree) -> tuple[str, list[Diagnostic]]:
    entry = spec.node.entry("workdir")
    path = project_path(spec.fields.workdir)
    if path is not None and not tree.outside(path):
        return path, []
    return ".", [outside(entry.place if entry else Span(spec.path), "`workdir`", spec.fields.workdir)]


def _servers(spec: Spec) -> tuple[Server, ...]:
    node = spec.node.get("mcp")
    entries = node.entries if isinstance(node, Mapping) else ()
    servers = ((entry.key, spec.fields.mcp[entry.key.text]) for entry in entries)
    return tuple(
        Server(key.text, server.command, server.args, server.env, server.url, server.headers, key.span)
        for key, server in servers
    )
