"""pydantic's findings as diagnostics: our words, the place in the source, one report for one cause."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from agentmux_compiler import rules
from agentmux_compiler.sources.yaml_nodes import Found, Loc, Mapping, Node, Scalar, Sequence, locate, without
from agentmux_compiler.suggest import did_you_mean, listing

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from agentmux_compiler.diagnostics import Diagnostic, Span

M = TypeVar("M", bound=BaseModel)

_TEXT = "text"
_LIST = "a list"
_BOOL = "`true` or `false`"
_SWITCHES = dict.fromkeys(("yes", "on", "true"), "true") | dict.fromkeys(("no", "off", "false"), "false")
_WANTED = {
    "string_type": _TEXT,
    "bool_type": _BOOL,
    "int_type": "a whole number",
    "float_type": "a number",
    "tuple_type": _LIST,
    "dict_type": "a mapping",
    "model_type": "a mapping",
}
_LIMITS = {
    "greater_than": ("greater than {}", "gt"),
    "greater_than_equal": ("{} or more", "ge"),
}
_KEY = "[key]"
_QUOTED = 24  # characters of a value that a message repeats
_PLAIN = {
    "finite_number": "takes a finite number",
    "string_too_short": "takes text, and this is empty",
    "too_short": "takes text, and this is empty",
}
_CLOSED = frozenset({"enum", "literal_error"})


def validate(model: type[M], node: Node) -> tuple[M | None, Node, list[Diagnostic]]:
    """Check `node` against `model`.

    What is wrong is reported and left out, so that the rest can be used: the node that comes back is the one the
    model was made from. None where nothing usable is left.
    """
    if not isinstance(node, Mapping):
        message = f"the document takes a mapping, found {found_in(node)}"
        return None, node, [rules.WRONG_TYPE.at(node.span, message)]
    found: list[Diagnostic] = []
    blamed: set[Loc] = set()
    rest: Node = node
    while True:
        try:
            return model.model_validate(rest.plain(), by_alias=True), rest, found
        except ValidationError as error:
            details = error.errors(include_url=False)
        found += [_diagnostic(model, rest, each) for each in details if not _follows(each, details, blamed)]
        now = {_blamed(rest, each) for each in details}
        if () in now:
            return None, rest, found
        blamed |= now
        rest = without(rest, now)


def _follows(detail: ErrorDetails, details: list[ErrorDetails], blamed: set[Loc]) -> bool:
    """Whether an error only follows from another: a name misspelt, or something wrong inside that was left out."""
    loc = _loc(detail)
    if detail["type"] == "missing":
        return any(each["type"] == "extra_forbidden" and _loc(each)[:-1] == loc[:-1] for each in details)
    return any(each[: len(loc)] == loc for each in blamed)


def found_in(node: Node) -> str:
    """What a node is, for a message."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    if node.value is None:
        return "nothing"
    if isinstance(node.value, bool):
        return f"`{node.text}`"
    kind = "text" if isinstance(node.value, str) else "number"
    return f"the {kind} `{node.text}`" if 0 < len(node.text) <= _QUOTED and "\n" not in node.text else kind


def _loc(detail: ErrorDetails) -> Loc:
    """The loc in the document: tags of unions and the mark of a key are pydantic's own."""
    loc = detail["loc"]
    if detail["type"] != "extra_forbidden" and loc[-1:] == (_KEY,):
        loc = loc[:-1]
    kept = loc[-1:] if detail["type"] == "extra_forbidden" or loc[-1:] != ("<text>",) else ()
    return (*(part for part in loc[:-1] if part not in {"<text>", "<file>", "<list>"}), *kept)


def _blamed(root: Node, detail: ErrorDetails) -> Loc:
    """What to leave out for the rest to be usable."""
    loc = _loc(detail)
    return loc[:-1] if detail["type"] == "missing" else locate(root, loc).loc


def _diagnostic(model: type[BaseModel], root: Node, detail: ErrorDetails) -> Diagnostic:
    loc, kind = _loc(detail), detail["type"]
    found = locate(root, loc)
    if kind == "extra_forbidden":
        return _unknown_field(model, loc, found)
    if kind == "missing":
        return rules.MISSING_FIELD.at(found.key, f"{_missing_from(loc)}`{loc[-1]}` is missing")
    if kind in _WANTED or kind in {"prose", "flags"}:
        return _wrong_type(loc, found, _WANTED.get(kind) or detail["msg"])
    if kind in _CLOSED:
        return _not_listed(loc, found, detail)
    return _refused(loc, found, detail)


def _unknown_field(model: type[BaseModel], loc: Loc, found: Found) -> Diagnostic:
    fields = _fields_at(model, loc[:-1])
    name = str(loc[-1])
    return rules.UNKNOWN_FIELD.at(
        found.key,
        f"unknown field `{name}`",
        help=did_you_mean(name, fields),
        notes=(f"the fields here are {listing(fields)}",),
    )


def _wrong_type(loc: Loc, found: Found, wanted: str) -> Diagnostic:
    message = f"{subject(loc)} takes {wanted}, found {found_in(found.node)}"
    remedy = _other_spelling(found.node, wanted) if isinstance(found.node, Scalar) else None
    return rules.WRONG_TYPE.at(_place(found), message, help=remedy)


def _other_spelling(node: Scalar, wanted: str) -> str | None:
    """How a value of the wrong type is written as the right one."""
    if node.value is None:
        return "give it a value, or remove the key"
    if wanted == _TEXT and not isinstance(node.value, str):
        return f'write `"{node.text}"`'
    if wanted == _LIST and len(node.text) <= _QUOTED and "\n" not in node.text:
        return f"write `[{node.text}]`"
    switch = _SWITCHES.get(node.text.lower()) if wanted == _BOOL else None
    return f"write `{switch}`" if switch else None


def _not_listed(loc: Loc, found: Found, detail: ErrorDetails) -> Diagnostic:
    values = re.findall(r"'([^']*)'", detail.get("ctx", {})["expected"])
    if not isinstance(found.node, Scalar) or not isinstance(found.node.value, str):
        return _wrong_type(loc, found, f"one of {listing(values)}")
    return rules.INVALID_VALUE.at(
        found.node.span,
        f"{subject(loc)} cannot be `{found.node.text}`",
        help=did_you_mean(found.node.text, values),
        notes=(f"it is one of {listing(values)}",),
    )


def _refused(loc: Loc, found: Found, detail: ErrorDetails) -> Diagnostic:
    at_key = detail["loc"][-1:] == (_KEY,)
    named = f"`{loc[-1]}`" if at_key else subject(loc)
    message, remedy = _refusal(detail)
    return rules.INVALID_VALUE.at(found.key if at_key else _place(found), f"{named} {message}", help=remedy)


def _refusal(detail: ErrorDetails) -> tuple[str, str | None]:
    """What a value does wrong, to stand behind its name, and how to cure it."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "refused":
        return context["message"], context["remedy"] or None
    if kind in _LIMITS:
        template, name = _LIMITS[kind]
        return "takes a number " + template.format(f"{context[name]:g}"), None
    return _PLAIN.get(kind, f"is refused: {detail['msg']}"), None


def _place(found: Found) -> Span:
    return found.node.span if isinstance(found.node, Scalar) else found.key


def subject(loc: Loc) -> str:
    """A field of the document, for a message."""
    if not loc:
        return "the document"
    if isinstance(loc[-1], int):
        return f"item {loc[-1] + 1} of {subject(loc[:-1])}"
    return f"`{loc[-1]}`"


def _missing_from(loc: Loc) -> str:
    return f"in {subject(loc[:-1])}, " if loc[:-1] else ""


def _fields_at(model: type[BaseModel], loc: Loc) -> list[str]:
    """Names of the fields of the model that stands at `loc`, in the order of their declaration."""
    shape: Any = model
    for part in loc:
        inner = _model_in(shape)
        if get_origin(shape) is dict:
            shape = get_args(shape)[1]
        elif inner is not None:
            shape = next(each.annotation for name, each in inner.model_fields.items() if (each.alias or name) == part)
    inner = _model_in(shape)
    return [each.alias or name for name, each in inner.model_fields.items()] if inner else []


def _model_in(shape: Any) -> type[BaseModel] | None:
    """The model in an annotation such as `Annotated[Model | None, ...]`."""
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        return shape
    return next(filter(None, (_model_in(each) for each in get_args(shape))), None)
