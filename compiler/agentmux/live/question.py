"""What a CLI asks, shown whole enough to judge it: the command or the change, behind a bar that nothing escapes."""

from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING, Any

from rich.text import Text

from agentmux.live.words import one_line
from agentmux_compiler.render.visible import TAB, cells, head, visible
from agentmux_launcher.permission import LEAVE_PLAN, QUESTION, lasting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentmux_launcher.events import Permission

BAR = "  │ "
MOST = 60  # rows of what is asked
LONGEST_GRANT = 40
TOO_LONG = 2_000  # lines of a change that are still compared
OLD, NEW = ("old_string", "oldText", "old_text"), ("new_string", "newText", "new_text", "content")
PLACES = ("file_path", "filePath", "path")
SIGNS = {"-": "red", "+": "green", "@": "cyan"}


def question(asked: Permission, width: int) -> list[Text]:
    """The lines of a question, in rows of `width` cells."""
    given = asked.input if isinstance(asked.input, dict) else {}
    if asked.tool == QUESTION:
        return [
            *_choices(given.get("questions"), width),
            *_keys("numbers (1,2) or your own words", "; between answers"),
        ]
    plan = asked.tool == LEAVE_PLAN
    title = "leave plan mode and do this?" if plan else f"{visible(asked.tool or 'a tool')} wants to run"
    body = _lines(str(given.get("plan", ""))) if plan else _body(asked.input)
    always = lasting(asked)
    reason = [(one_line(asked.reason), "dim")] if asked.reason else []
    return [
        Text.assemble(("? ", "bold yellow"), (head(title, max(8, width - 3)), "bold")),
        *_barred([*body, *reason], width),
        *_keys("y once", *([f"a {head(visible(always), LONGEST_GRANT)}"] if always else []), "n [reason] no"),
    ]


def _keys(*keys: str) -> list[Text]:
    return [Text(f"  {' · '.join(keys)}", "bold")]


def _body(given: Any) -> list[tuple[str, str]]:
    """Lines and their styles. Whatever is not part of a command or a change is said after it."""
    if given is None:
        return []
    if not isinstance(given, dict):
        return _lines(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, indent=1))
    command = given.get("command")
    if isinstance(command, str):
        return [*_lines(command), *_rest(given, {"command", "description"})]
    changes = [each for each in (given, *_listed(given)) if _text(each, NEW) is not None]
    if not changes:
        return _lines(json.dumps(given, ensure_ascii=False, indent=1))
    place = [] if given in changes else _place(given)
    shown = {*OLD, *NEW, *PLACES, *(name for name, value in given.items() if isinstance(value, list))}
    return [*place, *(row for change in changes for row in _change(change)), *_rest(given, shown)]


def _lines(text: str) -> list[tuple[str, str]]:
    return [(line, "") for line in text.removesuffix("\n").split("\n")]


def _rest(given: dict[str, Any], shown: set[str]) -> list[tuple[str, str]]:
    left = {name: value for name, value in given.items() if name not in shown}
    return [(f"{name}: {json.dumps(value, ensure_ascii=False)}", "dim") for name, value in left.items()]


def _listed(given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Changes that stand in a list of the input."""
    for value in given.values():
        if isinstance(value, list):
            yield from (each for each in value if isinstance(each, dict))


def _text(given: dict[str, Any], names: Iterable[str]) -> str | None:
    return next((given[name] for name in names if isinstance(given.get(name), str)), None)


def _change(given: dict[str, Any]) -> list[tuple[str, str]]:
    texts = [_text(given, names) or "" for names in (OLD, NEW)]
    cut = -1 if all(text.endswith("\n") for text in texts if text) else None
    old, new = (text.split("\n")[:cut] if text else [] for text in texts)
    if len(old) + len(new) > TOO_LONG:
        lines = [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    else:
        lines = list(difflib.unified_diff(old, new, n=2, lineterm=""))[2 if old else 3 :]
    return [*_place(given), *((line, SIGNS.get(line[:1], "")) for line in lines)]


def _place(given: dict[str, Any]) -> list[tuple[str, str]]:
    place = _text(given, PLACES)
    return [(place, "bold")] if place else []


def _barred(lines: list[tuple[str, str]], width: int) -> list[Text]:
    """Rows behind a bar, folded here so that no line leaves it; what is left out is said aloud."""
    room = max(8, width - len(BAR) - 1)
    rows: list[Text] = []
    for number, (line, style) in enumerate(lines):
        folded = _folded(visible(line.replace("\t", TAB)), room)
        if len(rows) + len(folded) > MOST:
            rest = sum(len(each) for each, _ in lines[number:])
            return [*rows, Text(f"{BAR}… {rest:,} more characters in {len(lines) - number:,} lines", "bold yellow")]
        rows += [Text.assemble((BAR, "yellow"), (row, style)) for row in folded]
    return rows


def _folded(line: str, room: int) -> list[str]:
    rows = [""]
    for character in line:
        if cells(rows[-1] + character) > room:
            rows.append("")
        rows[-1] += character
    return rows


def _choices(questions: Any, width: int) -> Iterator[Text]:
    for asked in questions if isinstance(questions, list) else ():
        if isinstance(asked, dict):
            yield Text.assemble(("? ", "bold yellow"), (one_line(str(asked.get("question"))), "bold"))
            options = asked.get("options")
            labels = [_label(option) for option in options] if isinstance(options, list) else []
            yield from _barred([(f"{number}. {label}", "") for number, label in enumerate(labels, 1)], width)


def _label(option: Any) -> str:
    return str(option.get("label") if isinstance(option, dict) else option)
