"""What was found as sources: agents, bundles, skills, settings, lines for git."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

from agentmux_compiler.adopting.take_in import scripts_of, take_in_skill
from agentmux_compiler.agent import Settings
from agentmux_compiler.lowering.site import below
from agentmux_compiler.proposal.bundle_file import bundle_file
from agentmux_compiler.proposal.bundling import MAIN, PROJECT, NamedBundle, Piece, bundles_of, outline
from agentmux_compiler.proposal.secrets import Replaced
from agentmux_compiler.proposal.servers import ServerSpec, read_servers
from agentmux_compiler.proposal.spec_text import AgentDraft, Item, spec_text
from agentmux_compiler.proposal.survey import SERVERS_FILE, FoundText, Left, Survey
from agentmux_compiler.sources.source_names import name_fault
from agentmux_compiler.tree import Tree

STARTER = (
    "# Working here\n\n"
    "Write here what everybody who works in this repository must know: how to build it, how to test it, and what\n"
    "nobody may touch.\n"
)
_PLACES = ("", "prompts/", "agentmux/")  # where a folder of sources goes whose own place is taken


@dataclass(frozen=True, slots=True)
class Choices:
    """How the sources are made; the later fields are what trials have shown.

    `providers` are those of an agent that has no file yet. `dropped` says why a skill or server is not taken in, `out`
    are paths of files that stay as they are.
    """

    settings: Settings
    providers: tuple[str, ...]
    dropped: Mapping[Item, str] = field(default_factory=dict)
    out: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources to be written, by path, with those that may be run; `items` says what a line of a spec is about."""

    agents: tuple[AgentDraft, ...]
    files: Mapping[str, bytes]
    items: Mapping[tuple[str, int], Item]
    texts: tuple[FoundText, ...]
    bundles: tuple[NamedBundle, ...]
    replaced: tuple[Replaced, ...]
    left: tuple[Left, ...]
    executables: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Making:
    """Sources while they are put together; `texts` are those of the survey that are taken in."""

    survey: Survey
    texts: tuple[FoundText, ...]
    tree: Tree
    choices: Choices
    files: dict[str, bytes] = field(default_factory=dict)
    executables: set[str] = field(default_factory=set)
    replaced: list[Replaced] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)


def free_folders(tree: Tree, header: bool) -> Settings:
    """Settings in which bundles, skills and snapshots have folders that nothing else lies in."""
    defaults = Settings()
    taken = {place: tree.names(place.rstrip("/") or ".") for place in _PLACES}

    def free(name: str) -> str:
        return next(place + name for place in _PLACES if not {name, f"{name}/"} & set(taken[place]))

    return Settings(
        bundles=free(defaults.bundles), skills=free(defaults.skills), snapshots=free(defaults.snapshots), header=header
    )


def compose(survey: Survey, tree: Tree, choices: Choices) -> Sources:
    """Sources for what was found, or a main agent to begin with where nothing was."""
    texts = tuple(text for text in survey.texts if text.path not in choices.out)
    making = _Making(survey, texts, tree, choices)
    homes = list(dict.fromkeys(text.folder for text in texts))
    if not texts or any(skill.folder == "." for skill in survey.skills) or "." in survey.servers:
        homes = [".", *(home for home in homes if home != ".")]
    names = _names(homes)
    lists, bundles = _bundles(texts, names, survey)
    for bundle in bundles:
        path, data = bundle_file(choices.settings.bundles, bundle)
        making.files[path] = data
    agents = tuple(_agent(making, home, name, lists.get(name, ())) for home, name in names.items())
    items: dict[tuple[str, int], Item] = {}
    settings = _project_settings(choices.settings)
    making.files.update({f"{choices.settings.agents}/_project.yaml": settings} if settings else {})
    for agent in agents:
        path = f"{choices.settings.agents}/{agent.name}.yaml"
        making.files[path], lines = spec_text(agent)
        items.update({(path, number): item for number, item in lines.items()})
    return Sources(
        agents,
        making.files,
        items,
        texts,
        bundles,
        tuple(making.replaced),
        tuple(making.left),
        frozenset(making.executables),
    )


def _names(homes: list[str]) -> dict[str, str]:
    """The agent of each folder."""
    given: dict[str, str] = {}
    for home in homes:
        slug = re.sub(r"[^a-z0-9]+", "-", home.lower()).strip("-")
        wanted = MAIN if home == "." else "part" if name_fault(slug) else slug
        numbered = (wanted if number == 1 else f"{wanted}-{number}" for number in count(1))
        given[home] = next(name for name in numbered if name not in given.values())
    return given


def _bundles(
    texts: tuple[FoundText, ...], names: Mapping[str, str], survey: Survey
) -> tuple[Mapping[str, tuple[str, ...]], tuple[NamedBundle, ...]]:
    if not texts and not survey.skills:
        return {MAIN: (PROJECT,)}, (NamedBundle(PROJECT, Piece(STARTER)),)
    return bundles_of([outline(name, [text for text in texts if text.folder == home]) for home, name in names.items()])


def _agent(making: _Making, home: str, name: str, bundles: tuple[str, ...]) -> AgentDraft:
    own = [provider for text in making.texts if text.folder == home for provider in text.providers]
    writers = [provider for skill in making.survey.skills if skill.folder == home for provider in skill.providers]
    return AgentDraft(
        name=name,
        workdir=home,
        providers=tuple(dict.fromkeys(own or writers or making.choices.providers)),
        bundles=bundles,
        skills=tuple(_skills(making, home, name)),
        servers=_servers(making, home, name),
    )


def _skills(making: _Making, home: str, agent: str) -> list[str]:
    """Names of the skills of a folder; their files become sources."""
    taken: list[str] = []
    for skill in making.survey.skills:
        if skill.folder != home:
            continue
        place = skill.places[0]
        files, reason = take_in_skill(place, making.tree, making.choices.settings)
        reason = making.choices.dropped.get(Item("skill", agent, skill.name)) or reason
        if any(making.files.get(path, data) != data for path, data in files.items()):
            reason = "another skill of that name is taken in already"
        if reason:
            making.left.append(Left(place, reason))
        else:
            making.files.update(files)
            making.executables |= scripts_of(place, files, making.tree, making.choices.settings)
            taken.append(skill.name)
    return taken


def _servers(making: _Making, home: str, agent: str) -> tuple[ServerSpec, ...]:
    data = making.survey.servers.get(home)
    if data is None:
        return ()
    path = below(home, SERVERS_FILE)
    servers, replaced, left = read_servers(path, data)
    making.left += left
    dropped = making.choices.dropped
    reasons = {each.name: dropped[item] for each in servers if (item := Item("server", agent, each.name)) in dropped}
    making.left += [Left(f"{path} {name}", reason) for name, reason in reasons.items()]
    making.replaced += [each for each in replaced if each.server not in reasons]
    return tuple(each for each in servers if each.name not in reasons)


def _project_settings(settings: Settings) -> bytes:
    """`_project.yaml`, empty where the defaults will do."""
    defaults = Settings()
    paths = {name: getattr(settings, name) for name in ("bundles", "skills", "snapshots")}
    other = [f"  {name}: {path}\n" for name, path in paths.items() if path != getattr(defaults, name)]
    header = [] if settings.header else ["header: false\n"]
    return "".join([*header, *(["paths:\n", *other] if other else [])]).encode()
