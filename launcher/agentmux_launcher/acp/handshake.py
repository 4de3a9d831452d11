"""From a started agent to a session that takes prompts: each step as a request that waits for its answer."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentmux_launcher.manifest import SessionServer
from agentmux_launcher.translators.values import first, mapping, mappings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentmux_launcher.manifest import AcpPlan, SessionSetting

PROTOCOL = 1
INITIALIZE, AUTHENTICATE, NEW, LOAD, RESUME, FORK = (
    "initialize",
    "authenticate",
    "session/new",
    "session/load",
    "session/resume",
    "session/fork",
)
FILES, TERMINALS = "files", "terminals"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """A request, and how many seconds its answer may take."""

    method: str
    params: Json
    seconds: float


@dataclass(frozen=True, slots=True)
class Opened:
    """A session that takes prompts; `new` where nobody has said anything in it."""

    session_id: str
    new: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the session is to be: its folder, its servers, the one to go on with or to take a copy of (`fork`)."""

    folder: str
    servers: tuple[SessionServer, ...] = ()
    session_id: str | None = None
    fork: bool = False


class RefusedError(Exception):
    """The agent does not do what the launch needs."""


Handshake = Generator[Ask, Mapping[str, Any], Opened]


def handshake(acp: AcpPlan, wanted: Wanted, environ: Mapping[str, str]) -> Handshake:
    """Everything before the first prompt. Each `yield` is asked, and is to be sent the result.

    Raises:
        RefusedError: it cannot be done with what the agent offers.
    """
    said = yield Ask(INITIALIZE, _greeting(acp), acp.start_seconds)
    method = _authentication(acp, environ, said)
    if method is not None:
        yield Ask(AUTHENTICATE, {"methodId": method}, acp.session_seconds)
    way = _way(acp, wanted, mapping(said.get("agentCapabilities")))
    made = yield Ask(way, _session(wanted), acp.session_seconds)
    session_id = _session_id(way, made, wanted)
    for setting in acp.settings:
        if not _set_already(setting, made):
            yield Ask(setting.method, {"sessionId": session_id, **_setting(setting)}, acp.session_seconds)
    return Opened(session_id, new=way == NEW)


def with_values(frame: Mapping[str, Any], environ: Mapping[str, str]) -> Mapping[str, Any]:
    """A request with the values of the variables that its servers name."""
    params = frame.get("params")
    if not isinstance(params, dict) or not params.get("mcpServers"):
        return frame
    return {**frame, "params": {**params, "mcpServers": expanded(params["mcpServers"], environ)}}


def expanded(params: Any, environ: Mapping[str, str]) -> Any:
    """Parameters with the values of the variables that they name. What is kept of a run has the names."""
    if isinstance(params, str):
        return _VARIABLE.sub(lambda match: environ.get(match[1], ""), params)
    if isinstance(params, list):
        return [expanded(item, environ) for item in params]
    if isinstance(params, dict):
        return {key: expanded(item, environ) for key, item in params.items()}
    return params


def variables(servers: Iterable[SessionServer]) -> set[str]:
    """The variables that servers of a session name."""
    texts = (
        text
        for each in servers
        for text in (each.command or "", *each.args, *each.env.values(), each.url or "", *each.headers.values())
    )
    return {name for text in texts for name in _VARIABLE.findall(text)}


def _greeting(acp: AcpPlan) -> Json:
    files = FILES in acp.lends
    lent = {"fs": {"readTextFile": files, "writeTextFile": files}, "terminal": TERMINALS in acp.lends}
    client = {"name": "agentmux", "title": "agentmux", "version": acp.client_version}
    return {"protocolVersion": PROTOCOL, "clientCapabilities": lent, "clientInfo": client}


def _authentication(acp: AcpPlan, environ: Mapping[str, str], said: Mapping[str, Any]) -> str | None:
    """The method that a variable which is there stands for, if the agent offers it."""
    offered = {first(method.get("id")) for method in mappings(said.get("authMethods"))}
    ways = (method for variable, method in acp.authenticate.items() if environ.get(variable))
    return next((method for method in ways if method in offered), None)


def _way(acp: AcpPlan, wanted: Wanted, capabilities: Mapping[str, Any]) -> str:
    if wanted.session_id is None:
        return NEW
    named = mapping(capabilities.get("sessionCapabilities"))
    loads = {LOAD} if capabilities.get("loadSession") is True else set()
    offered = loads | {f"session/{name}" for name, value in named.items() if value is not None and value is not False}
    possible = (FORK,) if wanted.fork else acp.goes_on
    found = next((way for way in possible if way in offered), None)
    if found is None:
        raise RefusedError(f"this agent does not offer to {'fork' if wanted.fork else 'go on with'} a session")
    return found


def _session(wanted: Wanted) -> Json:
    going_on = {} if wanted.session_id is None else {"sessionId": wanted.session_id}
    return {**going_on, "cwd": wanted.folder, "mcpServers": [_server(server) for server in wanted.servers]}


def _server(server: SessionServer) -> Json:
    if server.url is not None:
        return {"type": "http", "name": server.name, "url": server.url, "headers": _pairs(server.headers)}
    return {"name": server.name, "command": server.command, "args": list(server.args), "env": _pairs(server.env)}


def _pairs(values: Mapping[str, str]) -> list[Json]:
    return [{"name": name, "value": value} for name, value in values.items()]


def _session_id(way: str, made: Mapping[str, Any], wanted: Wanted) -> str:
    """A session that is gone on with keeps its id, and most agents do not repeat it."""
    kept = wanted.session_id if way in {LOAD, RESUME} else None
    session_id = first(kept, made.get("sessionId"))
    if session_id is None:
        raise RefusedError(f"`{way}` was answered without the id of a session")
    return session_id


def _setting(setting: SessionSetting) -> Json:
    option = {} if setting.option is None else {"configId": setting.option}
    return {**option, setting.key: setting.value}


def _set_already(setting: SessionSetting, made: Mapping[str, Any]) -> bool:
    """Whether the session says by itself that it stands so."""
    if setting.option is None:
        holder, key = {"modeId": ("modes", "currentModeId"), "modelId": ("models", "currentModelId")}[setting.key]
        return mapping(made.get(holder)).get(key) == setting.value
    options = mappings(made.get("configOptions"))
    return any(each.get("id") == setting.option and each.get("currentValue") == setting.value for each in options)
