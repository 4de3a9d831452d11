"""What a model's name says: the vendor behind a spelling, the model behind an alias, and its vocabulary."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import TYPE_CHECKING

from agentmux_launcher.codec import from_json

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Aliases:
    """Short names of one vendor's models, as one CLI resolves them."""

    source: str
    vendor: str
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What counts the tokens of models that match one of the globs.

    `error_pct` bounds the error of a count in per cent (0: exact, None: unknown); `bytes_per_token` estimates text
    that is known by its size only.
    """

    source: str
    models: tuple[str, ...]
    name: str
    error_pct: float | None
    bytes_per_token: float


@dataclass(frozen=True, slots=True)
class Models:
    """The whole of `models.yaml`."""

    vendors: Mapping[str, tuple[str, ...]]
    aliases: tuple[Aliases, ...]
    vocabularies: tuple[Vocabulary, ...]
    unnamed: Mapping[str, str]


@functools.cache
def known() -> Models:
    """The table that ships with the package."""
    from ruamel.yaml import YAML  # noqa: PLC0415

    text = files(__package__).joinpath("models.yaml").read_text(encoding="utf-8")
    return from_json(Models, YAML(typ="safe", pure=True).load(text))


def plain(model: str | None) -> str:
    """A model's name as globs want it: lower case, without a vendor's prefix or a `[1m]` suffix."""
    return (model or "").lower().rpartition("/")[2].partition("[")[0]


def matches(model: str | None, patterns: Sequence[str]) -> bool:
    """Whether one of the globs fits the model; no model at all fits only `*`."""
    name = plain(model)
    return any(fnmatchcase(name, pattern) for pattern in patterns)


@functools.lru_cache(maxsize=1024)
def vendor_id(vendor: str) -> str:
    """The one spelling of a vendor that the tables use; an unknown vendor stays as it is, in lower case."""
    name = vendor.lower()
    return next((key for key, others in known().vendors.items() if name == key or name in others), name)


@functools.lru_cache(maxsize=1024)
def model_id(vendor: str, model: str | None) -> str | None:
    """The model that an alias stands for, else the name itself without prefix and suffix; None stays None."""
    if model is None:
        return None
    name = plain(model)
    found = (
        table.names[name] for table in known().aliases if table.vendor == vendor_id(vendor) and name in table.names
    )
    return next(found, name)


@functools.lru_cache(maxsize=1024)
def vocabulary(vendor: str, model: str | None) -> Vocabulary:
    """What counts this model's tokens. Where no model is named, the vendor's usual one, its error unknown."""
    name = model_id(vendor, model) or known().unnamed.get(vendor_id(vendor))
    found = next(row for row in known().vocabularies if matches(name, row.models))
    if model is not None:
        return found
    return Vocabulary(found.source, found.models, found.name, None, found.bytes_per_token)
