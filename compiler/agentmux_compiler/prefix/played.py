"""The recorder's cache as the data of a backend says: what a demonstration or a test has a model endpoint play."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.backends import load_backend
from agentmux_compiler.prefix.models import matches, model_id
from agentmux_compiler.prefix.reuse import terms
from agentmux_launcher.recorder.cache import KEYS, BlockCache, BreakpointCache, quarter

if TYPE_CHECKING:
    from agentmux_compiler.prefix.backends.schema import Backend
    from agentmux_compiler.prefix.reuse import Terms
    from agentmux_launcher.recorder.cache import CachePlayer, Clock, Tokens

UNKNOWN_STEP = 128
EFFORTS = ("reasoning", "output_config", "thinking", "reasoning_effort")


def player_of(
    name: str, vendor: str, model: str | None, *, clock: Clock = time.monotonic, count: Tokens = quarter
) -> CachePlayer | None:
    """A cache that plays a backend for one of its models; None where nobody knows the backend, or it keeps units.

    A step that the data does not know is played as 128 tokens, an unknown minimum as none.
    """
    backend = load_backend(name)
    if backend is None or backend.kind == "units":
        return None
    rules = terms(backend, model_id(vendor, model), marked=backend.kind == "breakpoints")
    keys = _keys(backend, model_id(vendor, model))
    if rules.kind == "breakpoints":
        return _points(rules, keys, clock, count)
    return BlockCache(
        block=rules.granularity or UNKNOWN_STEP,
        minimum=rules.minimum or 0,
        lifetime=rules.seconds,
        count=count,
        clock=clock,
        keys=keys,
        recomputes=max(1, rules.recomputes or 0),
    )


def _points(rules: Terms, keys: tuple[str, ...], clock: Clock, count: Tokens) -> BreakpointCache:
    return BreakpointCache(
        minimum=rules.minimum or 0,
        look_back=rules.lookback,
        implicit=rules.lifetime if rules.implicit else "",
        count=count,
        clock=clock,
        keys=keys,
    )


def _keys(backend: Backend, model: str | None) -> tuple[str, ...]:
    """Parameters under which entries are kept apart: an effort is none where it only is a parameter."""
    rendered = next((row.rendered for row in backend.effort.rows if matches(model, row.models)), "unknown")
    return tuple(key for key in KEYS if rendered != "parameter-only" or key not in EFFORTS)
