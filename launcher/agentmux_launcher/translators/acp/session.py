"""What an ACP agent says of its session: who serves it, in which mode it is, which commands it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import Commands, Event, Mode, Plan, Session, Step
from agentmux_launcher.translators.values import first, mapping, mappings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class SessionState:
    """Tells each thing once, and again where it changed; nothing before the session has an id."""

    def __init__(self) -> None:
        self._known = Session()
        self._told: Session | None = None
        self._mode: str | None = None
        self._commands: tuple[str, ...] | None = None

    def initialized(self, result: Mapping[str, Any]) -> Iterator[Event]:
        yield from self._learn(cli_version=first(mapping(result.get("agentInfo")).get("version")))

    def began(self, result: Mapping[str, Any], session_id: str | None) -> Iterator[Event]:
        """The answer that makes a session or goes on with one; `session_id` is what was asked for."""
        models = mapping(result.get("models"))
        options = _options(result)
        model = first(options.get("model"), models.get("currentModelId"))
        yield from self._learn(session_id=first(result.get("sessionId"), session_id), model=model)
        yield from self.mode(first(mapping(result.get("modes")).get("currentModeId"), options.get("mode")))

    def configured(self, said: Mapping[str, Any]) -> Iterator[Event]:
        """The options of a session after one of them changed."""
        options = _options(said)
        yield from self.model(options.get("model"))
        yield from self.mode(options.get("mode"))

    def model(self, model: str | None) -> Iterator[Event]:
        yield from self._learn(model=model)

    def mode(self, mode: str | None) -> Iterator[Event]:
        if mode and mode != self._mode:
            self._mode = mode
            yield Mode(mode)

    def server(self, name: str | None, status: str | None) -> Iterator[Event]:
        """What became of an MCP server."""
        if name and status:
            yield from self._learn(mcp_servers={**self._known.mcp_servers, name: status})

    def commands(self, update: Mapping[str, Any]) -> Iterator[Event]:
        listed = (first(item.get("name")) for item in mappings(update.get("availableCommands")))
        names = tuple(name for name in listed if name)
        if names != self._commands:
            self._commands = names
            yield Commands(names)

    def _learn(self, **fields: Any) -> Iterator[Event]:
        known = {name: value for name, value in fields.items() if value is not None}
        self._known = replace(self._known, **known)
        if self._known.session_id and self._known != self._told:
            self._told = self._known
            yield self._known


def plan(update: Mapping[str, Any]) -> Plan:
    """A plan as `plan` has it or, by its kind, `plan_update`."""
    inner = mapping(update.get("plan")) or update
    entries = mappings(inner.get("entries"))
    steps = [Step(first(each.get("content")) or "", first(each.get("status")), _priority(each)) for each in entries]
    text = first(inner.get("content"))
    return Plan(tuple(steps) if steps or not text else (Step(text),))


def _priority(entry: Mapping[str, Any]) -> str | None:
    return first(entry.get("priority"))


def _options(said: Mapping[str, Any]) -> dict[str, str]:
    """The values of the options that choose model and mode, by that category or, without one, by their ids."""
    listed = mappings(said.get("configOptions"))
    named = [(first(item.get("category"), item.get("id")), item) for item in listed]
    found = {name: value for name, item in named if name and (value := first(item.get("currentValue")))}
    own = {name: value for item in listed if (name := first(item.get("id"))) and (value := _value(item))}
    return {**found, **own}


def _value(item: Mapping[str, Any]) -> str | None:
    return first(item.get("currentValue"))
