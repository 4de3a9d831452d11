"""The text of a proposed spec, and which of its lines holds what."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.proposal.servers import ServerSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


@dataclass(frozen=True, slots=True)
class Item:
    """Something a spec lists that a build may refuse: a skill or an MCP server of an agent."""

    kind: str
    agent: str
    name: str


@dataclass(frozen=True, slots=True)
class AgentDraft:
    """A proposed agent; `workdir` is `.` for the project."""

    name: str
    workdir: str
    providers: tuple[str, ...]
    bundles: tuple[str, ...]
    skills: tuple[str, ...] = ()
    servers: tuple[ServerSpec, ...] = ()


def spec_text(agent: AgentDraft) -> tuple[bytes, Mapping[int, Item]]:
    """The YAML of a spec, and the item that each line (from 1) belongs to."""
    lines: list[tuple[str, Item | None]] = [(line, None) for line in _head(agent)]
    if agent.skills:
        lines.append(("skills:", None))
        lines += [(f"  - {scalar(name)}", Item("skill", agent.name, name)) for name in agent.skills]
    if agent.servers:
        lines.append(("mcp:", None))
        for server in agent.servers:
            lines += [(line, Item("server", agent.name, server.name)) for line in _server(server)]
    items = {number: item for number, (_, item) in enumerate(lines, 1) if item}
    return "".join(f"{line}\n" for line, _ in lines).encode(), items


def scalar(text: str) -> str:
    """A printable string as YAML, in quotes where it might be taken for something else."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)


def _head(agent: AgentDraft) -> Iterator[str]:
    yield "providers:"
    yield from (f"  {name}: {{}}" for name in agent.providers)
    yield "delivery: file"
    if agent.workdir != ".":
        yield f"workdir: {scalar(agent.workdir)}"
    if agent.bundles:
        yield "bundles:"
        yield from (f"  - {scalar(name)}" for name in agent.bundles)


def _server(server: ServerSpec) -> Iterator[str]:
    yield f"  {scalar(server.name)}:"
    if server.command is not None:
        yield f"    command: {scalar(server.command)}"
        if server.args:
            yield f"    args: [{', '.join(scalar(arg) for arg in server.args)}]"
        yield from _table("env", (server.env or {}).items())
    else:
        yield f"    url: {scalar(server.url or '')}"
        yield from _table("headers", (server.headers or {}).items())


def _table(name: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    listed = [f"      {scalar(key)}: {scalar(value)}" for key, value in rows]
    if listed:
        yield f"    {name}:"
        yield from listed
