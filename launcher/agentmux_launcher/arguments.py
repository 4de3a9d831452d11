"""From a plan's arguments to the exact strings a child is started with, and to those that people may see."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agentmux_launcher.manifest import FromFile, Literal, Slot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from agentmux_launcher.manifest import Argument

# CreateProcess takes 32,767 UTF-16 units for a whole command line; the rest is room for the other arguments.
LONGEST_PROMPT = 30_000


def expand(argv: Iterable[Argument], text_of: Callable[[str], str], values: Mapping[str, str]) -> tuple[str, ...]:
    """The exact arguments. `text_of` gives the text of a file by its path; `values` those of the slots, by name.

    Raises:
        ValueError: a prompt that is an argument is longer than `LONGEST_PROMPT`; nothing is ever cut.
    """
    prompt = values.get("prompt")
    if prompt is not None and too_long(prompt) and any(_is_prompt(argument) for argument in argv):
        raise ValueError(f"the prompt has {utf16_units(prompt)} UTF-16 units, more than {LONGEST_PROMPT}")
    return tuple(each for argument in argv for each in _expanded(argument, text_of, values))


def _is_prompt(argument: Argument) -> bool:
    return isinstance(argument, Slot) and argument.slot == "prompt"


def _expanded(argument: Argument, text_of: Callable[[str], str], values: Mapping[str, str]) -> Iterator[str]:
    match argument:
        case Literal(value):
            yield value
        case FromFile(template, file, json_string):
            text = text_of(file)
            yield template.replace("{}", json_literal(text) if json_string else text)
        case Slot(slot, present, absent):
            given = values.get(slot)
            yield from absent if given is None else (item.replace("{}", given) for item in present)


def shown(argv: Iterable[Argument], values: Mapping[str, str]) -> tuple[str, ...]:
    """The arguments for people and for `snapshots/`: a file stands for its text, a count for a prompt."""
    prompt = values.get("prompt")
    safe = dict(values) if prompt is None else {**values, "prompt": f"<{len(prompt)} characters>"}
    named = (
        Literal(item.template.replace("{}", f"<{item.file}>")) if isinstance(item, FromFile) else item for item in argv
    )
    return expand(named, str, safe)


def json_literal(text: str) -> str:
    """`text` as a string literal that JSON and TOML read alike: no surrogate pairs, and no bare DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def utf16_units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def too_long(prompt: str) -> bool:
    """Whether a prompt cannot be an argument everywhere."""
    return utf16_units(prompt) > LONGEST_PROMPT
