"""What is wrong with YAML that no parser takes, in our words and at the place to look at."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.sources.source_text import position


class _Fault(NamedTuple):
    """`pattern` finds the parser's words; `{}` in ours is its group; `context` asks for the place where it began."""

    pattern: str
    message: str
    help: str | None = None
    context: bool = False


_FAULTS = (
    _Fault(
        r"mapping values are not allowed",
        "a `:` where no key can stand",
        "put text that holds `: ` in quotes, and give a nested mapping lines of its own",
    ),
    _Fault(
        r"sequence entries are not allowed",
        "a list cannot begin here",
        "put each `- ` on a line of its own, below the key",
    ),
    _Fault(r"mapping keys are not allowed", "a `?` cannot begin a value here", "put the text in quotes"),
    _Fault(
        r"found character (.+) that cannot start any token", "a value cannot begin with `{}`", "put the text in quotes"
    ),
    _Fault(r"^while scanning a.* directive", "a `%` at the beginning of a line is a directive, and this is none"),
    _Fault(
        r"^while scanning an (?:anchor|alias)",
        "an anchor or alias without a name",
        "put text that begins with `&` or `*` in quotes",
        context=True,
    ),
    _Fault(
        r"^while (?:scanning|parsing) an? (?:tag|node)",
        "a tag that cannot be read",
        "put text that begins with `!` in quotes",
        context=True,
    ),
    _Fault(
        r"found undefined alias '?([^']*)'?",
        "alias `*{}` has no anchor before it",
        "put text that begins with `*` in quotes",
    ),
    _Fault(r"found another document", "a second document begins here", "give each agent a file of its own"),
    _Fault(
        r"found unknown escape character (.+)",
        "`\\{}` is no escape",
        "write `\\\\` for a backslash, or use single quotes",
    ),
    _Fault(r"expected escape sequence of (\d+)", "an escape takes {} hexadecimal digits here"),
    _Fault(
        r"found unexpected (?:end of stream|document separator)", "a quote that is never closed", None, context=True
    ),
    _Fault(r"could not find expected ':'", "a line that is neither a key with `:` nor part of the value above"),
    _Fault(
        r"expected ',' or '(.)'", "an opening bracket that no `{}` closes", "add it, or quote the text", context=True
    ),
    _Fault(r"expected the node content, but found '<stream end>'", "the file ends inside of brackets"),
    _Fault(r"expected the node content", "a value is missing here"),
    _Fault(
        r"expected <block end>|expected '<document start>'",
        "this does not fit the lines above",
        "align it with what it belongs to, and check the quotes before it",
    ),
    _Fault(r"expected indentation indicator", "a block scalar's indentation is 1 to 9"),
    _Fault(
        r"expected chomping or indentation|expected a comment or a line break", "text cannot stand behind `|` or `>`"
    ),
    _Fault(r"maximum depth", "values are nested too deep"),
)


def describe(path: str, text: str, error: Exception) -> Diagnostic:
    """The diagnostic for what the parser raised on `text`."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", None) or error).strip()
    tab = _tab_before(text, mark)
    if tab:
        return rules.TAB_INDENT.at(
            Span(path, *tab, tab[0], tab[1] + 1), "a tab where YAML takes spaces", help="indent with spaces"
        )
    for fault in _FAULTS:
        match = re.search(fault.pattern, f"{getattr(error, 'context', '')}: {problem}")
        if match:
            start = getattr(error, "context_mark", None) if fault.context else None
            return _fault(path, mark, start, _filled(fault.message, match), fault.help)
    return _nameless(path, text) if mark is None else rules.INVALID_YAML.at(_at(path, mark), problem)


def _fault(path: str, mark: Any, start: Any, message: str, remedy: str | None) -> Diagnostic:
    if start is None:
        return rules.INVALID_YAML.at(_at(path, mark), message, help=remedy)
    note = f"noticed at line {mark.line + 1}, column {mark.column + 1}"
    return rules.INVALID_YAML.at(_at(path, start), message, help=remedy, notes=(note,))


def _nameless(path: str, text: str) -> Diagnostic:
    """An escape past the last code point, of which the parser does not say where it stands."""
    match = re.search(r"\\U(?!00(?:0[0-9A-Fa-f]|10))[0-9A-Fa-f]{8}", text)
    span = position(path, text, match.start(), len(match[0])) if match else Span(path)
    return rules.INVALID_YAML.at(span, "an escape that names no character")


def _filled(message: str, match: re.Match[str]) -> str:
    found = match[1].strip("'\"") if match.lastindex else ""
    return message.replace("`{}`", "a backtick") if found == "`" else message.replace("{}", found)


def _at(path: str, mark: Any) -> Span:
    return Span(path) if mark is None else Span(path, mark.line + 1, mark.column + 1)


def _tab_before(text: str, mark: Any) -> tuple[int, int] | None:
    """Line and column of the tab that stands at `mark`, or in the white space its line begins with."""
    if mark is None or mark.line >= text.count("\n") + 1:
        return None
    line = text.split("\n")[mark.line]
    margin = line[: len(line) - len(line.lstrip())]
    if line[mark.column : mark.column + 1] == "\t":
        return mark.line + 1, mark.column + 1
    return (mark.line + 1, margin.index("\t") + 1) if "\t" in margin else None
