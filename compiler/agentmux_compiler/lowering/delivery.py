"""How a plan's text reaches its CLI: as a file, by a flag, in a folder of its own, or in the first turn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.agent import Delivery
from agentmux_compiler.argv import filled
from agentmux_compiler.assemble import render
from agentmux_compiler.lowered import OutputFile
from agentmux_compiler.lowering.site import below, is_committed
from agentmux_compiler.text.placeholders import volatile_at
from agentmux_launcher.arguments import json_literal
from agentmux_launcher.manifest import Argument, FromFile, LineRun, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_compiler.agent import Settings
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema import FlagDelivery
    from agentmux_compiler.segment import Segment


@dataclass(frozen=True, slots=True)
class Delivered:
    """What delivery writes and passes: `appended` says that the CLI takes the text up behind its own."""

    files: tuple[OutputFile, ...] = ()
    argv: tuple[Argument, ...] = ()
    directories: tuple[Argument, ...] = ()
    appended: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


def deliver(site: Site, segments: Sequence[Segment], settings: Settings) -> tuple[Delivered, list[Diagnostic]]:
    """Files and arguments of a plan's text; a text for the first turn needs neither."""
    if site.delivery is Delivery.FOLDER:
        return _in_folder(site, segments), []
    if not segments or site.delivery is Delivery.STARTUP:
        return Delivered(), []
    if site.delivery is Delivery.FILE:
        return _in_workdir(site, segments, settings), []
    return _by_flag(site, segments)


def instruction_file(
    site: Site, segments: Sequence[Segment], path: str, *, header: bool = False, flag: FlagDelivery | None = None
) -> OutputFile:
    """The file that holds a plan's text, as its CLI is to read it."""
    content, lines = render(segments, header=header)
    before, _, after = flag.template.partition("{}") if flag else ("", "", "")
    moved = before.count("\n")
    return OutputFile(
        path,
        f"{before}{escaped(content.decode(), flag.escapes if flag else {})}{after}".encode(),
        is_committed(path),
        site.use.at,
        (site.key,),
        tuple(LineRun(run.line + moved, run.count, run.segment, run.path, run.source_line) for run in lines),
        volatile=tuple(sorted({name for segment in segments for name in segment.volatile})),
        quoting=tuple(each.name for each in segments if not each.volatile and volatile_at(each.body)),
    )


def escaped(text: str, escapes: Mapping[str, str]) -> str:
    """A text in which each key of `escapes` is replaced once; they do not overlap."""
    if not escapes:
        return text
    return re.sub("|".join(re.escape(key) for key in escapes), lambda match: escapes[match[0]], text)


def _in_workdir(site: Site, segments: Sequence[Segment], settings: Settings) -> Delivered:
    """The file that everybody reads who works there; a CLI that does not by itself is given its path."""
    facts = site.provider.instructions
    path = below(site.agent.workdir, facts.written or "")
    file = instruction_file(site, segments, path, header=settings.header)
    return Delivered((file,), filled(facts.argv, site.seen_from_cwd(path)), appended=bool(facts.argv))


def _in_folder(site: Site, segments: Sequence[Segment]) -> Delivered:
    """The CLI runs in the plan's own folder and gets the working directory besides."""
    path = below(site.own, site.provider.instructions.written or "")
    files = (instruction_file(site, segments, path),) if segments else ()
    add = site.provider.arguments.add_directory or ()
    return Delivered(files, directories=filled(add, site.seen_from_cwd(site.agent.workdir)))


def _by_flag(site: Site, segments: Sequence[Segment]) -> tuple[Delivered, list[Diagnostic]]:
    flag = site.provider.flag_delivery
    if flag is None:
        return Delivered(), []
    file = instruction_file(site, segments, below(site.own, flag.file), flag=flag)
    if flag.way == "directory":
        return Delivered((file,), filled(flag.argv, site.seen_from_cwd(site.own))), []
    if flag.way == "file":
        path, folder = site.seen_from_cwd(file.path), site.seen_from_cwd(site.own)
        places = {"{}": path, "{folder}": folder}
        named = {name: escaped(value, places) for name, value in flag.environment.items()}
        return Delivered((file,), filled(flag.argv, path), appended=True, environment=named), []
    argv = tuple(FromFile(item, file.path, flag.json_string) if "{}" in item else Literal(item) for item in flag.argv)
    return Delivered((file,), argv, appended=True), _too_long(site, file, flag)


def _too_long(site: Site, file: OutputFile, flag: FlagDelivery) -> list[Diagnostic]:
    """Linux bounds a single argument, whatever the whole command line may hold."""
    limit = site.provider.arguments.one_argument_bytes
    text = file.content.decode()
    passed = json_literal(text) if flag.json_string else text
    size = max(len(item.replace("{}", passed).encode()) for item in flag.argv)
    if limit is None or size <= limit:
        return []
    fault = rules.INSTRUCTIONS_TOO_LONG.at(
        site.use.place("delivery"),
        f"the instructions make an argument of {size:,} bytes, and one for `{site.provider.name}` holds {limit:,}",
        help="use `delivery: file` or `delivery: folder`, which pass no text in an argument",
    )
    return [fault]
