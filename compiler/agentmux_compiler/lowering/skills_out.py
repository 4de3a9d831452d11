"""Skills of a plan: copied where its CLI reads them, and the rows in which it lists them to the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Delivery, Skill
from agentmux_compiler.argv import filled
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowered import OutputFile, PrefixSegment
from agentmux_compiler.lowering.site import below, folders_to, is_committed
from agentmux_compiler.segment import Text
from agentmux_compiler.sources.source_text import decode
from agentmux_compiler.suggest import listing as names
from agentmux_compiler.tree import byte_order
from agentmux_launcher.manifest import Argument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_compiler.agent import Listed
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema import Skills
    from agentmux_compiler.tree import Tree

SKILL_FILE = "SKILL.md"
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;", "'": "&apos;"}


@dataclass(frozen=True, slots=True)
class Placed:
    """A skill in a folder that a CLI reads; `shared` says that other CLIs that run there see it too.

    `meant` says that it should be so: with `delivery: file` the folder belongs to everybody who works there.
    """

    skill: Skill
    folder: str
    at: Span
    agent: str
    shared: bool
    meant: bool


@dataclass(frozen=True, slots=True)
class SkillsOut:
    """What a plan's skills come to."""

    placed: tuple[Placed, ...] = ()
    files: tuple[OutputFile, ...] = ()
    directories: tuple[Argument, ...] = ()


def place_skills(site: Site, tree: Tree) -> tuple[SkillsOut, list[Diagnostic]]:
    """Copies of a plan's skills, byte for byte but for SKILL.md, which gets LF ends and no byte order mark.

    Without a folder that the CLI reads there is nothing to copy: its instructions hold an index.
    """
    facts = site.provider.skills
    if not site.agent.skills or facts.written is None:
        return SkillsOut(), []
    private = _is_private(site)
    base = site.own if private else "." if facts.chain == "root" else site.cwd
    folder = below(base, facts.written)
    shared = not private and site.delivery is not Delivery.FOLDER
    meant = site.delivery is Delivery.FILE
    placed = tuple(Placed(each.item, folder, each.at, site.agent.name, shared, meant) for each in site.agent.skills)
    files = tuple(file for each in site.agent.skills for file in _copies(site, each, folder, tree))
    directories = _own_directory(site) if private else ()
    return SkillsOut(placed, files, directories), [*_cut(site), *(() if private else _behind_trust(site))]


def _own_directory(site: Site) -> tuple[Argument, ...]:
    """The arguments that name the plan's own skills."""
    named = (item.replace("{own}", site.own) for item in site.provider.skills.private or ())
    return filled(named, site.seen_from_cwd(site.own))


def _is_private(site: Site) -> bool:
    """Whether the plan's skills lie in a folder that only its arguments name."""
    facts = site.provider.skills
    if facts.private is None or "directories" not in site.mode.takes:
        return False
    # A CLI that looks for skills in the root alone finds none in the plan's own folder.
    return site.delivery in {Delivery.FLAG, Delivery.STARTUP} or (
        site.delivery is Delivery.FOLDER and facts.chain == "root"
    )


def _copies(site: Site, listed: Listed[Skill], folder: str, tree: Tree) -> Iterator[OutputFile]:
    """One output for each file; a project that keeps its skills right there needs none."""
    skill = listed.item
    for name in skill.files:
        source, path = below(skill.folder, name), below(folder, f"{skill.name}/{name}")
        data = tree.read(source)
        if data is not None and source != path:
            content = _normalised(source, data) if name == SKILL_FILE else data
            runs = tree.executable(source)
            yield OutputFile(path, content, is_committed(path), listed.at, (site.key,), executable=runs)


def _normalised(path: str, data: bytes) -> bytes:
    text, _ = decode(path, data)
    return data if text is None else text.encode()


def _behind_trust(site: Site) -> list[Diagnostic]:
    if not site.provider.skills.behind_trust:
        return []
    name = site.provider.name
    fault = rules.UNTRUSTED_SKILL.at(
        site.agent.place("skills"),
        f"`{name}` lists these skills only where the user trusts the folder",
        help="start it with `agentmux run --trust`",
    )
    return [fault]


def _cut(site: Site) -> list[Diagnostic]:
    facts, name = site.provider.skills, site.provider.name
    limit, whole = facts.description_limit, facts.listing_limit
    found = [
        rules.SKILL_TRUNCATED.at(
            each.item.described_at or each.at,
            f"`{name}` {_fate(facts)} after {limit:,} characters; it has {len(_one_line(facts, each.item)):,}",
            help="say in the first sentence when to use the skill, and leave the rest to its body",
        )
        for each in site.agent.skills
        if _too_long(facts, each.item)
    ]
    size = sum(len(row(facts, each.item, "", 1).encode()) + 1 for each in site.agent.skills)
    if isinstance(whole, int) and size > whole:
        message = f"`{name}` has {whole:,} bytes for the list of skills, and this one takes {size:,}"
        found.append(
            rules.SKILL_TRUNCATED.at(site.agent.place("skills"), message, help="list fewer, or describe shorter")
        )
    return found


def _too_long(facts: Skills, skill: Skill) -> bool:
    limit = facts.description_limit
    return isinstance(limit, int) and len(_one_line(facts, skill)) > limit


def _fate(facts: Skills) -> str:
    return "drops a skill whose description goes on" if facts.beyond_limit == "dropped" else "cuts this description"


def row(facts: Skills, skill: Skill, location: str, root: int) -> str:
    """The line in which a CLI lists a skill; `location` is its SKILL.md, `root` the number of the folder it lies in."""
    description = _one_line(facts, skill)
    limit = facts.description_limit
    if isinstance(limit, int) and len(description) > limit:
        description = description[: limit - len(facts.ellipsis)] + facts.ellipsis
    escaped = "".join(_ENTITIES.get(char, char) if char in facts.escapes else char for char in description)
    placed = facts.row.replace("{name}", skill.name).replace("{location}", location).replace("{root}", str(root))
    return placed.replace("{description}", escaped)


def _one_line(facts: Skills, skill: Skill) -> str:
    return " ".join(skill.description.split()) if facts.newlines == "spaces" else skill.description.strip()


def visible(site: Site, own: Iterable[Placed], shared: Iterable[Placed]) -> tuple[Placed, ...]:
    """The skills that a plan's CLI lists: its own, and those that others put into folders it reads."""
    folders = _read(site)
    reached = [each for each in (*own, *shared) if each in own or each.folder in folders]
    facts = site.provider.skills
    if facts.beyond_limit == "dropped":
        reached = [each for each in reached if not _too_long(facts, each.skill)]
    each_one = facts.same_name == "each"
    found: dict[tuple[str, str], Placed] = {}
    for each in reached:
        found.setdefault((each.skill.name, each.folder if each_one else ""), each)
    return tuple(_in_order(facts, list(found.values())))


def _read(site: Site) -> frozenset[str]:
    """The skill folders that the CLI reads by itself."""
    return frozenset(below(folder, name) for folder in _searched(site) for name in site.provider.skills.native)


def _searched(site: Site) -> tuple[str, ...]:
    """Folders in which the CLI looks for its skill folders."""
    chain = site.provider.skills.chain
    if chain == "root-to-cwd":
        return folders_to(site.cwd)
    return {"cwd": (site.cwd,), "unknown": (site.cwd,), "root": (".",)}.get(chain, ())


def _in_order(facts: Skills, placed: Sequence[Placed]) -> list[Placed]:
    if facts.order == "casefold":
        return sorted(placed, key=lambda each: (each.shared, each.skill.name.casefold(), byte_order(each.skill.name)))
    deepest_first = sorted(placed, key=lambda each: each.folder.count("/"), reverse=True)
    return sorted(deepest_first, key=lambda each: byte_order(each.skill.name), reverse=facts.order == "reverse-bytes")


def listing(site: Site, placed: Sequence[Placed]) -> tuple[PrefixSegment, ...]:
    """The rows of a CLI's list, one segment each, traced to the skill's description."""
    facts = site.provider.skills
    # Where a skill lies differs from agent to agent.
    agent = f"@{site.agent.name}" if "{location}" in facts.row or "{root}" in facts.row else ""
    roots = sorted({each.folder for each in placed}, key=lambda folder: (folder.count("/"), byte_order(folder)))
    made: list[PrefixSegment] = []
    for index, each in enumerate(placed):
        again = "-again" if any(each.skill.name == other.skill.name for other in placed[:index]) else ""
        name = f"skills/{each.skill.name}{again}{agent}+{site.provider.name}.md"
        made.append(_segment(name, facts, each, roots.index(each.folder) + 1))
    return tuple(made)


def _segment(name: str, facts: Skills, placed: Placed, root: int) -> PrefixSegment:
    skill = placed.skill
    text = row(facts, skill, below(placed.folder, f"{skill.name}/{SKILL_FILE}"), root) + "\n"
    line = skill.described_at.line if skill.described_at else 1
    body = Text(text, below(skill.folder, SKILL_FILE), (line,) * text.count("\n"))
    return PrefixSegment("skills", name, body, len(text.encode()), placed.at)


def shared_faults(sites: Sequence[Site], placed: Sequence[Placed]) -> list[Diagnostic]:
    """Skills that a plan had to put where agents that do not list them see them too."""
    meant = {(each.folder, each.skill.name) for each in placed if each.meant}
    listed = {site.agent.name: {each.item.name for each in site.agent.skills} for site in sites}
    readers: dict[str, dict[str, None]] = {}
    for site in sites:
        for folder in _read(site):
            readers.setdefault(folder, {})[site.agent.name] = None
    found: dict[Diagnostic, None] = {}
    for each in placed:
        others = [name for name in readers.get(each.folder, {}) if each.skill.name not in listed[name]]
        if others and (each.folder, each.skill.name) not in meant:
            found[_shared(each, others)] = None
    return list(found)


def _shared(placed: Placed, others: Iterable[str]) -> Diagnostic:
    return rules.SHARED_SKILL.at(
        placed.at,
        f"`{placed.skill.name}` lies in `{placed.folder}`, where {names(others)} will see it too",
        help="use `delivery: folder` where it is listed, or list it for all who run there",
    )
