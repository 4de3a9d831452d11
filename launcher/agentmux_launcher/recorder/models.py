"""Lists of models in each vendor's form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentmux_launcher.recorder.wire import Wire

MODELS = (
    "claude-haiku-5-5",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "gemini-2.5-flash",
    "gemini-2.5-pro",
    "gpt-5.5",
    "kimi-k2",
    "qwen3-coder-plus",
)


def model(wire: Wire, name: str) -> dict[str, Any]:
    if wire == "anthropic":
        return {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
    if wire == "gemini":
        return {
            "name": f"models/{name}",
            "displayName": name,
            "inputTokenLimit": 1048576,
            "outputTokenLimit": 65536,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }
    return {"id": name, "object": "model", "created": 1767225600, "owned_by": "recorder"}


def model_list(wire: Wire) -> dict[str, Any]:
    entries = [model(wire, name) for name in MODELS]
    if wire == "anthropic":
        return {"data": entries, "has_more": False, "first_id": MODELS[0], "last_id": MODELS[-1]}
    return {"models": entries} if wire == "gemini" else {"object": "list", "data": entries}
