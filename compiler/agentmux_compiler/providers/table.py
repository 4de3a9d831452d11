"""`docs/providers.md`, what the catalog knows of each provider: `python -m agentmux_compiler.providers.table`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from agentmux_compiler.lowering.modes import goes_on_by_protocol, own_mode, permissions_of
from agentmux_compiler.providers import NAMES, load_provider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from agentmux_compiler.providers.schema import Provider
    from agentmux_compiler.providers.schema_modes import Mode

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
    work = {"Permissions": _permissions, "MCP servers": _servers, "Goes on": _goes_on}
    parts = (HEAD, RUN, *_table(run, catalog), TEXT, *_table(text, catalog), WORK, *_table(work, catalog))
    return "".join((*parts, NOT_RUN, *map(_not_run, catalog)))


def _table(columns: Mapping[str, Callable[[Provider], str]], catalog: Iterable[Provider]) -> Iterator[str]:
    yield "\n"
    rows = ([f"`{each.name}`", *(cell(each) for cell in columns.values())] for each in catalog)
    for row in (["Provider", *columns], ["---"] * (len(columns) + 1), *rows):
        yield f"| {' | '.join(row)} |\n"


def _quoted(text: str | None) -> str:
    return NONE if text is None else f"`{text}`"


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


def _not_run(provider: Provider) -> str:
    reason = provider.package.not_installable
    return f"- {provider.display}: {reason}.\n" if reason else ""


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    sys.stdout.write(document())
