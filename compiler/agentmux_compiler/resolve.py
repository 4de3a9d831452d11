"""Specs to agents: every bundle, skill, file and provider a spec names is found, or said to be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from agentmux_compiler import rules
from agentmux_compiler.agent import Bundle, Listed, Project, ResolvedAgent, Server, Skill
from agentmux_compiler.bundles import BundleFolder, read_bundles
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.skills import SKILL_FILE, SkillFolder, read_skills
from agentmux_compiler.source_names import outside, project_path
from agentmux_compiler.suggest import did_you_mean
from agentmux_compiler.texts import Library
from agentmux_compiler.tree import byte_order
from agentmux_compiler.uses import uses_of
from agentmux_compiler.yaml_nodes import Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Mapping as ReadOnly

    from agentmux_compiler.agent import Use
    from agentmux_compiler.spec import Spec, Specs
    from agentmux_compiler.texts import Prose
    from agentmux_compiler.tree import Tree

T = TypeVar("T")

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
        found += _unused(specs, sources, found)
    project = Project(settings, tuple(agents), tuple(bundles.bundles.values()), tuple(skills.skills.values()))
    return project, list(dict.fromkeys(found))


def _agent(spec: Spec, sources: _Sources) -> tuple[ResolvedAgent, list[Diagnostic]]:
    uses, found = _uses(spec)
    workdir, more = _workdir(spec)
    found += more
    bundles, more = _listed_bundles(spec, sources.bundles)
    found += more
    skills, more = _listed_skills(spec, sources.skills)
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
    if spec.fields.providers or spec.fields.abstract:
        return uses_of(spec)
    entry = spec.node.entry("providers")
    fault = rules.MISSING_FIELD.at(
        entry.place if entry else Span(spec.path),
        f"agent `{spec.name}` runs on no provider",
        help="add `providers: {claude: {}}`, or `abstract: true` if it is only a base",
    )
    return (), [fault]


def _workdir(spec: Spec) -> tuple[str, list[Diagnostic]]:
    entry = spec.node.entry("workdir")
    path = project_path(spec.fields.workdir)
    if path is not None:
        return path, []
    return ".", [outside(entry.place if entry else Span(spec.path), "`workdir`", spec.fields.workdir)]


def _items(spec: Spec, field: str) -> list[Scalar]:
    node = spec.node.get(field)
    return [item for item in node.items if isinstance(item, Scalar)] if isinstance(node, Sequence) else []


def _listed_bundles(spec: Spec, folder: BundleFolder) -> tuple[tuple[Listed[Bundle], ...], list[Diagnostic]]:
    """Global bundles by `order` and name, then the listed ones."""
    shared = sorted(
        (bundle for bundle in folder.bundles.values() if bundle.is_global),
        key=lambda bundle: (bundle.order, byte_order(bundle.name)),
    )
    everywhere = {bundle.name: Listed(bundle, folder.globals_at[bundle.name]) for bundle in shared}
    items = _items(spec, "bundles")
    found = [_unknown_bundle(item, folder) for item in items if item.text not in folder.bundles]
    listed, more = _each_once(items, folder.bundles, everywhere)
    return listed, [*found, *more]


def _listed_skills(spec: Spec, folder: SkillFolder) -> tuple[tuple[Listed[Skill], ...], list[Diagnostic]]:
    items = _items(spec, "skills")
    found = [_unknown_skill(item, folder) for item in items if item.text not in folder.skills]
    listed, more = _each_once(items, folder.skills, {})
    return listed, [*found, *more]


def _each_once(
    items: list[Scalar], known: ReadOnly[str, T], listed: ReadOnly[str, Listed[T]]
) -> tuple[tuple[Listed[T], ...], list[Diagnostic]]:
    """What `listed` has and then what `items` name, nothing a second time."""
    table = dict(listed)
    found: list[Diagnostic] = []
    for item in items:
        if item.text in table:
            found.append(_again(item, table[item.text].at))
        elif item.text in known:
            table[item.text] = Listed(known[item.text], item.span)
    return tuple(table.values()), found


def _again(item: Scalar, first: Span) -> Diagnostic:
    return rules.DUPLICATE_ENTRY.at(
        item.span,
        f"`{item.text}` is listed twice",
        help="keep one of them",
        notes=(f"the first stands at {first.path}:{first.line}",),
    )


def _unknown_bundle(item: Scalar, folder: BundleFolder) -> Diagnostic:
    return rules.UNKNOWN_BUNDLE.at(
        item.span,
        f"there is no bundle `{item.text}`",
        help=did_you_mean(item.text, folder.bundles),
        notes=(f"bundles are read from `{folder.path}/`",),
    )


def _unknown_skill(item: Scalar, folder: SkillFolder) -> Diagnostic:
    bare = item.text in folder.incomplete
    return rules.UNKNOWN_SKILL.at(
        item.span,
        f"there is no skill `{item.text}`",
        help=f"write `{folder.path}/{item.text}/{SKILL_FILE}`" if bare else did_you_mean(item.text, folder.skills),
        notes=(f"skills are read from `{folder.path}/`",),
    )


def _servers(spec: Spec) -> tuple[Server, ...]:
    node = spec.node.get("mcp")
    entries = node.entries if isinstance(node, Mapping) else ()
    servers = ((entry.key, spec.fields.mcp[entry.key.text]) for entry in entries)
    return tuple(
        Server(key.text, server.command, server.args, server.env, server.url, server.headers, key.span)
        for key, server in servers
    )


def _unused(specs: Specs, sources: _Sources, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Bundles and skills nobody lists; silent where a misspelt name may have meant them."""
    said = {item.rule for item in found}
    named = {
        field: {item.text for spec in specs.agents for item in _items(spec, field)} for field in ("bundles", "skills")
    }
    bundles = sources.bundles.bundles.values()
    skills = sources.skills.skills.values()
    return [
        *(
            _unused_bundle(each)
            for each in bundles
            if not each.is_global and each.name not in named["bundles"] and rules.UNKNOWN_BUNDLE not in said
        ),
        *(
            _unused_skill(each)
            for each in skills
            if each.name not in named["skills"] and rules.UNKNOWN_SKILL not in said
        ),
    ]


def _unused_bundle(bundle: Bundle) -> Diagnostic:
    return rules.UNUSED_BUNDLE.at(
        Span(bundle.body.path),
        f"no agent lists the bundle `{bundle.name}`",
        help="list it in an agent's `bundles`, or give it `global: true`",
    )


def _unused_skill(skill: Skill) -> Diagnostic:
    return rules.UNUSED_SKILL.at(
        Span(f"{skill.folder}/{SKILL_FILE}"),
        f"no agent lists the skill `{skill.name}`",
        help="list it in an agent's `skills`",
    )
