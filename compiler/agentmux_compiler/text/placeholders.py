"""Variables of a text: `{{AGENT}}` and its kin in `.md` sources, all other braces left as they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.segment import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

AGENT_VARIABLES = ("AGENT", "AGENT_DISPLAY", "AGENT_ID", "AGENT_SLUG")
USE_VARIABLES = ("PROVIDER", "MODEL")
# Their values change by themselves: they stay in the text until a file is written or a turn is sent.
VOLATILE = ("DATE", "WORKING_DIR")
VARIABLES = (*AGENT_VARIABLES, *USE_VARIABLES, *VOLATILE)

# A third brace or a dollar sign belongs to Handlebars or to GitHub Actions.
_PLACEHOLDER = re.compile(r"(?<![${])\{\{(" + "|".join(VARIABLES) + r")\}\}(?!\})")


@dataclass(frozen=True, slots=True)
class Expanded:
    """A text with its variables replaced; `used` names those that its source asked for, volatile ones among them."""

    body: Text
    used: frozenset[str]


def expand(body: Text, values: Mapping[str, str]) -> tuple[Expanded, list[Diagnostic]]:
    """Replace the known variables in one pass; values hold no line end, so every line keeps its source line."""
    used: set[str] = set()
    found: list[Diagnostic] = []

    def value(match: re.Match[str]) -> str:
        name = match[1]
        used.add(name)
        if name in VOLATILE:
            return match[0]
        if name not in values:
            found.append(_without_value(body, match))
        return values.get(name, match[0])

    text = _PLACEHOLDER.sub(value, body.text)
    return Expanded(replace(body, text=text), frozenset(used)), found


def fill_volatile(text: str, values: Mapping[str, str]) -> str:
    """Replace the volatile placeholders that `values` has, for a file of `.agentmux/` or a turn that is sent now."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]) if match[1] in VOLATILE else match[0], text)


def volatile_at(body: Text) -> tuple[tuple[str, Span], ...]:
    """The volatile placeholders of a text, each with its place."""
    return tuple((match[1], place(body, match)) for match in _PLACEHOLDER.finditer(body.text) if match[1] in VOLATILE)


def place(body: Text, match: re.Match[str]) -> Span:
    """Where a match stands in the source; within YAML only its line is known."""
    index = body.text.count("\n", 0, match.start())
    line = body.line(index)
    if body.path.endswith((".yaml", ".yml")):
        return Span(body.path, line)
    column = match.start() - body.text.rfind("\n", 0, match.start())
    return Span(body.path, line, column, line, column + match.end() - match.start())


def _without_value(body: Text, match: re.Match[str]) -> Diagnostic:
    name = match[1]
    return rules.UNDEFINED_VARIABLE.at(
        place(body, match),
        f"`{match[0]}` has no value here",
        help=f"name a `{name.lower()}` for each provider this text goes to" if name in USE_VARIABLES else None,
    )
