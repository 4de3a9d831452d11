"""What a run is told first: the prompt of the command line, of standard input, or a person's at the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from agentmux.errors import CannotRun
from agentmux_launcher.arguments import too_long
from agentmux_launcher.manifest import Slot

if TYPE_CHECKING:
    import argparse

    from agentmux_launcher.manifest import LaunchPlan

WORDS = ("prompt", "resume", "model", "effort")
SHORTEST_ID = 8


def settle_words(arguments: argparse.Namespace) -> None:
    """Tell the prompt from the id of a session, since people write `--resume PROMPT`.

    Raises:
        CannotRun: a word is not UTF-8, which neither a CLI nor the ledger takes.
    """
    if arguments.resume and arguments.prompt is None and not _may_be_id(arguments.resume):
        arguments.prompt, arguments.resume = arguments.resume, ""
    for name in WORDS:
        if not is_text(getattr(arguments, name)):
            named = "the prompt" if name == "prompt" else f"`--{name}`"
            remedy = "`-` reads it from standard input, whatever its bytes are" if name == "prompt" else None
            raise CannotRun(f"{named} is not UTF-8", remedy=remedy)


def first_turn(arguments: argparse.Namespace, plan: LaunchPlan) -> str | None:
    """The first turn; None where a person at the terminal gives the turns.

    Raises:
        CannotRun: there is neither, or a prompt has no way to a CLI with a screen of its own.
    """
    screen = plan.controller == "terminal"
    argument = any(isinstance(item, Slot) and item.slot == "prompt" for item in plan.argv)
    if screen and arguments.prompt and not argument:
        raise CannotRun(f"`{plan.provider}` has a screen of its own, where the prompt is typed")
    if arguments.prompt is None:
        if not screen and (sys.stdin is None or not sys.stdin.isatty()):
            raise CannotRun("no prompt", remedy="give one, or `-` to read it from standard input")
        return None
    prompt: str = _standard_input() if arguments.prompt == "-" else arguments.prompt
    if not prompt.strip():
        where = "standard input holds no prompt" if arguments.prompt == "-" else "the prompt is empty"
        raise CannotRun(where, remedy="nothing was started, since a turn without words is paid all the same")
    if argument:
        _check_argument(prompt, plan.provider)
    return prompt


def _check_argument(prompt: str, provider: str) -> None:
    """What no command line can hold; a turn's opening is counted where it is put together."""
    if "\0" in prompt:
        message = f"the prompt has a NUL in it, and `{provider}` takes it as an argument"
        raise CannotRun(message, remedy="leave that out")
    if too_long(prompt):
        message = f"the prompt is too long for `{provider}`, which takes it as an argument"
        raise CannotRun(message, remedy="put it into a file, and ask the agent to read that")


def _standard_input() -> str:
    return "" if sys.stdin is None else sys.stdin.buffer.read().decode("utf-8", "replace")


def _may_be_id(text: str) -> bool:
    """Ids of sessions are long, hold digits, and no white space."""
    long = len(text) >= SHORTEST_ID
    return long and any(letter.isdigit() for letter in text) and not any(letter.isspace() for letter in text)


def is_text(text: str | None) -> bool:
    """Whether it has no bytes in it that are not UTF-8."""
    return text is None or not any("\ud800" <= letter <= "\udfff" for letter in text)
