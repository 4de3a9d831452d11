"""Instruction files that a CLI reads by itself: the chain of folders, its order, its budget."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Delivery
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.lowered import OutputFile, PrefixSegment
from agentmux_compiler.lowering.site import below, folders_to, is_committed
from agentmux_compiler.lowering.stripped import as_read
from agentmux_compiler.segment import Segment, Text
from agentmux_compiler.sources.source_text import decode
from agentmux_compiler.suggest import listing
from agentmux_compiler.tree import byte_order, is_utf8
from agentmux_compiler.writing.header import HEADER, carries_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema import Instructions
    from agentmux_compiler.tree import Tree

# Kept out of git by convention, so that no snapshot may depend on them.
LOCAL_ONLY = ("*.local.md", "*.override.md")
# What a CLI passes on of a text that it does not pass on whole; no other name has this sign.
READ = "~read"
NATIVE = "native/"
_FRONT_MATTER = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NativeFile:
    """A file of a chain: an output of ours with its segments, or one that somebody wrote (`output` is None)."""

    path: str
    content: bytes
    output: OutputFile | None = None
    segments: tuple[Segment, ...] = ()


Outputs = Mapping[str, tuple[OutputFile, tuple[Segment, ...]]]


def chain(site: Site, outputs: Outputs, tree: Tree) -> tuple[NativeFile, ...]:
    """What the CLI reads, in its order. `outputs` are all instruction files of the project, by path."""
    facts = site.provider.instructions
    there = [each for path in _paths(site, tree) if (each := _file(path, outputs, tree)) and _is_read(facts, each)]
    names = {name for each in there for name in facts.native if _named(each.path, name)}
    present = [
        each for each in there if not _switched_off(facts, each.path, names) and not _replaced(facts, each, there)
    ]
    return tuple(_in_order(facts, present))


def _paths(site: Site, tree: Tree) -> Iterator[str]:
    """Every path that may be read, folder by folder, each once."""
    facts = site.provider.instructions
    names = [name for name in facts.native if not any(fnmatchcase(name, local) for local in LOCAL_ONLY)]
    for folder in dict.fromkeys((*_folders(site), *_added(site))):
        for name in names:
            yield from _matches(below(folder, name), tree)


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


def native_segments(site: Site, files: Sequence[NativeFile]) -> tuple[PrefixSegment, ...]:
    """The chain as parts of the prefix: the CLI's own headings are opaque, since most hold absolute paths."""
    facts = site.provider.instructions
    made: list[PrefixSegment] = []
    for index, file in enumerate(files):
        before = _with_path(facts.join, site, files[index - 1]) if index else ""
        heading = before + _with_path(facts.heading, site, file)
        if heading:
            made.append(_heading(site, file, len(heading.encode())))
        top = not carries_header(file.content)
        made += (_as_read(site, each, top=top and not at) for at, each in enumerate(_contents(facts, file)))
    return tuple(each for each in made if each.opaque or each.size)


def _as_read(site: Site, segment: PrefixSegment, *, top: bool) -> PrefixSegment:
    """A text as the CLI passes it on; one that it changes is another one than those who get all of it see."""
    body = segment.body
    read = body and as_read(site.provider.instructions.strips, body, top=top)
    if read is None or read == body:
        return segment
    return replace(segment, name=_read_by(site.provider.name, segment.name), body=read, size=len(read.text.encode()))


def _read_by(provider: str, name: str) -> str:
    """`bundles/style+claude~read.md`; a name that a person gave a file keeps its whole length."""
    if name.startswith(NATIVE):
        return f"{name}+{provider}{READ}"
    stem = name.removesuffix(".md").removesuffix(f"+{provider}")
    return f"{stem}+{provider}{READ}.md"


def _with_path(text: str, site: Site, file: NativeFile) -> str:
    return text.replace("{path}", file.path).replace("{relative}", site.seen_from_cwd(file.path))


def _heading(site: Site, file: NativeFile, size: int) -> PrefixSegment:
    """What stands before a file; with an absolute path in it, another folder makes it another."""
    relative = "{relative}" in site.provider.instructions.heading
    path = site.seen_from_cwd(file.path) if relative else file.path
    name = f"{site.provider.name} {site.layout_version}/heading of {path}"
    return PrefixSegment("instructions", name, None, size, varies_with=() if relative else ("cwd",))


def _contents(facts: Instructions, file: NativeFile) -> Iterator[PrefixSegment]:
    if file.output is None:
        text, _ = decode(file.path, file.content)
        body = Text(text or "", file.path, tuple(range(1, (text or "").count("\n") + 1)))
        yield PrefixSegment("instructions", f"{NATIVE}{file.path}", body, len(body.text.encode()))
        return
    committed = file.path if file.output.committed else ""
    if carries_header(file.content) and "block-comments" not in facts.strips:
        header = Text(f"{HEADER}\n", file.path, (1,))
        yield PrefixSegment("instructions", "header.md", header, len(header.text), file.output.at, file=committed)
    yield from (own_segment(segment, committed) for segment in file.segments)


def own_segment(segment: Segment, file: str = "") -> PrefixSegment:
    """A segment of ours as a part of the prefix; `file` is the committed output it stands in."""
    size = len(segment.text.encode())
    return PrefixSegment("instructions", segment.name, segment.body, size, segment.asked_at, segment.volatile, file)


def over_budget(site: Site, files: Sequence[NativeFile]) -> list[Diagnostic]:
    """Instructions that the CLI would cut without a word, with the first line that it would not read whole."""
    facts = site.provider.instructions
    if not isinstance(facts.limit, int) or facts.limit_scope not in {"chain", "file"}:
        return []
    groups = [files] if facts.limit_scope == "chain" else [[file] for file in files]
    return [fault for group in groups for fault in _cut(site, group, facts.limit)]


def _cut(site: Site, files: Sequence[NativeFile], limit: int) -> Iterator[Diagnostic]:
    total = sum(len(file.content) for file in files)
    if total <= limit:
        return
    room = limit
    for file in files:
        if len(file.content) > room:
            break
        room -= len(file.content)
    line = file.content.count(b"\n", 0, room) + 1
    names = ", ".join(f"`{each.path}`" for each in files)
    yield rules.INSTRUCTIONS_TOO_LONG.at(
        _origin(file, line),
        f"`{site.provider.name}` reads {limit:,} bytes of instructions, and there are {total:,} in {names}",
        help="move text into skills, or give a part of it to `delivery: flag`",
        notes=(f"this is the first line it would cut: {file.path}:{line}",),
    )


def _origin(file: NativeFile, line: int) -> Span:
    """The source of a line of a file."""
    for run in file.output.lines if file.output else ():
        if run.line <= line < run.line + run.count:
            return Span(run.path, run.source_line + line - run.line)
    return Span(file.path, line) if file.output is None else file.output.at


def doubled(reading: Iterable[tuple[Site, Sequence[Segment], Sequence[NativeFile]]]) -> list[Diagnostic]:
    """Segments that plans are given and also read in a file that was written for another one; each segment once."""
    places: dict[str, Span] = {}
    readers: dict[str, list[tuple[Site, NativeFile]]] = {}
    for site, segments, files in reading:
        for file, segment in _twice(site, segments, files):
            places.setdefault(segment.name, segment.asked_at)
            readers.setdefault(segment.name, []).append((site, file))
    return [_doubled(at, name, readers[name]) for name, at in places.items()]


def _twice(
    site: Site, segments: Sequence[Segment], files: Sequence[NativeFile]
) -> Iterator[tuple[NativeFile, Segment]]:
    for file in files:
        others = file.segments if file.output is not None and site.key not in file.output.owners else ()
        there = {segment.name for segment in others}
        yield from ((file, segment) for segment in segments if segment.name in there)


def _doubled(at: Span, name: str, readers: Sequence[tuple[Site, NativeFile]]) -> Diagnostic:
    """A plan is named where the file is its own agent's, else the agent."""
    who = dict.fromkeys(site.key if _of_same_agent(site, file) else site.agent.name for site, file in readers)
    paths = sorted({file.path for _, file in readers}, key=byte_order)
    joining = dict.fromkeys(site.key for site, file in readers if _may_join(site, file))
    ways = [f"write `delivery: file` for {listing(joining)}"] if joining else []
    ways += ["leave it to one of the two", "let the agents run in another `workdir`"]
    return rules.DOUBLED_TEXT.at(
        at,
        f"`{name}` reaches {listing(who)} twice: their CLIs read {listing(paths)} besides",
        help=", or ".join(ways),
    )


def _of_same_agent(site: Site, file: NativeFile) -> bool:
    owners = file.output.owners if file.output is not None else ()
    return any(owner.partition("/")[0] == site.agent.name for owner in owners)


def _may_join(site: Site, file: NativeFile) -> bool:
    """Whether the file would be the plan's own with `delivery: file`."""
    written = site.provider.instructions.written
    joins = written is not None and below(site.agent.workdir, written) == file.path
    return joins and site.delivery is not Delivery.FILE and _of_same_agent(site, file)


def also_read(chains: Iterable[tuple[Site, Sequence[NativeFile]]]) -> list[Diagnostic]:
    """Files that somebody wrote and that plans read besides what agentmux wrote for them."""
    readers: dict[str, list[str]] = {}
    for site, files in chains:
        for file in files:
            if file.output is None:
                readers.setdefault(file.path, []).append(site.key)
    return [_also_read(path, keys) for path, keys in readers.items()]


def _also_read(path: str, keys: Sequence[str]) -> Diagnostic:
    return rules.ALSO_READ.at(
        Span(path),
        f"{listing(keys)} also get the text of this file, which the CLI reads by itself",
        notes=("its text is part of their prefix and counts towards the CLI's limit",),
    )
