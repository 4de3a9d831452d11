"""Sources that end in `.md.j2`: Jinja2 in a sandbox, without clock, chance, files or anything undefined."""

from __future__ import annotations

import difflib
import functools
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateSyntaxError, UndefinedError, meta

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.segment import Text
from agentmux_compiler.suggest import did_you_mean, listing
from agentmux_compiler.text.hidden_text import find_hidden, hidden_characters
from agentmux_compiler.text.placeholders import VARIABLES, VOLATILE, Expanded, volatile_at
from agentmux_compiler.text.sandbox import Sandbox, Volatile, VolatileUsedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Single characters, so that no filter cuts or respells one on its way through a captured text.
_MARKS = dict(zip(VOLATILE, "\ufdd0\ufdd1", strict=True))
_ADDRESS = re.compile(r"<[^<>\n]* at 0x[0-9a-fA-F]+>|<built-in|<bound method|<function")


@functools.cache
def _sandbox() -> Sandbox:
    return Sandbox()


def expand_template(
    body: Text, values: Mapping[str, str], *, allowed: Iterable[str] = ()
) -> tuple[Expanded, list[Diagnostic]]:
    """Render a template. Volatile variables render as their own placeholder; an error leaves the text empty.

    Invisible characters that rendering makes are reported, but for `allowed` ones; those that the source itself holds
    are reported where it is read.

    The map of lines is the best that can be had: a rendered line that equals a line of the template comes from there,
    in order; any other from the template line behind the last one that was found.
    """
    empty = Expanded(Text("", body.path, ()), frozenset())
    known: dict[str, Any] = {name: Volatile(name, mark) for name, mark in _MARKS.items()}
    try:
        used = meta.find_undeclared_variables(_sandbox().parse(body.text)) & set(VARIABLES)
        rendered = _sandbox().from_string(body.text).render(known | dict(values))
        fault = _unfit(body, rendered)
    except UndefinedError as error:
        return empty, [_undefined(body, error, values)]
    except TemplateSyntaxError as error:
        return empty, [_broken(body, error, error.lineno)]
    except Exception as error:  # noqa: BLE001  a template can make any function of Python fail
        return empty, [_broken(body, error, _line_of(error))]
    if fault:
        return empty, [fault]
    printed = {name for name, mark in _MARKS.items() if mark in rendered}
    made = _traced(body, _unmarked(rendered))
    return Expanded(made, frozenset((used - set(VOLATILE)) | printed)), _made_invisible(body, made, values, allowed)


def _made_invisible(body: Text, made: Text, values: Mapping[str, str], allowed: Iterable[str]) -> list[Diagnostic]:
    known = {*allowed, *hidden_characters(body.text), *(each for value in values.values() for each in value)}
    found = find_hidden(made.path, made.text, allowed=known)
    lines = [item.span.line for item in found if item.span]
    return [replace(item, span=Span(made.path, made.line(line - 1))) for item, line in zip(found, lines, strict=True)]


def _unmarked(rendered: str) -> str:
    rendered = rendered.replace("\r\n", "\n")
    for name, mark in _MARKS.items():
        rendered = rendered.replace(mark, f"{{{{{name}}}}}")
    return rendered


def _unfit(body: Text, rendered: str) -> Diagnostic | None:
    """The fault of a text that no file can hold, or that another build would make another."""
    bad = re.search("[\ud800-\udfff]", rendered)
    if bad:
        message = f"the template makes `U+{ord(bad[0]):04X}`, which text cannot hold"
        return rules.TEMPLATE_ERROR.at(_at(body, 1), message)
    address = next((each[0] for each in _ADDRESS.finditer(rendered) if each[0] not in body.text), None)
    if address:
        return rules.TEMPLATE_ERROR.at(_at(body, 1), f"the template prints a function or an address: `{address}`")
    sample = volatile_at(Text(rendered, body.path, ()))
    if sample and any(mark in rendered for mark in _MARKS.values()):
        message = f"`{{{{{sample[0][0]}}}}}` as a sample cannot stand in one template with a value that is filled in"
        return rules.TEMPLATE_ERROR.at(_at(body, 1), message, help="give the sample a bundle of its own")
    return None


def _traced(body: Text, rendered: str) -> Text:
    text = rendered.rstrip("\n") + "\n" if rendered.strip() else ""
    origins = _origins(body.text.split("\n")[:-1], text.split("\n")[:-1])
    return Text(text, body.path, tuple(body.line(index) for index in origins))


def _origins(source: list[str], lines: list[str]) -> list[int]:
    """For each rendered line the index of the template line it is taken to come from."""
    origins: list[int | None] = [None] * len(lines)
    for block in difflib.SequenceMatcher(None, source, lines, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            origins[block.b + offset] = block.a + offset
    last = -1
    result: list[int] = []
    for origin in origins:
        last = origin if origin is not None else last
        result.append(last if origin is not None else min(last + 1, max(len(source) - 1, 0)))
    return result


def _undefined(body: Text, error: UndefinedError, values: Mapping[str, str]) -> Diagnostic:
    said = (error.message or "").replace("'", "`")
    name = said.split("`")[1] if said.count("`") > 1 else ""
    remedy = did_you_mean(name, [*values, *VOLATILE]) or f"a template knows {listing(VARIABLES)}"
    return rules.UNDEFINED_VARIABLE.at(_at(body, _line_of(error)), said, help=remedy)


def _broken(body: Text, error: Exception, line: int) -> Diagnostic:
    said = str(error).rstrip(".").replace("'", "`") or type(error).__name__
    first, _, rest = said.partition(". ")
    message = f"the template cannot be rendered: {first[:1].lower()}{first[1:]}"
    remedy = "write it in a `{{ }}` of its own, without filters" if isinstance(error, VolatileUsedError) else None
    return rules.TEMPLATE_ERROR.at(_at(body, line), message, help=remedy, notes=(rest,) if rest else ())


def _line_of(error: Exception) -> int:
    """The template's line, which Jinja2 puts into the traceback."""
    line, frame = 1, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == "<template>":
            line = frame.tb_lineno
        frame = frame.tb_next
    return line


def _at(body: Text, line: int) -> Span:
    return Span(body.path, body.line(max(line, 1) - 1))
