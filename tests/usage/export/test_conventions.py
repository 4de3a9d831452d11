from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as published
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from opentelemetry.semconv.attributes import code_attributes

from agentmux_launcher.usage import Tokens
from agentmux_usage.export import conventions
from agentmux_usage.priced import usd
from agentmux_usage.response import Response


def test_the_names_are_those_of_the_installed_conventions():
    assert (
        conventions.OPERATION,
        conventions.PROVIDER,
        conventions.CONVERSATION,
        conventions.AGENT,
        conventions.REQUEST_MODEL,
        conventions.RESPONSE_MODEL,
        conventions.RESPONSE_ID,
        conventions.INPUT,
        conventions.OUTPUT,
        conventions.CACHE_READ,
        conventions.CACHE_WRITTEN,
        conventions.REASONING,
        conventions.TOKEN_TYPE,
    ) == (
        published.GEN_AI_OPERATION_NAME,
        published.GEN_AI_PROVIDER_NAME,
        published.GEN_AI_CONVERSATION_ID,
        published.GEN_AI_AGENT_NAME,
        published.GEN_AI_REQUEST_MODEL,
        published.GEN_AI_RESPONSE_MODEL,
        published.GEN_AI_RESPONSE_ID,
        published.GEN_AI_USAGE_INPUT_TOKENS,
        published.GEN_AI_USAGE_OUTPUT_TOKENS,
        published.GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
        published.GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS,
        published.GEN_AI_USAGE_REASONING_OUTPUT_TOKENS,
        published.GEN_AI_TOKEN_TYPE,
    )
    assert conventions.TOKEN_USAGE == gen_ai_metrics.GEN_AI_CLIENT_TOKEN_USAGE
    assert {conventions.CHAT, conventions.INVOKE_AGENT} <= {value.value for value in published.GenAiOperationNameValues}


def test_the_places_of_breaks_have_published_names_too(breaks):
    told = conventions.broken(breaks[0])

    assert told[code_attributes.CODE_FILE_PATH] == "bundles/style.md"
    assert told[code_attributes.CODE_LINE_NUMBER] == 7


def test_input_counts_the_whole_prompt(session):
    first = session.responses[0]

    assert conventions.chat(first) == {
        "gen_ai.conversation.id": "it's \N{SNOWMAN}",
        "gen_ai.agent.name": "reviewer",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-opus-4-5",
        "gen_ai.operation.name": "chat",
        "gen_ai.response.model": "claude-opus-4-5",
        "gen_ai.response.id": "m1",
        "gen_ai.usage.input_tokens": 5110,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.usage.cache_creation.input_tokens": 5100,
        "gen_ai.usage.output_tokens": 200,
        "gen_ai.usage.reasoning.output_tokens": 50,
        "agentmux.provider": "claude",
        "agentmux.response.kind": "main",
        "agentmux.turn": 1,
        "agentmux.effort": "high",
        "agentmux.cost.usd": usd(first),
    }


def test_what_is_not_known_is_not_said():
    bare = Response("unheard-of", "one", 0.0, Tokens())

    assert conventions.chat(bare) == {
        "gen_ai.conversation.id": "one",
        "gen_ai.provider.name": "unheard-of",
        "gen_ai.operation.name": "chat",
        "agentmux.provider": "unheard-of",
        "agentmux.response.kind": "main",
        "agentmux.turn": 0,
    }


def test_vendors_have_the_names_of_the_conventions():
    def said(provider, model=None, vendor=None):
        return conventions.vendor(Response(provider, "one", 1_780_000_000.0, Tokens(), model=model, vendor=vendor))

    values = {value.value for value in published.GenAiProviderNameValues}
    assert [said("claude", "claude-opus-4-5"), said("codex", "gpt-5"), said("qwen", vendor="google")] == [
        "anthropic",
        "openai",
        "gcp.gemini",
    ]
    assert {said("any", vendor=vendor) for vendor in ("google", "xai", "mistral", "deepseek")} <= values


@given(st.lists(st.text() | st.integers() | st.none(), max_size=4))
def test_ids_follow_from_their_parts_alone(parts):
    assert conventions.identity(*parts, size=8) == conventions.identity(*parts, size=8)
    assert 0 < conventions.identity(*parts, size=8) < 2**64
    assert conventions.identity(*parts, size=8) != conventions.identity(*parts, "more", size=8)
