"""Jinja2 held to plain values of bounded size, so that what a template renders depends on its source alone."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, NoReturn

from jinja2 import StrictUndefined, Undefined, nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import Macro
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_LARGEST = 1_000_000  # characters, digits or items of one value, and of the whole text
_COSTLIEST = 10 * _LARGEST  # size of a value times that of an argument
_ATOMS = (str, int, float, bool, type(None))
_LISTS = (list, tuple)
_CALLED = "()"  # before the name of an attribute that is called where it stands
_UNBOUNDED = frozenset({"encode", "expandtabs", "format_map", "translate"})
_FAIL = "_fail_with_undefined_error"
_WIDE = re.compile(r"%[^%A-Za-z]*[0-9]{5}")
_WIDE_FIELD = re.compile(r"\{[^{}]*(?:\{|:[^{}]*[0-9]{5})")


class VolatileUsedError(SecurityError):
    """Something other than printing was done with a value that changes by itself."""


class Missing(StrictUndefined):
    """What is not defined, not even inside of a list that is printed."""

    __repr__ = StrictUndefined.__str__


class Volatile(Missing):
    """A value that is known only when a file is written: it can be printed, and nothing else."""

    def __init__(self, name: str, mark: str) -> None:
        super().__init__(f"`{name}` can only be printed, and only as it is", name=name, exc=VolatileUsedError)
        self._mark = mark


class _Function:
    """A function that can be called and not printed."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __repr__(self) -> str:
        _refuse("a function cannot be printed")


class _Rewriting(NodeTransformer):
    """`a ~ b` as a filter, and calls of attributes told from mere look-ups."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802  the visitor's protocol
        self.generic_visit(node)
        joined = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(joined, "_concat", [], [], None, None, lineno=node.lineno)

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802  the visitor's protocol
        if isinstance(node.node, nodes.Getattr):
            node.node.attr = _CALLED + node.node.attr
        return self.generic_visit(node)


class Sandbox(SandboxedEnvironment):
    """Jinja2's sandbox without chance, addresses in memory and values that grow without bound."""

    intercepted_binops = frozenset({"*", "**", "+", "%"})

    def __init__(self) -> None:
        super().__init__(undefined=Missing, keep_trailing_newline=True, autoescape=False, finalize=_printed)
        for name in ("cycler", "joiner", "lipsum"):
            del self.globals[name]
        for name, function in self.globals.items():
            self.globals[name] = _Function(function)
        for name in ("random", "attr"):
            del self.filters[name]
        self.filters["_concat"] = _concat
        self.filters = {name: _guarded(function, name) for name, function in self.filters.items()}
        self.tests = {name: _guarded(function, name) for name, function in self.tests.items()}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        _Rewriting().visit(tree)
        tree.set_environment(self)
        return tree

    def getattr(self, obj: Any, attribute: str) -> Any:
        name = attribute.removeprefix(_CALLED)
        if isinstance(obj, str) and (name in _UNBOUNDED or (name == "format" and _is_wide(obj))):
            _refuse(f"`{name}` could make too large a value")
        return _uncalled(name, super().getattr(obj, name), called=attribute != name)

    def getitem(self, obj: Any, argument: Any) -> Any:
        return _uncalled(str(argument), super().getitem(obj, argument), called=False)

    def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        owner = getattr(obj, "__self__", None) if not isinstance(obj, Undefined | Macro) else None
        if isinstance(owner, str):
            _admit(owner, *args, *kwargs.values())
        return _settled(super().call(context, obj, *args, **kwargs))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        _admit(left)
        _admit(right)
        if operator == "**" or (operator == "*" and _weight(left) * _weight(right) > _LARGEST):
            _refuse(f"`{operator}` would make too large a value")
        if operator == "%" and isinstance(left, str):
            _admit_format(left, right)
        return _settled(super().call_binop(context, operator, left, right))

    @staticmethod
    def concat(parts: Iterable[str]) -> str:
        """What Jinja2 joins all output with."""
        taken: list[str] = []
        total = 0
        for part in parts:
            total += len(part)
            if total > _LARGEST:
                _refuse("it would make too long a text")
            taken.append(part)
        return "".join(taken)


def _refuse(message: str) -> NoReturn:
    raise SecurityError(message)


def _is_wide(form: str) -> bool:
    return bool(_WIDE_FIELD.search(form.replace("{{", "").replace("}}", "")))


def _admit_format(form: str, *values: Any) -> None:
    if _WIDE.search(form):
        _refuse("a format has too large a width")
    _admit(form, *values)


def _uncalled(name: str, value: Any, *, called: bool) -> Any:
    if not called and callable(value) and not isinstance(value, Undefined):
        _refuse(f"`{name}` is a function, and can only be called")
    return value


def _printed(value: Any) -> Any:
    """What Jinja2 does with every value before it is printed."""
    if isinstance(value, Volatile):
        return value._mark  # noqa: SLF001  a name that no template can reach
    if not isinstance(value, Undefined):
        _size(value)
    return value


def _concat(values: list[Any]) -> str:
    return "".join(map(str, values))


def _guarded(function: Any, name: str) -> Callable[..., Any]:
    """A filter or test that takes and gives plain values only."""
    first = 1 if hasattr(function, "jinja_pass_arg") else 0

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        given = (*args[first:], *kwargs.values())
        if name == "format" and isinstance(given[0], str):
            _admit_format(*given)
        _admit(*given)
        return _settled(function(*args, **kwargs))

    return guarded


def _admit(value: Any, *arguments: Any) -> None:
    """Refuse what is not plain, and what together could make something too large."""
    cost = max((_weight(each) for each in arguments if not _absent(each)), default=1)
    if not _absent(value) and _size(value) * cost > _COSTLIEST:
        _refuse("it would make too large a value")


def _absent(value: Any) -> bool:
    return isinstance(value, Undefined) and not isinstance(value, Volatile)


def _weight(value: Any) -> int:
    """As `_size`, and of a number how often it could repeat something."""
    return abs(value) if isinstance(value, int) else _size(value)


def _size(value: Any) -> int:
    """Atoms and characters of a plain value."""
    total = 0
    for atom in _atoms(value):
        total += len(atom) + 1 if isinstance(atom, str) else 1
        if total > _LARGEST:
            _refuse("it would make too large a value")
    return total


def _atoms(value: Any) -> Iterator[Any]:
    if isinstance(value, Undefined):
        getattr(value, _FAIL)()
    elif isinstance(value, _ATOMS):
        yield value
    elif isinstance(value, dict | list | tuple):
        yield None
        for item in value if isinstance(value, _LISTS) else (*value, *value.values()):
            yield from _atoms(item)
    else:
        _refuse(f"a `{type(value).__name__}` cannot be printed")


def _settled(value: Any) -> Any:
    """A result as a plain value: whatever can be walked through once, or has no order, as a list."""
    if isinstance(value, (*_ATOMS, *_LISTS, dict)):
        _size(value) if isinstance(value, str) else None
        return value
    if isinstance(value, Undefined | Namespace):
        return value
    if isinstance(value, set | frozenset | bytes) or not hasattr(type(value), "__iter__"):
        _refuse(f"a `{type(value).__name__}` is no value for a template")
    taken: list[Any] = []
    for item in value:
        taken.append(item)
        if len(taken) > _LARGEST:
            _refuse("it would make too large a value")
    return taken
