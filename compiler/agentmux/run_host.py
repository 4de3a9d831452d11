"""The side of a run that people and programs see: what is printed, what is asked at the terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

from agentmux.plain_view import PlainView
from agentmux_compiler.render.visible import head, visible
from agentmux_launcher.events import to_line
from agentmux_launcher.permission import LEAVE_PLAN, QUESTION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from agentmux.streams import Streams
    from agentmux_launcher.events import Event, Permission
    from agentmux_launcher.person import Person
    from agentmux_launcher.supervise import Inbox

PROMPT = "> "
LONGEST_SHOWN = 2_000


class View(Protocol):
    """What shows a run."""

    def output(self, data: bytes) -> None: ...

    def event(self, event: Event) -> None: ...

    def close(self) -> None: ...


class TextView(PlainView):
    """The answer, and a line for all else."""

    def output(self, data: bytes) -> None:
        """Bytes are nothing for people."""


class JsonView:
    """One event per line."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    def output(self, data: bytes) -> None:
        """Its frames are shown as events."""

    def event(self, event: Event) -> None:
        self._streams.out.write(to_line(event))

    def close(self) -> None:
        """All is said."""


class RawView(JsonView):
    """What the CLI writes, as it comes."""

    def output(self, data: bytes) -> None:
        self._streams.out.write_bytes(data)

    def event(self, event: Event) -> None:
        """Its frame is shown."""


VIEWS: dict[str, Callable[[Streams], View]] = {"text": TextView, "json": JsonView, "raw": RawView}


class RunHost:
    """Shows a run, and asks whoever is there. With a `chat` that person gives the turns."""

    def __init__(self, view: View, inbox: Inbox, person: Person | None, *, chat: bool) -> None:
        self._view = view
        self._inbox = inbox
        self._person = person
        self._chat = chat

    @property
    def chat(self) -> bool:
        return self._chat

    @property
    def person(self) -> bool:
        return self._person is not None

    def output(self, data: bytes) -> None:
        self._view.output(data)

    def event(self, event: Event) -> None:
        self._view.event(event)

    def ready(self) -> None:
        if self._person is not None:
            self._view.close()
            self._person.say(PROMPT)
            self._person.listen(self._inbox)

    def question(self, asked: Permission) -> None:
        if self._person is not None:
            self._person.say("".join(f"{line}\n" for line in _question(asked)) + PROMPT)
            self._person.listen(self._inbox)


def _question(asked: Permission) -> Iterator[str]:
    """What a CLI asks, in lines that cannot drive the terminal."""
    given = asked.input if isinstance(asked.input, dict) else {}
    if asked.tool == QUESTION:
        for question in given.get("questions", ()):
            yield from _choices(question)
        yield "answer with numbers (1,2) or your own words; `;` stands between answers to several questions"
        return
    if asked.tool == LEAVE_PLAN:
        yield from (visible(line) for line in str(given.get("plan", "")).splitlines())
    yield head(visible(f"{asked.tool} wants to run: {_shown(asked, given)}"), LONGEST_SHOWN)
    if asked.reason:
        yield visible(f"  {asked.reason}")
    always = any(option.kind == "allow_always" for option in asked.options)
    yield f"y: once, {'a: always in this session, ' if always else ''}n [reason]: no"


def _shown(asked: Permission, given: Mapping[str, object]) -> str:
    if asked.tool == LEAVE_PLAN:
        return "leave plan mode and do this"
    command = given.get("command")
    return command if isinstance(command, str) else json.dumps(given, ensure_ascii=False)


def _choices(question: object) -> Iterator[str]:
    if isinstance(question, dict):
        yield visible(str(question.get("question")))
        for number, option in enumerate(question.get("options", ()), 1):
            label = option.get("label") if isinstance(option, dict) else option
            yield visible(f"  {number}. {label}")
