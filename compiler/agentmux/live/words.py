"""What the live view says of tools, thoughts and failures: lines in which nothing drives a terminal."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from rich.text import Text

from agentmux.live.status import MINUTE, duration
from agentmux_compiler.render.visible import head, source_line, tail, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_launcher.events import Permission, Step

# What tells most of a call, in whatever words its CLI has for it; the first that is there.
TELLING = ("command", "cmd", "file_path", "filePath", "path", "dir_path", "pattern", "query", "url", "description")
FIRST, LAST = 2, 6  # lines of a failed tool's output that are shown
LONGEST = 240  # characters of one of them
LEAST_ROOM, MOST_ROOM = 12, 24  # cells for what became of a call
MARK = "• "
SIGNS = {"completed": "[x]", "in_progress": "[>]"}
MOST_STEPS = 12
EXPECTED = {"end_turn", "error", "interrupted", "max_turns"}  # a failure says the latter three
ANSWERS = {"allow_once": "allowed", "allow_always": "allowed in this session", "cancelled": "withdrawn"}


def brief(given: Any) -> str:
    """The input of a tool in a few words."""
    if not isinstance(given, dict):
        return one_line(given)
    found = (given[name] for name in TELLING if given.get(name))
    return one_line(next(found, given or ""))


def one_line(value: Any) -> str:
    if isinstance(value, str):
        return visible(" ".join(value.split()) if "\n" not in value else " ⏎ ".join(value.split("\n")))
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return visible(shlex.join(value))
    return visible(json.dumps(value, ensure_ascii=False))


def call(name: str, given: Any, width: int, mark: str = MARK) -> Text:
    """A tool and its input, with room for what became of it in a row of `width` cells."""
    line = Text.assemble((mark, "dim"))
    line.append(head(visible(name), max(1, width - 4)), "cyan")
    room = width - max(LEAST_ROOM, min(width // 4, MOST_ROOM)) - line.cell_len
    said = brief(given)
    if said and room > 1:
        line.append(f" {head(said, room)}", "dim")
    return line


def outcome(ok: bool | None, seconds: float | None, inner: int) -> Text:
    """What became of a call; `inner` is how many a sub-agent of it made."""
    word, style = {True: ("ok", "green"), False: ("failed", "bold red"), None: ("done", "dim")}[ok]
    line = Text("  ")
    line.append(word, style)
    if seconds is not None:
        line.append(f" {elapsed(seconds)}", "dim")
    if inner:
        line.append(f", {inner} call{'s' if inner > 1 else ''}", "dim")
    return line


def elapsed(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < MINUTE else duration(seconds)


def output(text: str) -> list[Text]:
    """The output of a tool that failed: its first lines and its last ones."""
    lines = text.rstrip().splitlines()
    left = len(lines) - FIRST - LAST
    if left > 1:
        lines = [*lines[:FIRST], f"… {left} more lines", *lines[-LAST:]]
    return [Text(f"    {head(source_line(line), LONGEST)}", "dim") for line in lines]


def thought(text: str, width: int, seconds: float | None, *, last: bool = False) -> Text:
    """A thought in one row: how it begins, or while it goes on what it has come to (`last`)."""
    end = f"  {elapsed(seconds)}" if seconds is not None else ""
    room = max(1, width - len(f"{MARK}thought ") - len(end) - 1)
    words = visible(" ".join((text[-LONGEST:] if last else text[:LONGEST]).split()))
    return Text(f"{MARK}thought {(tail if last else head)(words, room)}{end}", "dim")


def progress(steps: Sequence[Step], width: int) -> Text:
    """How far a plan has come."""
    done = sum(step.status == "completed" for step in steps)
    now = next((step.text for step in steps if step.status == "in_progress"), "")
    line = f"{MARK}plan: {done} of {len(steps)} done" + (f", now: {one_line(now)}" if now else "")
    return Text(head(line, width - 1), "dim")


def steps(planned: Sequence[Step], width: int) -> list[Text]:
    """The steps of a plan, a row each."""
    lines = [f"    {SIGNS.get(step.status or '', '[ ]')} {one_line(step.text)}" for step in planned]
    left = len(lines) - MOST_STEPS
    lines = [*lines[:MOST_STEPS], *([f"    … {left} more"] if left > 0 else [])]
    return [Text(head(line, width - 1), "dim") for line in lines]


def failure(line: str) -> Text:
    """A failure's card: what failed stands out, the evidence is as it was said."""
    kind, colon, rest = visible(line).partition(": ")
    card = Text.assemble((kind, "bold red"))
    card.append(colon + rest)
    return card


def answered(asked: Permission, chosen: str) -> Text:
    """What became of a question."""
    kind = next((option.kind for option in asked.options if option.id == chosen), chosen)
    word = ANSWERS.get(kind, "denied" if kind.startswith("reject") else kind)
    reason = f": {asked.reason}" if asked.reason and word == "denied" else ""
    return dim(f"  {asked.tool or 'a tool'}: {word}{reason}")


def ended(stop_reason: str) -> list[Text]:
    """Why a turn ended, if that is worth a line."""
    return [] if stop_reason in EXPECTED else [dim(f"the turn ended: {stop_reason}")]


def dim(line: str) -> Text:
    return Text(visible(line), "dim")
