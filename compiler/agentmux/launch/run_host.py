"""The side of a run that people and programs see: what is printed, what is asked at the terminal."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from agentmux.launch.asking import Asking
from agentmux.launch.plain_view import PlainView
from agentmux_launcher.events import to_line

if TYPE_CHECKING:
    from agentmux.streams import Streams
    from agentmux_launcher.events import Event, Permission
    from agentmux_launcher.person import Person
    from agentmux_launcher.supervise import Inbox


class View(Protocol):
    """What shows a run, and puts to a person what is theirs to say."""

    def output(self, data: bytes) -> None: ...

    def event(self, event: Event) -> None: ...

    def attend(self, person: Person | None, *, chat: bool) -> None:
        """Who is there, before anything is shown. In a chat the turns are theirs."""

    def ready(self) -> None:
        """Ask for the next turn."""

    def question(self, asked: Permission) -> None:
        """Ask what a CLI asks."""

    def typed(self, line: str | None) -> None:
        """What the person typed; None where they will type nothing more."""

    def remaining(self) -> float | None:
        """Seconds until `tick` is due; None where nothing is."""

    def tick(self) -> None:
        """Show what has waited for its time."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class About:
    """Whose run is shown. `model` is what was asked for; `elapsed` and `clock` give seconds, None where nobody knows.

    `elapsed` is how long the run takes so far, `clock` the time of what happens now. `windows` are sizes of context
    windows, by globs of models.
    """

    provider: str
    agent: str | None
    model: str | None
    elapsed: Callable[[], float | None]
    clock: Callable[[], float | None]
    windows: Mapping[str, int] = field(default_factory=dict)


class TextView(Asking, PlainView):
    """The answer, and a line for all else."""

    def output(self, data: bytes) -> None:
        """Bytes are nothing for people."""

    def close(self) -> None:
        PlainView.close(self)


class JsonView(Asking):
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


def view_of(output: str, streams: Streams, about: About, environ: Mapping[str, str] | None = None) -> View:
    """The view of a run: on a terminal that can, a live one for people."""
    if output == "text" and drawable(streams, os.environ if environ is None else environ):
        from agentmux.live.view import LiveView  # noqa: PLC0415  rich is for terminals only

        return LiveView(streams.out, about)
    return VIEWS[output](streams)


def drawable(streams: Streams, environ: Mapping[str, str]) -> bool:
    """Whether both streams are a terminal on which a line can be drawn anew."""
    if not (streams.out.file.isatty() and streams.err.file.isatty()):
        return False
    if sys.platform == "win32":
        from rich.console import detect_legacy_windows  # noqa: PLC0415  rich is for terminals only

        return not detect_legacy_windows()
    return environ.get("TERM", "dumb") not in {"", "dumb"}


class RunHost:
    """Shows a run, and asks whoever is there. With a `chat` that person gives the turns."""

    def __init__(self, view: View, inbox: Inbox, person: Person | None, *, chat: bool) -> None:
        self._view = view
        self._inbox = inbox
        self._person = person
        self._chat = chat
        view.attend(person, chat=chat)

    @property
    def chat(self) -> bool:
        return self._chat

    @property
    def person(self) -> bool:
        return self._person is not None

    def output(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # the stream knows why, and swallows the rest; the run goes on
            self._view.output(data)

    def event(self, event: Event) -> None:
        with contextlib.suppress(OSError):
            self._view.event(event)

    def ready(self) -> None:
        if self._person is not None:
            self._view.ready()
            self._person.listen(self._inbox)

    def question(self, asked: Permission) -> None:
        if self._person is not None:
            self._person.forget()
            self._view.question(asked)
            self._person.listen(self._inbox)

    def typed(self, line: str | None) -> None:
        self._view.typed(line)

    def remaining(self) -> float | None:
        return self._view.remaining()

    def tick(self) -> None:
        self._view.tick()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._view.close()
