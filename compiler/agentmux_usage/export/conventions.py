"""What a response is called in OpenTelemetry: the names of the semantic conventions for generative AI.

Source: semantic-conventions 1.42.0 and opentelemetry-semantic-conventions 0.66b2, both of 2026, where all of the names
have the status Development. What the conventions have no name for stands under `agentmux.`.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from agentmux_usage.priced import price_of, usd

if TYPE_CHECKING:
    from agentmux_launcher.usage import Tokens
    from agentmux_usage.breaks import Break
    from agentmux_usage.response import Response

Attribute = str | int | float | bool
Attributes = dict[str, Attribute]

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
CONVERSATION = "gen_ai.conversation.id"
AGENT = "gen_ai.agent.name"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
RESPONSE_ID = "gen_ai.response.id"
INPUT = "gen_ai.usage.input_tokens"
OUTPUT = "gen_ai.usage.output_tokens"
CACHE_READ = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITTEN = "gen_ai.usage.cache_creation.input_tokens"
REASONING = "gen_ai.usage.reasoning.output_tokens"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105  a name
TOKEN_USAGE = "gen_ai.client.token.usage"  # noqa: S105  a name
# The bounds that the conventions advise for this histogram.
BOUNDS = tuple(4.0**power for power in range(14))

CHAT, INVOKE_AGENT = "chat", "invoke_agent"
BREAK = "agentmux.cache.break"

# Vendors as agentmux has them and as the conventions do, where the two differ.
_VENDORS = {"google": "gcp.gemini", "xai": "x_ai", "mistral": "mistral_ai"}


def chat(response: Response) -> Attributes:
    """The attributes of one response. Input counts all of the prompt, cached or not, as the conventions want it."""
    return _known(
        {
            **common(response),
            OPERATION: CHAT,
            RESPONSE_MODEL: response.model,
            RESPONSE_ID: response.message_id,
            **_tokens(response.tokens),
            "agentmux.response.kind": response.kind,
            "agentmux.response.calls": response.calls if response.calls != 1 else None,
            "agentmux.thread": response.thread,
            "agentmux.turn": response.turn,
            "agentmux.effort": response.effort,
            "agentmux.cli.version": response.cli_version,
            "agentmux.run.id": response.run_id,
            "agentmux.plan": response.plan,
            "agentmux.cost.usd": usd(response),
        }
    )


def common(response: Response) -> Attributes:
    """What a span says of its session too."""
    return _known(
        {
            CONVERSATION: response.session_id,
            AGENT: response.agent,
            PROVIDER: vendor(response),
            REQUEST_MODEL: response.model,
            "agentmux.provider": response.provider,
        }
    )


def vendor(response: Response) -> str:
    """Who served the model: as stated, else as the price lists know the model, else the CLI's own name."""
    price = None if response.vendor else price_of(response)
    name = response.vendor or (price.vendor if price else response.provider)
    return _VENDORS.get(name, name)


def broken(found: Break) -> Attributes:
    """The attributes of the event that says a cache served less than it had."""
    return _known(
        {
            "agentmux.cache.reason": found.reason.value,
            "agentmux.cache.expected_tokens": found.expected,
            "agentmux.cache.observed_tokens": found.observed,
            "agentmux.cache.lost_tokens": found.lost,
            "agentmux.cache.predicted_tokens": found.predicted,
            "agentmux.cache.lost_usd": found.usd,
            "agentmux.cache.evidence": found.evidence,
            "code.file.path": found.line.path if found.line else None,
            "code.line.number": found.line.line if found.line else None,
        }
    )


def identity(*parts: str | float | None, size: int) -> int:
    """A number of `size` bytes that the parts alone decide; never 0, which means none."""
    text = "\0".join(["agentmux", *map(str, parts)])
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:size], "big") or 1


def _tokens(tokens: Tokens) -> dict[str, int | None]:
    written = [count for count in (tokens.cache_write, tokens.cache_write_1h) if count is not None]
    return {
        INPUT: tokens.prompt,
        CACHE_READ: tokens.cache_read,
        CACHE_WRITTEN: sum(written) if written else None,
        OUTPUT: tokens.output,
        REASONING: tokens.reasoning,
    }


def _known(attributes: dict[str, Attribute | None]) -> Attributes:
    return {name: _sendable(value) for name, value in attributes.items() if value is not None}


def _sendable(value: Attribute) -> Attribute:
    """Text that UTF-8 can carry."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
