"""The text of a chain as parts of the prefix, as its CLI passes it on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_compiler.lowered import PrefixSegment
from agentmux_compiler.lowering.stripped import as_read
from agentmux_compiler.segment import Segment, Text
from agentmux_compiler.writing.header import HEADER, carries_header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentmux_compiler.lowering.chain import NativeFile
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema import Instructions


# What a CLI passes on of a text that it does not pass on whole; no other name has this sign.
READ = "~read"
NATIVE = "native/"


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
        text = file.text or ""
        body = Text(text, file.path, tuple(range(1, text.count("\n") + 1)))
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
