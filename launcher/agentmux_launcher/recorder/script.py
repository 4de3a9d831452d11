"""A script: which answer the next request gets, by order or by what stands in the request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentmux_launcher.codec import from_json, to_json
from agentmux_launcher.recorder.answers import Answer
from agentmux_launcher.recorder.failures import FAILURES


@dataclass(frozen=True, slots=True)
class Match:
    """What must hold of a request: substrings of its path and decoded body, the whole name of its model."""

    path: str = ""
    body: str = ""
    model: str = ""

    def holds(self, path: str, body: str, model: str) -> bool:
        return self.path in path and self.body in body and self.model in {"", model}


@dataclass(frozen=True, slots=True)
class Turn:
    """An answer and the requests that it is for; None as `times` answers without end."""

    answer: Answer
    match: Match = field(default_factory=Match)
    times: int | None = 1


@dataclass(frozen=True, slots=True)
class Script:
    """Answers in order: a request takes the first turn that is not used up and matches, else `default`.

    Side requests (`side.SIDE_REQUESTS`) take no turn; `side` replaces their harmless answer by name.
    """

    turns: tuple[Turn, ...] = ()
    default: Answer = field(default_factory=lambda: Answer(text="ok"))
    side: Mapping[str, Answer] = field(default_factory=dict)


class ScriptError(ValueError):
    """The script is not JSON, not of this shape, or names something that is not there."""


def of(*answers: Answer | str) -> Script:
    """A script that gives these answers one after the other."""
    return Script(tuple(Turn(Answer(text=each) if isinstance(each, str) else each) for each in answers))


def choose(script: Script, used: Sequence[int], path: str, body: str, model: str) -> int | None:
    """Index of the turn that answers this request; `used[i]` says how often turn i has answered. None: default."""
    for index, turn in enumerate(script.turns):
        left = turn.times is None or used[index] < turn.times
        if left and turn.match.holds(path, body, model):
            return index
    return None


def loads(text: str) -> Script:
    """A script from JSON of the same shape as `Script`.

    Raises:
        ScriptError: not JSON, not this shape, an unknown field, or an unknown kind of failure.
    """
    try:
        given = json.loads(text)
        script = from_json(Script, given)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ScriptError(f"script cannot be read: {error}") from error
    for stray in _strays(given, to_json(script), ""):
        raise ScriptError(f"script has an unknown field `{stray}`")
    check(script)
    return script


def check(script: Script) -> None:
    """Raises ScriptError where the script names a kind of failure that is not known."""
    answers = [turn.answer for turn in script.turns] + [script.default, *script.side.values()]
    for answer in answers:
        if answer.failure and answer.failure.kind not in FAILURES:
            known = ", ".join(sorted(FAILURES))
            raise ScriptError(f"script has an unknown failure `{answer.failure.kind}`; known are {known}")


def _strays(given: Any, built: Any, at: str) -> list[str]:
    """Paths of the fields of `given` that building a script from it has dropped."""
    if isinstance(given, dict) and isinstance(built, dict):
        lost = [f"{at}{key}" for key in given if key not in built]
        pairs = [(key, given[key], built[key]) for key in given if key in built]
    elif isinstance(given, list) and isinstance(built, list):
        lost = []
        pairs = [(str(n), *pair) for n, pair in enumerate(zip(given, built, strict=True))]
    else:
        return []
    return lost + [each for key, one, two in pairs for each in _strays(one, two, f"{at}{key}.")]
