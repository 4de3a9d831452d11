"""Instruction files that a CLI reads by itself: the chain of folders, and its order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from agentmux_compiler.agent import Delivery
from agentmux_compiler.lowered import OutputFile
from agentmux_compiler.lowering.imports import imported, imports_as
from agentmux_compiler.lowering.site import below, folders_to, is_committed
from agentmux_compiler.segment import Segment
from agentmux_compiler.sources.source_text import decode
from agentmux_compiler.tree import byte_order, is_utf8
from agentmux_compiler.writing.header import carries_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema import Instructions
    from agentmux_compiler.tree import Tree

# Kept out of git by convention, so that no snapshot may depend on them.
LOCAL_ONLY = ("*.local.md", "*.override.md")
_FRONT_MATTER = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NativeFile:
    """A file of a chain: an output of ours with its segments, or one that somebody wrote (`output` is None)."""

    path: str
    content: bytes
    output: OutputFile | None = None
    segments: tuple[Segment, ...] = ()

    @property
    def text(self) -> str | None:
        """None where it is not UTF-8."""
        return decode(self.path, self.content)[0]


Outputs = Mapping[str, tuple[OutputFile, tuple[Segment, ...]]]


def chain(site: Site, outputs: Outputs, tree: Tree) -> tuple[NativeFile, ...]:
    """What the CLI reads, in its order. `outputs` are all instruction files of the project, by path."""
    facts = site.provider.instructions
    there = [each for path in _paths(site, tree) if (each := _file(path, outputs, tree)) and _is_read(facts, each)]
    names = {name for each in there for name in facts.native if _named(each.path, name)}
    present = [
        each for each in there if not _switched_off(facts, each.path, names) and not _replaced(facts, each, there)
    ]
    return tuple(_with_imports(site, _in_order(facts, present), outputs, tree))


def _with_imports(site: Site, files: Iterable[NativeFile], outputs: Outputs, tree: Tree) -> Iterator[NativeFile]:
    """Each file with those it names behind it, and each of all only once."""
    seen: set[str] = set()

    def told(file: NativeFile, depth: int) -> Iterator[NativeFile]:
        if file.path in seen:
            return
        seen.add(file.path)
        yield file
        for path in imported(site, file.path, file.text or "") if depth else ():
            found = None if _is_local(path) else _file(path, outputs, tree)
            yield from told(found, depth - 1) if found and found.text is not None else ()

    facts = imports_as(site, "sections")
    depth = facts.depth if facts and isinstance(facts.depth, int) else 0
    for file in files:
        yield from told(file, depth)


def _paths(site: Site, tree: Tree) -> Iterator[str]:
    """Every path that may be read, folder by folder, each once."""
    facts = site.provider.instructions
    names = [name for name in facts.native if not _is_local(name)]
    for folder in dict.fromkeys((*_folders(site), *_added(site))):
        for name in names:
            yield from _matches(below(folder, name), tree)


def _is_local(path: str) -> bool:
    return any(fnmatchcase(path.rpartition("/")[2], local) for local in LOCAL_ONLY)


def _folders(site: Site) -> tuple[str, ...]:
    match site.provider.instructions.chain:
        case "root-to-cwd" | "above-root-to-cwd":
            return folders_to(site.cwd)
        case "cwd" | "unknown":
            # Whatever else it reads, it reads the folder it runs in.
            return (site.cwd,)
        case _:
            return ()


def _added(site: Site) -> tuple[str, ...]:
    """Directories the plan adds, if the CLI reads their instruction files."""
    flag = site.provider.flag_delivery
    if site.provider.instructions.of_added is not True:
        return ()
    if site.delivery is Delivery.FOLDER:
        return (site.agent.workdir,)
    return (site.own,) if site.delivery is Delivery.FLAG and flag is not None and flag.way == "directory" else ()


def _matches(path: str, tree: Tree) -> Iterator[str]:
    folder, _, pattern = path.rpartition("/")
    if "*" not in pattern:
        yield path
        return
    for name in tree.names(folder or "."):
        if fnmatchcase(name, pattern) and not name.endswith("/"):
            yield below(folder or ".", name)


def _file(path: str, outputs: Outputs, tree: Tree) -> NativeFile | None:
    """What will be there after the build; an output that nobody wants any more will not."""
    if path in outputs:
        output, segments = outputs[path]
        return NativeFile(path, output.content, output, segments)
    data = tree.read(path) if is_committed(path) else None
    return None if data is None or carries_header(data) else NativeFile(_as_text(path), data)


def _as_text(path: str) -> str:
    """A path as it is shown and stored: a byte that is not UTF-8 as `%FF`, since no backslash may stand in a path."""
    if is_utf8(path):
        return path
    return "".join(each if is_utf8(each) else f"%{ord(each) & 0xFF:02X}" for each in path)


def _is_read(facts: Instructions, file: NativeFile) -> bool:
    front = _FRONT_MATTER.match(file.content.decode("utf-8", "replace").replace("\r\n", "\n"))
    return not front or not any(re.search(rf"^{key}\s*:", front[1], re.MULTILINE) for key in facts.conditional)


def _named(path: str, name: str) -> bool:
    return fnmatchcase(path, name) or fnmatchcase(path, f"*/{name}")


def _switched_off(facts: Instructions, path: str, present: Iterable[str]) -> bool:
    return any(_named(path, name) and set(others) & set(present) for name, others in facts.only_without.items())


def _replaced(facts: Instructions, file: NativeFile, there: Iterable[NativeFile]) -> bool:
    """Whether the CLI reads another file of the folder instead."""
    name = _name(facts, file)
    others = [other for other, replaced in facts.instead_of.items() if replaced == name]
    folder = file.path[: len(file.path) - len(name)]
    return bool({f"{folder}{other}" for other in others} & {each.path for each in there})


def _in_order(facts: Instructions, files: Sequence[NativeFile]) -> list[NativeFile]:
    if facts.sorted_by == "path":
        return sorted(files, key=lambda each: byte_order(each.path))
    if facts.sorted_by == "deepest-first":
        return sorted(files, key=lambda each: _depth(facts, each), reverse=True)
    if facts.sorted_by == "name-then-depth":
        return sorted(files, key=lambda each: facts.native.index(_name(facts, each)))
    return list(files)


def _name(facts: Instructions, file: NativeFile) -> str:
    return next(name for name in facts.native if _named(file.path, name))


def _depth(facts: Instructions, file: NativeFile) -> int:
    """How deep the folder lies in which the CLI looked for the file."""
    return file.path.count("/") - _name(facts, file).count("/")
