"""Frozen dataclasses to JSON values and back: the one way anything crosses a file."""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar, Union, get_args, get_origin

T = TypeVar("T")


def to_json(value: Any) -> Any:
    """A dataclass as plain JSON values: tuples become lists, sets sorted ones, enums their value."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_json(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if isinstance(value, frozenset):
        return sorted(to_json(item) for item in value)
    return value


def from_json(shape: type[T], value: Any) -> T:
    """Rebuild `shape` from what `to_json` made; unknown keys are ignored, missing ones take their default.

    Raises:
        TypeError, ValueError, KeyError: the value does not have that shape.
    """
    return typing.cast("T", _build(shape, value))


@functools.cache
def _hints(shape: type) -> dict[str, Any]:
    return typing.get_type_hints(shape)


def _build(shape: Any, value: Any) -> Any:
    origin = get_origin(shape)
    if origin in {Union, types.UnionType}:
        return _build_union(get_args(shape), value)
    if origin in {tuple, frozenset}:
        items = _build_tuple(get_args(shape) if origin is tuple else (*get_args(shape), ...), value)
        return origin(items)
    if origin in {dict, Mapping}:
        item = get_args(shape)[1]
        return {key: _build(item, each) for key, each in value.items()}
    if isinstance(shape, type) and dataclasses.is_dataclass(shape):
        return _build_dataclass(shape, value)
    if isinstance(shape, type) and issubclass(shape, enum.Enum):
        return shape(value)
    return _checked(shape, value)


def _checked(shape: Any, value: Any) -> Any:
    if shape is float and isinstance(value, int):
        return float(value)
    if isinstance(shape, type) and not isinstance(value, shape):
        message = f"expected {shape.__name__}, found {type(value).__name__}"
        raise TypeError(message)
    return value


def _build_dataclass(shape: type, value: Any) -> Any:
    hints = _hints(shape)
    known = {item.name for item in dataclasses.fields(shape)}
    return shape(**{key: _build(hints[key], each) for key, each in value.items() if key in known})


def _build_tuple(items: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    if len(items) == 2 and items[1] is Ellipsis:  # noqa: PLR2004  the form tuple[X, ...]
        return tuple(_build(items[0], each) for each in value)
    return tuple(_build(item, each) for item, each in zip(items, value, strict=True))


def _build_union(options: tuple[Any, ...], value: Any) -> Any:
    if value is None and type(None) in options:
        return None
    errors: list[str] = []
    for option in options:
        if option is type(None):
            continue
        try:
            return _build(option, value)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            errors.append(str(error))
    raise TypeError("; ".join(errors))
