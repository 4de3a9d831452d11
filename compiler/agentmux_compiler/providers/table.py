"""`docs/providers.md`, what the catalog knows of each provider: `python -m agentmux_compiler.providers.table`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from agentmux_compiler.lowering.modes import goes_on_by_protocol, own_mode, permissions_of
from agentmux_compiler.providers import NAMES, load_provider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from agentmux_compiler.providers.schema import Provider
    from agentmux_compiler.providers.schema_machine import Switch
    from agentmux_compiler.providers.schema_modes import Mode

    Columns = Mapping[str, Callable[[Provider], str]]

PERMISSIONS = ("plan", "ask", "edit", "auto", "bypass")
NONE = "-"

HEAD = """\
# Providers

Made from `compiler/agentmux_compiler/providers/*.yaml` by `python -m agentmux_compiler.providers.table`. Each group of
facts there says where it is from, of which version, and when. The default controller stands first.
"""
RUN = """
## What they are, and what was run

A controller that was run has been started with a model on loopback that kept every request. The others are described
as their documents, their source or their `--help` do.
"""
TEXT = """
## How they get their text

*Own text* is how a plan is given text that nobody else reads who works in its folder.
"""
WORK = """
## What they can be told

A permission that a provider cannot enforce is refused. `session` servers are named when the launcher makes a session.
`agentmux usage` reads the transcripts that are known, below the CLI's own configuration folder.
"""
BEFORE = """
## What they ask for, and what they can be told not to do

`run --trust` opens a gate *for the run*, or for good by an entry in a file of the user's own; one that every launch
opens by a variable is *open*. The three habits are turned off where `opt_out` of the project asks for it: by variables,
by arguments, or (*by hand*) by nothing that a launch may set. A CLI that has no such habit has `-`.
"""
NOT_RUN = """
## What was not run, and why

"""


def document() -> str:
    """The whole page as Markdown."""
    catalog = [load_provider(name) for name in NAMES]
    run = {
        "Executable": lambda each: f"`{each.executable}`",
        "Package": _package,
        "Verified": lambda each: each.package.verified,
        "Controllers": lambda each: ", ".join(name for name, _ in _modes(each)),
        "Run for real": _run,
    }
    text = {
        "Instruction file": lambda each: _quoted(each.instructions.written),
        "Own text": _own_text,
        "Skills": lambda each: _quoted(each.skills.written),
        "Lost without trust": _untrusted,
    }
    work = {"Permissions": _permissions, "MCP servers": _servers, "Goes on": _goes_on, "Transcripts": _transcripts}
    before = {
        "Trust": _opened_by,
        "Its folder": lambda each: _quoted(each.variables.config_dir),
        "Telemetry": lambda each: _habit(each.switches.telemetry),
        "Updates": lambda each: _habit(each.switches.updates),
        "Uploads": lambda each: _habit(each.switches.uploads),
    }
    pages: Mapping[str, Columns] = {RUN: run, TEXT: text, WORK: work, BEFORE: before}
    parts = [part for head, columns in pages.items() for part in (head, *_table(columns, catalog))]
    return "".join((HEAD, *parts, NOT_RUN, *map(_not_run, catalog)))


def _table(columns: Columns, catalog: Iterable[Provider]) -> Iterator[str]:
    yield "\n"
    rows = ([f"`{each.name}`", *(cell(each) for cell in columns.values())] for each in catalog)
    for row in (["Provider", *columns], ["---"] * (len(columns) + 1), *rows):
        yield f"| {' | '.join(row)} |\n"


def _quoted(text: str | None) -> str:
    return NONE if text is None else text if text == "unknown" else f"`{text}`"


def _package(provider: Provider) -> str:
    package = provider.package
    if package.name is None:
        return NONE
    return f"{package.registry} {' and '.join(f'`{each}`' for each in (package.name, *package.companions))}"


def _modes(provider: Provider) -> list[tuple[str, Mode]]:
    """The controllers that can drive the provider's CLI, its default first."""
    known = [(name, mode) for name, mode in provider.modes.items() if mode is not None]
    return sorted(known, key=lambda item: item[0] != provider.controller)


def _run(provider: Provider) -> str:
    return ", ".join(name for name, mode in _modes(provider) if mode.source.startswith("measured")) or NONE


def _own_text(provider: Provider) -> str:
    flag = provider.flag_delivery
    if flag is None:
        return "the first prompt" if provider.arguments.add_directory is None else "a folder of its own"
    argument = " ".join(flag.argv).partition("{}")[0].rstrip("= ")
    return ", ".join(f"`{name}`" for name in (argument, *flag.environment) if name)


def _untrusted(provider: Provider) -> str:
    trust = provider.trust
    return NONE if trust.gate == "none" else trust.drops


def _opened_by(provider: Provider) -> str:
    trust = provider.trust
    if trust.gate == "none":
        return NONE
    if trust.set and trust.set.items() <= provider.variables.set.items():
        return "open"
    if trust.set or provider.controller in trust.argv_for:
        return "for the run"
    return _quoted(trust.file)


def _habit(switch: Switch | str | None) -> str:
    if switch is None or isinstance(switch, str):
        return switch or NONE
    if switch.set:
        return ", ".join(f"`{name}={value}`" for name, value in switch.set.items())
    return _quoted(" ".join(switch.argv)) if switch.argv else f"by hand: `{switch.key}` in `{switch.file}`"


def _servers(provider: Provider) -> str:
    mcp, acp = provider.mcp, provider.acp
    named = {"settings": f"`{mcp.file}`", "file-flag": f"`{' '.join(mcp.argv[:1])}`", "arguments": "arguments"}
    ways = [f"{named[mcp.way]} ({', '.join(mcp.transports)})"] if mcp.way in named else []
    fates: Mapping[str, str] = acp.servers.model_dump() if acp is not None else {}
    taken = [name for name, fate in fates.items() if fate in {"started", "deferred", "if-trusted"}]
    return ", ".join([*ways, *([f"session ({', '.join(taken)})"] if taken else [])]) or NONE


def _permissions(provider: Provider) -> str:
    """What each controller enforces; those that enforce the same stand together."""
    together: dict[str, list[str]] = {}
    for name, mode in _modes(provider):
        known = permissions_of(provider, mode)
        enforced = [each for each in PERMISSIONS if getattr(known, each) is not None]
        together.setdefault(", ".join(enforced) or NONE, []).append(name)
    if len(together) == 1:
        return next(iter(together))
    return "; ".join(f"{', '.join(names)}: {enforced}" for enforced, names in together.items())


def _goes_on(provider: Provider) -> str:
    mode, facts = own_mode(provider), provider.arguments.resume
    by_argument = {"resume": facts.resume, "fork": facts.fork} if "resume" in mode.takes else {}
    possible = {name for name, argv in by_argument.items() if argv is not None} | goes_on_by_protocol(provider, mode)
    return ", ".join(name for name in ("resume", "fork") if name in possible) or NONE


def _transcripts(provider: Provider) -> str:
    told = provider.transcripts
    if told == "unknown":
        return "unknown"
    return ", ".join(f"`{pattern}`" for patterns in told.formats.values() for pattern in patterns)


def _not_run(provider: Provider) -> str:
    reason = provider.package.not_installable
    return f"- {provider.display}: {reason}.\n" if reason else ""


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    sys.stdout.write(document())
