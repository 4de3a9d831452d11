"""`.mcp.json` as the `mcp` of a spec."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentmux_compiler.proposal.secrets import Hider, Replaced
from agentmux_compiler.proposal.survey import Left

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KNOWN = frozenset({"type", "command", "args", "env", "url", "headers"})
_HTTP = frozenset({"http", "streamable-http", "streamableHttp"})


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A server of a spec; secrets are variables already."""

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    url: str | None = None
    headers: Mapping[str, str] | None = None


def read_servers(path: str, data: bytes) -> tuple[tuple[ServerSpec, ...], list[Replaced], list[Left]]:
    """The servers that a spec can hold, what was not copied of them, and what stays in the file alone."""
    try:
        table = json.loads(data.decode("utf-8-sig")).get("mcpServers", {})
        entries = list(table.items())
    except (ValueError, AttributeError):
        return (), [], [Left(path, "it is no JSON object with `mcpServers`")]
    servers: list[ServerSpec] = []
    replaced: list[Replaced] = []
    left: list[Left] = []
    for name, entry in entries:
        reason = _refused(name, entry)
        if reason:
            left.append(Left(f"{path} {name}", reason))
        else:
            hider = Hider(path, name, replaced)
            servers.append(_server(name, entry, hider))
            left += _unknown(path, name, entry)
    return tuple(servers), replaced, left


def _refused(name: str, entry: Any) -> str | None:
    """Why a spec cannot hold an entry."""
    if not _NAME.fullmatch(name):
        return "its name is not letters, digits, `-` and `_`"
    if not isinstance(entry, dict) or not _strings(entry):
        return "it is not as a server is written"
    if entry.get("disabled") is True:
        return "it is disabled"
    kind = entry.get("type", "http" if "url" in entry else "stdio")
    if kind == "stdio" and entry.get("command") and "url" not in entry:
        return None
    if kind in _HTTP and re.match(r"https?://[^\s/?#]", entry.get("url", "")) and "command" not in entry:
        return None
    return f"it speaks `{kind}`, and a spec holds servers over stdio and HTTP"


def _strings(entry: dict[str, Any]) -> bool:
    args, tables = entry.get("args", []), (entry.get("env", {}), entry.get("headers", {}))
    texts = [entry.get(key, "") for key in ("type", "command", "url")]
    if not isinstance(args, list) or not all(isinstance(table, dict) for table in tables):
        return False
    texts += [*args, *(value for table in tables for value in table.values())]
    return all(isinstance(text, str) and text.isprintable() for text in texts)


def _server(name: str, entry: dict[str, Any], hider: Hider) -> ServerSpec:
    if "command" not in entry:
        headers = {key: hider.header(key, value) for key, value in entry.get("headers", {}).items()}
        return ServerSpec(name, url=hider.url(entry["url"]), headers=headers)
    command, *args = hider.words(entry["command"], entry.get("args", []))
    return ServerSpec(
        name,
        command=command,
        args=tuple(args),
        env={key: hider.env(key, value) for key, value in entry.get("env", {}).items()},
    )


def _unknown(path: str, name: str, entry: dict[str, Any]) -> Iterator[Left]:
    for key in entry:
        if key not in _KNOWN:
            yield Left(f"{path} {name}.{key}", "a spec has no such field")
