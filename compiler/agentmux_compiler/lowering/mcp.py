"""MCP servers of a spec, where and how a provider's CLI takes them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentmux_compiler import rules
from agentmux_compiler.agent import Permission
from agentmux_compiler.argv import filled, literals
from agentmux_compiler.lowered import OutputFile
from agentmux_compiler.lowering.mcp_way import other_way, starts_in_session, transport_of, way_of
from agentmux_compiler.lowering.site import below, is_committed
from agentmux_compiler.text.references import behind, names_in, not_expressible, whole
from agentmux_compiler.tree import byte_order
from agentmux_launcher.arguments import json_literal
from agentmux_launcher.manifest import Argument, SessionServer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from agentmux_compiler.agent import Server
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowering.site import Site
    from agentmux_compiler.providers.schema import ServerArguments

_BEARER = "Bearer "
_BARE = "[A-Za-z0-9_-]+"  # a key of TOML without quotes: quoted ones are not taken in an argument


@dataclass(frozen=True, slots=True)
class Servers:
    """What a plan's servers come to: files, arguments, and the variables that the launching environment must have.

    `session` are those that the launcher names when it makes the session.
    """

    files: tuple[OutputFile, ...] = ()
    argv: tuple[Argument, ...] = ()
    variables: tuple[str, ...] = ()
    session: tuple[SessionServer, ...] = ()


def place_servers(site: Site) -> tuple[Servers, list[Diagnostic]]:
    """The servers of a plan in the order of their names, which is all the order that a CLI knows."""
    mcp = site.provider.mcp
    servers = sorted(site.servers, key=lambda server: byte_order(server.name))
    found = [fault for server in servers for fault in _faults(site, server)]
    found += _denied(site) if servers else []
    if not servers or found:
        return Servers(), found
    session = tuple(_in_session(site, server) for server in servers if way_of(site, server) == "session")
    servers = [server for server in servers if way_of(site, server) != "session"]
    if not servers:
        return Servers(session=session), found
    variables = names_in(value for server in servers for value in _values(server))
    found += [*_without_asking(site), *_behind_trust(site)]
    if mcp.way == "arguments" and mcp.pieces is not None:
        argv = literals(item for server in servers for item in _arguments(site, mcp.pieces, server))
        return Servers((), argv, variables, session), found
    file = _settings_file(site, servers)
    argv = filled(mcp.argv, site.seen_from_cwd(file.path)) if mcp.way == "file-flag" else ()
    return Servers((file,), argv, variables, session), found


def _in_session(site: Site, server: Server) -> SessionServer:
    return SessionServer(server.name, _command(site, server), server.args, server.env, server.url, server.headers)


def _values(server: Server) -> Iterator[str]:
    yield from (server.command or "", *server.args, *server.env.values(), server.url or "", *server.headers.values())


def _faults(site: Site, server: Server) -> Iterator[Diagnostic]:
    """Why a server cannot be given to the provider."""
    mcp, name = site.provider.mcp, site.provider.name
    way = way_of(site, server)
    if way == "none":
        yield rules.UNSUPPORTED_CAPABILITY.at(
            server.at,
            f"`{name}` cannot be given the MCP server `{server.name}`, which speaks {transport_of(server)}",
            help=other_way(site, server),
        )
    elif not re.fullmatch(mcp.names, server.name):
        yield rules.UNSUPPORTED_VALUE.at(
            server.at, f"`{name}` does not take the MCP server name `{server.name}`", help="use letters, digits and `-`"
        )
    elif way == "arguments" and not all(re.fullmatch(_BARE, header) for header in server.headers):
        yield rules.UNSUPPORTED_VALUE.at(
            server.at, f"`{name}` takes no header of `{server.name}` but those of letters, digits, `-` and `_`"
        )
    elif way != "session":
        yield from _unreachable(site, server)


def _unreachable(site: Site, server: Server) -> Iterator[Diagnostic]:
    """References that the CLI would pass on as they stand."""
    for field, name, value in _fields(server):
        if names_in((value,)) and not _reaches(site, field, name, value):
            yield not_expressible(
                server.at,
                f"`{field}` of the MCP server `{server.name}`",
                value,
                f"cannot be passed on by `{site.provider.name}`",
                _remedy(site.provider.mcp.secrets, field),
            )


def _remedy(secrets: str, field: str) -> str:
    if secrets not in {"forwarded", "inherited"}:
        return "give this server to another provider"
    if field == "headers":
        return "make the header nothing but `${NAME}`, or `Authorization: Bearer ${NAME}`"
    return "let the server read the variable itself: `NAME: ${NAME}` under `env`, the same name twice"


def _fields(server: Server) -> Iterator[tuple[str, str, str]]:
    """Field, name within it, and value, of everything that may hold a reference."""
    yield "command", "", server.command or ""
    yield from (("args", "", value) for value in server.args)
    yield from (("env", name, value) for name, value in server.env.items())
    yield "url", "", server.url or ""
    yield from (("headers", name, value) for name, value in server.headers.items())


def _reaches(site: Site, field: str, name: str, value: str) -> bool:
    mcp = site.provider.mcp
    if mcp.secrets == "expanded":
        return field in mcp.expands
    if field == "env":
        return mcp.secrets in {"forwarded", "inherited"} and whole(value) == name
    return mcp.secrets == "forwarded" and field == "headers" and _header_variable(name, value) is not None


def _header_variable(name: str, value: str) -> str | None:
    bearer = behind(_BEARER, value) if name.lower() == "authorization" else None
    return bearer or whole(value)


def _denied(site: Site) -> list[Diagnostic]:
    name, permission = site.provider.name, site.use.permission.value
    if permission not in site.provider.mcp.denied_under:
        return []
    fault = rules.UNSUPPORTED_CAPABILITY.at(
        site.agent.place("mcp"),
        f"`{name}` takes away the tools of MCP servers under the permission `{permission}`",
        help=f"write another `permission` under `providers.{name}`, or give the servers to another agent",
    )
    return [fault]


def _without_asking(site: Site) -> list[Diagnostic]:
    if not site.provider.mcp.without_asking or site.use.permission is Permission.BYPASS:
        return []
    message = f"`{site.provider.name}` runs the tools of these servers without asking, whatever `permission` says"
    return [
        rules.UNASKED_SERVER.at(site.agent.place("mcp"), message, help="give servers that write to other providers")
    ]


def _behind_trust(site: Site) -> list[Diagnostic]:
    if not site.provider.mcp.behind_trust:
        return []
    name = site.provider.name
    by_session = [f"write `controller: acp` under `providers.{name}`"] if starts_in_session(site.provider) else []
    return [
        rules.UNTRUSTED_SERVER.at(
            site.agent.place("mcp"),
            f"`{name}` starts these servers only where the user trusts the folder",
            help=", or ".join(["start it with `agentmux run --trust`", *by_session]),
        )
    ]


def _settings_file(site: Site, servers: Sequence[Server]) -> OutputFile:
    mcp = site.provider.mcp
    folder = site.own if mcp.way == "file-flag" else site.cwd
    path = below(folder, mcp.file or "")
    table = {mcp.key or "": {server.name: _entry(site, server) for server in servers}}
    content = json.dumps(table, indent=2, ensure_ascii=False) + "\n"
    at = site.agent.place("mcp")
    return OutputFile(path, content.encode(), is_committed(path), at, (site.key,), merged=mcp.way == "settings")


def _entry(site: Site, server: Server) -> dict[str, Any]:
    mcp = site.provider.mcp
    env = {name: value for name, value in server.env.items() if mcp.secrets == "expanded" or not whole(value)}
    if server.url is None:
        kind = {"type": mcp.stdio_type} if mcp.stdio_type else {}
        entry: dict[str, Any] = {**kind, "command": _command(site, server), "args": list(server.args), "env": env}
    else:
        kind = {"type": mcp.type_value} if mcp.type_value else {}
        entry = {**kind, mcp.url_key or "url": server.url, "headers": dict(server.headers)}
    return {key: value for key, value in {**entry, **mcp.extra}.items() if value not in ([], {})}


def _command(site: Site, server: Server) -> str | None:
    """The executable: one with a relative path is meant from `workdir`, wherever the CLI runs."""
    command = server.command
    rooted = command is None or "/" not in command or command.startswith(("/", "~", "$")) or "\\" in command
    if command is None or rooted or site.cwd == site.agent.workdir:
        return command
    return site.seen_from_cwd(below(site.agent.workdir, command))


def _arguments(site: Site, pieces: ServerArguments, server: Server) -> Iterator[str]:
    """All arguments that declare one server."""
    texts = {"command": _command(site, server), "url": server.url}
    for field, text in texts.items():
        if text is not None:
            yield from _fill(getattr(pieces, field), server, {field: json_literal(text)})
    if server.args:
        yield from _fill(pieces.args, server, {"args": _literal_list(server.args)})
    for name, value in server.env.items():
        if whole(value) is None:
            yield from _fill(pieces.env, server, {"name": name, "value": json_literal(value)})
    forwarded = [name for name, value in server.env.items() if whole(value) is not None]
    if forwarded:
        yield from _fill(pieces.forwarded, server, {"names": _literal_list(forwarded)})
    for name, value in server.headers.items():
        yield from _header(pieces, server, name, value)


def _header(pieces: ServerArguments, server: Server, name: str, value: str) -> Iterator[str]:
    if behind(_BEARER, value) is not None and name.lower() == "authorization":
        template, values = pieces.bearer, {"variable": json_literal(behind(_BEARER, value) or "")}
    elif whole(value) is not None:
        template, values = pieces.header_variable, {"name": name, "variable": json_literal(whole(value) or "")}
    else:
        template, values = pieces.header, {"name": name, "value": json_literal(value)}
    yield from _fill(template, server, values)


def _literal_list(values: Iterable[str]) -> str:
    return "[" + ", ".join(json_literal(value) for value in values) + "]"


def _fill(template: Iterable[str], server: Server, values: Mapping[str, str]) -> Iterator[str]:
    known = {"server": server.name, **values}
    pattern = re.compile("|".join(rf"\{{{name}\}}" for name in known))
    for item in template:
        yield pattern.sub(lambda match: known[match[0][1:-1]], item)
