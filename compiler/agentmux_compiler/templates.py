"""Sources that end in `.md.j2`: Jinja2 in a sandbox, without clock, chance, files or anything undefined."""

from __future__ import annotations

import difflib
import functools
from typing import TYPE_CHECKING, Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, Undefined, UndefinedError, meta
from jinja2.exceptions import SecurityError
from jinja2.sandbox import SandboxedEnvironment

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Diagnostic, Span
from agentmux_compiler.placeholders import VARIABLES, VOLATILE, Expanded
from agentmux_compiler.segment import Text
from agentmux_compiler.suggest import did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Mapping

_PRINTABLE = (str, int, float, bool, type(None), list, tuple, dict, Undefined)
_LARGEST = 1_000_000  # characters or digits that one `*` or `**` may make


class _Sandbox(SandboxedEnvironment):
    """The sandbox, with a bound on what one multiplication can make."""

    intercepted_binops = frozenset({"*", "**"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" or _size(left) * _size(right) > _LARGEST:
            raise SecurityError(f"`{operator}` would make too large a value")
        return super().call_binop(context, operator, left, right)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple) else 1 if isinstance(value, float) else abs(int(value))


def _finalize(value: Any) -> Any:
    """Refuse what would print as an address in memory."""
    if isinstance(value, _PRINTABLE):
        return value
    raise SecurityError(f"a `{type(value).__name__}` cannot be printed")


@functools.cache
def _sandbox() -> _Sandbox:
    made = _Sandbox(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False, finalize=_finalize)
    for name in ("cycler", "joiner", "lipsum"):
        del made.globals[name]
    del made.filters["random"]
    return made


def expand_template(body: Text, values: Mapping[str, str]) -> tuple[Expanded, list[Diagnostic]]:
    """Render a template. Volatile variables render as their own placeholder; an error leaves the text empty.

    The map of lines is the best that can be had: a rendered line that equals a line of the template comes from there,
    in order; any other from the template line behind the last one that was found.
    """
    empty = Expanded(Text("", body.path, ()), frozenset())
    known = {name: f"{{{{{name}}}}}" for name in VOLATILE} | dict(values)
    try:
        used = meta.find_undeclared_variables(_sandbox().parse(body.text)) & set(VARIABLES)
        rendered = _sandbox().from_string(body.text).render(known)
    except UndefinedError as error:
        return empty, [_undefined(body, error, values)]
    except TemplateSyntaxError as error:
        return empty, [_broken(body, error, error.lineno)]
    except (
        TemplateError,
        TypeError,
        ValueError,
        ArithmeticError,
        LookupError,
        AttributeError,
        RecursionError,
    ) as error:
        return empty, [_broken(body, error, _line_of(error))]
    return Expanded(_traced(body, rendered), frozenset(used)), []


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
    return rules.TEMPLATE_ERROR.at(_at(body, line), message, notes=(rest,) if rest else ())


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
