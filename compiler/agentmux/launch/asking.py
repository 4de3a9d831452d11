"""What a CLI asks, and the prompt of a chat, as plain lines at the person's terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agentmux_compiler.render.visible import head, visible
from agentmux_launcher.permission import LEAVE_PLAN, QUESTION, lasting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentmux_launcher.events import Permission
    from agentmux_launcher.person import Person

PROMPT = "> "
LONGEST_SHOWN = 2_000
LONGEST_GRANT = 60


class Asking:
    """How a view that is no terminal of its own speaks with a person: it interrupts nothing and redraws nothing."""

    _person: Person | None = None

    def attend(self, person: Person | None, *, chat: bool) -> None:  # noqa: ARG002  the same in a chat
        self._person = person

    def ready(self) -> None:
        self.close()
        self._say(PROMPT)

    def question(self, asked: Permission) -> None:
        self._say("".join(f"{line}\n" for line in lines(asked)) + PROMPT)

    def typed(self, line: str | None) -> None:
        """The terminal has shown it."""

    def remaining(self) -> float | None:
        """Nothing here waits for a time."""
        return None

    def tick(self) -> None:
        """Nor does anything come due."""

    def close(self) -> None:
        raise NotImplementedError

    def _say(self, text: str) -> None:
        if self._person is not None:
            self._person.say(text)


def lines(asked: Permission) -> Iterator[str]:
    """What a CLI asks, in lines that cannot drive the terminal."""
    given = asked.input if isinstance(asked.input, dict) else {}
    if asked.tool == QUESTION:
        for question in _listed(given.get("questions")):
            yield from _choices(question)
        yield "answer with numbers (1,2) or your own words; `;` stands between answers to several questions"
        return
    if asked.tool == LEAVE_PLAN:
        yield from (visible(line) for line in str(given.get("plan", "")).splitlines())
    yield head(visible(f"{asked.tool} wants to run: {_shown(asked, given)}"), LONGEST_SHOWN)
    if asked.reason:
        yield visible(f"  {asked.reason}")
    always = lasting(asked)
    yield f"y: once, {f'a: {head(visible(always), LONGEST_GRANT)}, ' if always else ''}n [reason]: no"


def _shown(asked: Permission, given: Mapping[str, object]) -> str:
    if asked.tool == LEAVE_PLAN:
        return "leave plan mode and do this"
    command = given.get("command")
    return command if isinstance(command, str) else json.dumps(given, ensure_ascii=False)


def _choices(question: object) -> Iterator[str]:
    if isinstance(question, dict):
        yield visible(str(question.get("question")))
        for number, option in enumerate(_listed(question.get("options")), 1):
            label = option.get("label") if isinstance(option, dict) else option
            yield visible(f"  {number}. {label}")


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []
