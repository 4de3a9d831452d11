"""`agentmux init`: sources for a repository that has none; nothing is written unless asked."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux import project
from agentmux.clis import cli_of
from agentmux.errors import DONE, FINDINGS, CannotRun
from agentmux.views import init as init_view
from agentmux_compiler.diagnostics import has_errors
from agentmux_compiler.proposal.proposing import Request, propose
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_compiler.render import View, full, machine
from agentmux_compiler.render.paint import Paint
from agentmux_compiler.render.visible import visible
from agentmux_compiler.render.words import count
from agentmux_compiler.tree import DiskTree, Entry, find
from agentmux_compiler.writing.writes import write_sources
from agentmux_launcher.executable import find as find_executable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from agentmux.streams import Streams
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.proposal.proposing import Proposal
    from agentmux_compiler.providers.schema import Provider

DEFAULT = ("claude", "codex", "gemini")  # where none of the CLIs is installed


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    root = folder(arguments.project)
    catalog = [load_provider(name) for name in NAMES]
    request = Request(
        providers=chosen(catalog, arguments.provider),
        default=installed(catalog) or DEFAULT,
        header=arguments.header,
        skip=tuple(path.strip("/") for path in arguments.skip),
    )
    tree = DiskTree(root)
    proposal = propose(tree, catalog, request)
    for path in proposal.files:
        tree.read(path)  # what stands there now; what comes in between is not written over
    for_people = arguments.format == "full"
    if for_people:
        streams.out.write(init_view.for_people(proposal, Paint(streams.out.color)))
    found = proposal.diagnostics
    asked = bool(arguments.write or (for_people and not has_errors(found) and _says_yes(proposal, streams)))
    if asked and not has_errors(found):
        found = (*found, *write_sources(root, proposal.files, tree, proposal.claimed, proposal.executables))
    written = asked and not has_errors(found)
    if for_people:
        _say(found, root, proposal, streams)
        streams.out.line(visible(_outcome(proposal, asked=asked, failed=has_errors(found))))
    else:
        streams.out.write(machine.dumps(init_view.as_json(proposal, found, written=written)))
    return FINDINGS if has_errors(found) else DONE


def folder(given: str | None) -> Path:
    """The folder that is to become a project: the one given, else this one.

    Raises:
        CannotRun: it is one already, or there is no such folder.
    """
    root = Path(given or ".").resolve()
    if not root.is_dir():
        raise CannotRun(f"there is no folder `{given}`")
    if find(root, project.AGENTS).entry is not Entry.ABSENT:
        raise CannotRun(
            f"`{project.AGENTS}` is there already",
            remedy="run `agentmux build` to compile it, or `agentmux adopt PATH` to take in one more file",
        )
    return root


def chosen(catalog: Sequence[Provider], names: Sequence[str]) -> tuple[str, ...]:
    """The providers named, in the order of the catalog.

    Raises:
        CannotRun: one is unknown, or reads no instruction file that agentmux could write.
    """
    wanted = project.check_providers(names)
    for provider in catalog:
        if provider.name in wanted and provider.instructions.written is None:
            raise CannotRun(f"`{provider.name}` reads no instruction file, so there is nothing to begin with")
    return tuple(provider.name for provider in catalog if provider.name in wanted)


def installed(catalog: Sequence[Provider]) -> tuple[str, ...]:
    """The providers with an instruction file whose CLIs this machine has."""
    able = (provider for provider in catalog if provider.instructions.written)
    return tuple(provider.name for provider in able if find_executable(cli_of(provider), os.environ))


def _says_yes(proposal: Proposal, streams: Streams) -> bool:
    """Ask, where somebody is there to answer."""
    if not (sys.stdin.isatty() and streams.out.file.isatty()):
        return False
    streams.err.write(f"Write {count(len(proposal.files), 'file')}? [y/N] ")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _say(found: Sequence[Diagnostic], root: Path, proposal: Proposal, streams: Streams) -> None:
    """What a build of the proposed files says, with their text as if they were there."""
    there = project.source_reader(root)

    def source(path: str) -> str | None:
        proposed = proposal.files.get(path)
        return there(path) if proposed is None else proposed.decode("utf-8", "replace")

    streams.err.write(full.diagnostics(found, View(source, Paint(streams.err.color))))


def _outcome(proposal: Proposal, *, asked: bool, failed: bool) -> str:
    files = count(len(proposal.files), "file")
    if failed:
        return (
            "Not everything was written." if asked and not has_errors(proposal.diagnostics) else "Nothing was written."
        )
    if not asked:
        return f"Nothing was written. With `--write`, these {files} are."
    return f"{files} written. Look at them, then run `agentmux build --accept` and commit what is there."
