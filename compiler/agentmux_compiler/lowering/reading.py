"""What is wrong with what plans read: too long, told twice, or somebody else's besides ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Delivery
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.lowering.site import below
from agentmux_compiler.suggest import listing
from agentmux_compiler.tree import byte_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agentmux_compiler.lowering.chain import NativeFile
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.segment import Segment


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
