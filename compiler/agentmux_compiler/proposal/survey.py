"""What a repository has for its agents today: instruction files, skills, MCP servers, folder by folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from agentmux_compiler.diagnostics import Diagnostic, has_errors
from agentmux_compiler.lowering.chain import LOCAL_ONLY
from agentmux_compiler.lowering.site import below
from agentmux_compiler.proposal.beside import found_beside
from agentmux_compiler.providers.schema import Provider
from agentmux_compiler.sources.source_text import decode_source
from agentmux_compiler.suggest import listing
from agentmux_compiler.text.hidden_text import find_hidden
from agentmux_compiler.tree import Entry, Found
from agentmux_compiler.writing.header import carries_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentmux_compiler.tree import OutputTree

SKILL_FILE = "SKILL.md"
SERVERS_FILE = ".mcp.json"
# Looked for whether or not a provider of the catalog reads them.
KNOWN = ("AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", ".github/copilot-instructions.md")
# Folders of other people's files, or of what tools make.
PASSED_OVER = frozenset(
    {"__pycache__", "bower_components", "build", "dist", "node_modules", "site-packages", "target", "venv", "vendor"}
)


@dataclass(frozen=True, slots=True)
class FoundText:
    """An instruction file that agentmux can write for `providers`; `text` has LF ends and one final newline.

    `folder` is where it lies, `.` for the project. `link` says that it is a symlink.
    """

    path: str
    folder: str
    providers: tuple[str, ...]
    data: bytes
    text: str
    link: bool = False

    @property
    def marked(self) -> bool:
        """Whether it carries the header of a build already."""
        return carries_header(self.data)


@dataclass(frozen=True, slots=True)
class FoundSkill:
    """A skill in a folder that agentmux can write; `places` are its folders, the first the one to take it from."""

    name: str
    folder: str
    places: tuple[str, ...]
    providers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """Something that stays as it is, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Survey:
    """All that was found. `servers` maps a folder to the bytes of its `.mcp.json`."""

    texts: tuple[FoundText, ...] = ()
    skills: tuple[FoundSkill, ...] = ()
    servers: Mapping[str, bytes] = field(default_factory=dict)
    left: tuple[Left, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Readers:
    """Which provider writes and which reads a file, by its path below a folder."""

    catalog: Sequence[Provider]
    chosen: tuple[str, ...]

    def writers(self, name: str) -> tuple[str, ...]:
        """The providers that a file is taken in for: the chosen ones, else the first of the catalog that writes it."""
        able = [each.name for each in self.catalog if each.instructions.written == name]
        return tuple(each for each in able if each in self.chosen) if self.chosen else tuple(able[:1])

    def names(self) -> tuple[str, ...]:
        """Every path below a folder at which an instruction file may lie; globs among them."""
        facts = [each.instructions for each in self.catalog]
        written = (each.written for each in facts if each.written)
        return tuple(dict.fromkeys((*written, *KNOWN, *(name for each in facts for name in each.native))))

    def why_left(self, name: str) -> str:
        """Why agentmux does not take a file in."""
        if any(fnmatchcase(name, local) for local in LOCAL_ONLY):
            return "it is personal by its name, and sources are committed"
        able = [each.name for each in self.catalog if each.instructions.written == name]
        if able:
            return f"it is for {listing(able)}, and others were asked for"
        reading = [
            each.name for each in self.catalog if any(fnmatchcase(name, seen) for seen in each.instructions.native)
        ]
        if reading:
            return f"it reaches {listing(reading)} by itself, beside what agentmux writes"
        return "no provider of the catalog has it for its instruction file"


def survey(tree: OutputTree, readers: Readers, skip: Sequence[str] = ()) -> Survey:
    """Look through a repository; folders of `skip`, of other repositories and of tools are passed over."""
    folders = tuple(_folders(tree, ".", skip))
    texts: list[FoundText] = []
    left: list[Left] = []
    found: list[Diagnostic] = []
    for path, folder, name in _paths(tree, folders, readers.names()):
        providers = readers.writers(name)
        taken, more = _text(tree, path, folder, providers)
        found += more
        if taken is not None:
            texts.append(taken)
        elif not has_errors(more):
            left.append(Left(path, _why_not(tree, path) if providers else readers.why_left(name)))
    homes = dict.fromkeys((".", *(each.folder for each in texts)))
    skills, more_left = _skills(tree, homes, texts, readers)
    servers = {home: data for home in homes if (data := _file(tree, below(home, SERVERS_FILE))) is not None}
    beside = [Left(path, reason) for path, reason in found_beside(tree, homes, readers.catalog)]
    return Survey(tuple(texts), skills, servers, (*left, *more_left, *beside), tuple(found))


def _folders(tree: OutputTree, folder: str, skip: Sequence[str]) -> Iterator[str]:
    """Every folder to look into, parents first, in byte order."""
    names = tree.names(folder)
    if folder != "." and {".git", ".git/"} & set(names):
        return
    yield folder
    for name in names:
        path = below(folder, name)
        passed = (
            name.startswith(".") or name.rstrip("/") in PASSED_OVER or any(fnmatchcase(path, each) for each in skip)
        )
        if name.endswith("/") and not passed and tree.find(path).entry is Entry.FOLDER:
            yield from _folders(tree, path, skip)


def _paths(tree: OutputTree, folders: Iterable[str], names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Path, folder and name below it, of every instruction file."""
    for folder in folders:
        there = {name.rstrip("/") for name in tree.names(folder)}
        for name in names:
            if name.partition("/")[0] in there or "*" in name.partition("/")[0]:
                for found in _matches(tree, folder, name):
                    yield below(folder, found), folder, found


def _matches(tree: OutputTree, folder: str, name: str) -> Iterator[str]:
    head, _, pattern = name.rpartition("/")
    for entry in tree.names(below(folder, head)):
        if fnmatchcase(entry, pattern) and not entry.endswith("/"):
            yield f"{head}/{entry}".lstrip("/")


def _text(
    tree: OutputTree, path: str, folder: str, providers: tuple[str, ...]
) -> tuple[FoundText | None, list[Diagnostic]]:
    data = tree.read(path) if providers else None
    if data is None:
        return None, []
    text, found = decode_source(path, data)
    faults = [item for item in found if has_errors([item])]
    if text is None or not text.strip():
        return None, faults
    hidden = find_hidden(path, text)
    body = text.partition("\n")[2].removeprefix("\n") if carries_header(data) else text
    link = tree.find(path) != Found(Entry.FILE, path)
    taken = FoundText(path, folder, providers, data, body.rstrip("\n") + "\n", link)
    return (None if hidden else taken), hidden


def _why_not(tree: OutputTree, path: str) -> str:
    return "it is empty" if tree.read(path) is not None else "it is a link that leads out of the project"


def _skills(
    tree: OutputTree, homes: Iterable[str], texts: Sequence[FoundText], readers: Readers
) -> tuple[tuple[FoundSkill, ...], list[Left]]:
    """Skills in the folders in which agentmux writes them for the providers of each folder's agent."""
    skills: list[FoundSkill] = []
    left: list[Left] = []
    for home in homes:
        providers = [name for each in texts if each.folder == home for name in each.providers] or _default(readers)
        kinds = [each.skills.written for each in readers.catalog if each.name in providers and each.skills.written]
        left += _read_natively(tree, home, readers.catalog, kinds)
        places: dict[str, list[str]] = {}
        for kind in dict.fromkeys(kinds):
            for name in _skill_names(tree, below(home, kind)):
                places.setdefault(name, []).append(below(home, f"{kind}/{name}"))
        for name, found in places.items():
            writers = _writers(home, name, found, [each for each in readers.catalog if each.name in providers])
            if all(_same(tree, found[0], other) for other in found[1:]):
                skills.append(FoundSkill(name, home, tuple(found), writers))
            else:
                left += [Left(place, f"there are several skills `{name}`, and they differ") for place in found]
    return tuple(skills), left


def _writers(home: str, name: str, places: Sequence[str], catalog: Sequence[Provider]) -> tuple[str, ...]:
    """For each place of a skill the first provider of the catalog that agentmux would put it there for."""
    kinds = {below(home, f"{each.skills.written}/{name}"): each.name for each in reversed(catalog)}
    return tuple(kinds[place] for place in places)


def _read_natively(tree: OutputTree, home: str, catalog: Sequence[Provider], kinds: Sequence[str]) -> list[Left]:
    """Skills in folders that CLIs read and that agentmux does not write for the agent of this folder."""
    found: dict[str, str] = {}
    for provider in catalog:
        for kind in provider.skills.native:
            for name in _skill_names(tree, below(home, kind)) if kind not in kinds else ():
                found.setdefault(below(home, f"{kind}/{name}"), provider.name)
    return [Left(place, f"it reaches `{name}` by itself") for place, name in found.items()]


def _default(readers: Readers) -> list[str]:
    return [each.name for each in readers.catalog if not readers.chosen or each.name in readers.chosen]


def _skill_names(tree: OutputTree, folder: str) -> Iterator[str]:
    for name in tree.names(folder):
        path = below(folder, name)
        if name.endswith("/") and tree.find(path).entry is Entry.FOLDER and _file(tree, f"{path}/{SKILL_FILE}"):
            yield name.rstrip("/")


def _same(tree: OutputTree, one: str, other: str) -> bool:
    left, right = (dict(_below(tree, folder, "")) for folder in (one, other))
    return left == right


def _below(tree: OutputTree, folder: str, inner: str) -> Iterator[tuple[str, bytes | None]]:
    for name in tree.names(f"{folder}/{inner}".rstrip("/")):
        if name.endswith("/"):
            yield from _below(tree, folder, inner + name)
        else:
            yield inner + name, tree.read(f"{folder}/{inner}{name}")


def _file(tree: OutputTree, path: str) -> bytes | None:
    """Bytes of a regular file that no link leads to."""
    return tree.read(path) if tree.find(path) == Found(Entry.FILE, path) else None
