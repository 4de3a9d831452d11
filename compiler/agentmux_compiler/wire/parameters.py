"""What a request says beside its prompt: what keys a cache, what a vendor renders into the prompt, and the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentmux_launcher.recorder.wire import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_launcher.recorder.wire import RenderedRequest, Wire

ROUTING = "prompt_cache_key"
# Two levels tell `reasoning.effort` from `reasoning.summary`; further down a value is told whole.
DEPTH = 2


@dataclass(frozen=True, slots=True)
class Acting:
    """Parameters that act on a cache, beside the model.

    `effort` are the fields whose values key it. `rendered` act like text that stands in front of a layer: a change
    costs that layer and all behind it.
    """

    effort: tuple[str, ...]
    rendered: Mapping[str, str]


# Documented: Anthropic's table of what invalidates a cache (prompt caching guide, 2026-08-22); OpenAI's reasons for a
# miss (openai 3.57.0) and its cookbook, by which an output schema stands before the instructions. Google documents no
# such list; its schema is taken to act as OpenAI's.
ACTING: Mapping[Wire, Acting] = {
    "anthropic": Acting(
        effort=("output_config.effort", "thinking"),
        rendered={"speed": "system", "tool_choice": "messages"},
    ),
    "responses": Acting(
        effort=("reasoning.effort",),
        rendered={"service_tier": "tools", "text.format": "system", "text.verbosity": "system"},
    ),
    "chat": Acting(
        effort=("reasoning_effort", "thinking"),
        rendered={"service_tier": "tools", "response_format": "system", "verbosity": "system"},
    ),
    "gemini": Acting(
        effort=("generationConfig.thinkingConfig",),
        rendered={"generationConfig.responseSchema": "system", "generationConfig.responseJsonSchema": "system"},
    ),
}
# Names whose value is told whole, though it is an object.
_WHOLE = {
    "thinking",
    "thinkingConfig",
    "tool_choice",
    "format",
    "response_format",
    "responseSchema",
    "responseJsonSchema",
}


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of one request, sorted by what they do; `others` do nothing to a cache."""

    model: str | None
    effort: str | None
    rendered: tuple[Part, ...]
    others: Mapping[str, str]


def parameters_of(request: RenderedRequest) -> Parameters:
    """Each value as JSON, by its dotted name; an effort that is a single word as that word."""
    acting, flat = ACTING[request.wire], dict(_flat(request.parameters))
    keys = {"model", *acting.effort, *acting.rendered}
    rendered = tuple(Part(layer, name, flat[name]) for name, layer in acting.rendered.items() if name in flat)
    return Parameters(
        model=request.model or None,
        effort=_joined(acting.effort, flat),
        rendered=rendered,
        others={name: value for name, value in flat.items() if name not in keys},
    )


def _joined(names: tuple[str, ...], flat: Mapping[str, str]) -> str | None:
    """`high`, or `high, thinking {"type":"adaptive"}`: of further fields the name stands before the value."""
    first, *more = names
    found = [flat[first].strip('"')] if first in flat else []
    found += [f"{name} {flat[name]}" for name in more if name in flat]
    return ", ".join(found) or None


def _flat(values: Mapping[str, Any], prefix: str = "", depth: int = DEPTH) -> Iterator[tuple[str, str]]:
    """Dotted names with their values as JSON of sorted keys, to `depth` levels; `null` is as good as absent."""
    for name, value in values.items():
        if isinstance(value, dict) and value and depth > 1 and name not in _WHOLE:
            yield from _flat(value, f"{prefix}{name}.", depth - 1)
        elif value is not None:
            yield prefix + name, json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
