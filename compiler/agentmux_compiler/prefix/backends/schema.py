"""The shape of `backends/NAME.yaml`: what one prompt cache does, as data with sources.

Every group of facts carries `source`: how it is known, of what, and when. Nothing may be left out; a fact nobody
knows is written as `unknown`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Unknown = Literal["unknown"]
Section = Literal["tools", "system", "messages"]
Fate = Literal["kept", "lost", "model-specific", "unknown"]
Source = Annotated[
    str, Field(pattern=r"^(documented|measured|inferred|third-party|recalled)\b.*\b\d{4}-\d{2}(-\d{2})?\b")
]


class Facts(BaseModel):
    """Base of every group: frozen, and a field nobody declared is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Sourced(Facts):
    """A group of facts with where they come from, such as `documented in the caching guide, 2026-08-22`."""

    source: Source


class Granularity(Sourced):
    """Reuse is rounded down to a multiple of `tokens`; `recomputes` tokens at the end are always computed anew."""

    tokens: int | Unknown
    recomputes: int | Unknown


class MinimumRow(Facts):
    """`tokens` below which nothing is cached, for models that match one of the globs."""

    models: tuple[str, ...]
    tokens: int | Unknown


class Minimum(Sourced):
    """The first row whose globs match the model holds."""

    rows: Annotated[tuple[MinimumRow, ...], Field(min_length=1)]


class Breakpoints(Sourced):
    """Where entries can end.

    `explicit` is how many markers a request may carry, `implicit` where the backend sets one by itself. From each
    marker of a request the backend looks at `lookback` positions, the marker's own among them, for an entry that an
    earlier request wrote (null: at all of them).
    """

    explicit: int | Unknown
    implicit: Literal["none", "last-block", "unknown"]
    lookback: int | Unknown | None


class Units(Sourced):
    """Entries that must match whole: at which `ends`, and every `interval` tokens."""

    ends: tuple[Literal["request", "response", "common-prefix"], ...]
    interval: int | Unknown


class Lifetime(Facts):
    """`seconds` until an entry that nobody used is gone; `renewed` says a hit starts the time again."""

    name: str
    seconds: int | Unknown
    renewed: bool | Unknown


class DefaultLifetime(Facts):
    """Which lifetime a request gets that asks for none, for models that match."""

    models: tuple[str, ...]
    name: str


class Lifetimes(Sourced):
    """How long entries live. `ends_by` says what ends one: time, room (least recently used first) or both."""

    rows: Annotated[tuple[Lifetime, ...], Field(min_length=1)]
    default: Annotated[tuple[DefaultLifetime, ...], Field(min_length=1)]
    ends_by: Literal["time", "room", "both", "unknown"]


class Conditions(Sourced):
    """When an entry exists and who may read it. `readable` is the moment from which another request can hit it."""

    readable: Literal["response-begins", "response-ends", "prefill-ends", "unknown"]
    scope: Literal["workspace", "organisation", "project", "account", "server", "slot", "unknown"]
    guaranteed: bool | Unknown


class Effect(Facts):
    """What becomes of the cached part of each section when something changes."""

    tools: Fate
    system: Fate
    messages: Fate


class Changes(Sourced):
    """What each kind of change does to what was cached before it."""

    model: Effect
    speed: Effect
    tool_definitions: Effect
    tool_choice: Effect
    server_tools: Effect
    thinking: Effect
    images: Effect
    system_text: Effect
    message_text: Effect
    sampling: Effect


class EffortRow(Facts):
    """How a change of effort is seen, for models that match.

    `rendered`: `key` (entries of another effort are not found), `template-head` (a line at the head of the prompt),
    `parameter-only` (nothing is lost) or `unknown`.
    """

    models: tuple[str, ...]
    rendered: Literal["key", "template-head", "parameter-only", "unknown"]
    effect: Effect


class Effort(Sourced):
    """The first row whose globs match the model holds."""

    rows: Annotated[tuple[EffortRow, ...], Field(min_length=1)]


class Order(Sourced):
    """The order in which the sections are hashed."""

    sections: tuple[Section, ...] | Unknown


class Usage(Sourced):
    """Which fields of the response's usage say what was read and written.

    `trust`: `yes`, `no` (a constant, or nothing), or `if-enabled` (only with `needs`; else null, which is not zero).
    """

    read: tuple[str, ...]
    written: tuple[str, ...]
    input_includes_cached: bool | Unknown
    trust: Literal["yes", "no", "if-enabled", "unknown"]
    needs: str | None


class Routing(Sourced):
    """The request field that sends requests of one prefix to one server, and whether hits depend on it."""

    field: str | Unknown | None
    matters: bool | Unknown


class Ignored(Sourced):
    """Parts of a request that the backend takes out before it hashes, by segment name."""

    segments: tuple[str, ...]


class Backend(Facts):
    """One prompt cache. `kind`: `blocks` reuses up to the divergence, `breakpoints` and `units` only whole entries."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9.-]*$")]
    display: str
    kind: Literal["blocks", "breakpoints", "units"]
    granularity: Granularity
    minimum: Minimum
    breakpoints: Breakpoints | None
    units: Units | None
    lifetimes: Lifetimes
    conditions: Conditions
    changes: Changes
    effort: Effort
    order: Order
    usage: Usage
    routing: Routing
    ignored: Ignored


class ByHost(Facts):
    """Hosts (globs) of one vendor's base URLs."""

    hosts: tuple[str, ...]
    vendor: str


class ByPort(Facts):
    """Ports on this machine that an engine listens on unless told otherwise."""

    ports: tuple[int, ...]
    backend: str


class ByModel(Facts):
    """A vendor whose models that match are served from this backend."""

    vendor: str
    models: tuple[str, ...]
    backend: str


class Choice(Sourced):
    """How a backend is found: what the spec says, else the base URL, else vendor and model; the first row holds."""

    by_host: tuple[ByHost, ...]
    by_port: tuple[ByPort, ...]
    by_model: tuple[ByModel, ...]
