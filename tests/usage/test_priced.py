"""What a response costs: each kind of token by its own rate, and nothing where a rate or a figure is missing."""

from __future__ import annotations

import datetime as dt

import pytest

from agentmux_compiler.prefix.prices import price
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_launcher.usage import Tokens
from agentmux_usage.priced import _of_provider, price_of, usd
from agentmux_usage.response import Response

NOW = dt.datetime(2026, 11, 9, 12, 0, tzinfo=dt.UTC).timestamp()


def response(model, *tokens, provider="claude", time=NOW, **more):
    return Response(provider=provider, session_id="s", time=time, tokens=Tokens(*tokens), model=model, **more)


@pytest.mark.parametrize(
    ("tokens", "dollars"),
    [
        ((1_000_000, 0, 0, 0, 0), 5.0),
        ((0, 1_000_000, 0, 0, 0), 0.5),
        ((0, 0, 1_000_000, 0, 0), 6.25),
        ((0, 0, 0, 1_000_000, 0), 10.0),
        ((0, 0, 0, 0, 1_000_000), 25.0),
        ((1_000_000, None, None, None, 1_000_000), 30.0),
        ((None, 1_000_000, 0, 0, 1_000), None),
        ((1_000, 0, 0, 0, None), None),
    ],
)
def test_each_kind_of_token_has_its_rate(tokens, dollars):
    assert usd(response("claude-opus-5", *tokens)) == dollars


def test_a_model_that_no_list_has_costs_no_known_sum():
    assert usd(response("my-own-model", 1, 0, 0, 0, 1)) is None
    assert usd(response(None, 1, 0, 0, 0, 1)) is None
    assert usd(response("claude-opus-5", 1, 0, 0, 0, 1, provider="nobody")) is None


def test_a_long_prompt_has_the_rates_of_long_prompts():
    short, long = (usd(response("claude-haiku-5-5", size, 0, 0, 0, 0)) for size in (100_000, 100_001))

    assert (short, long) == (0.01, pytest.approx(100_001 * 0.5 / 1e6))


def test_a_sum_of_prompts_is_priced_as_long_as_none_of_them_can_have_been_long():
    assert usd(response("claude-haiku-5-5", 100_000, 0, 0, 0, 0, calls=None)) == 0.01
    assert usd(response("claude-haiku-5-5", 100_001, 0, 0, 0, 0, calls=3)) is None


def test_who_is_said_to_have_served_it_goes_before_the_models_name_and_that_before_the_provider():
    named = response("anthropic/claude-opus-5", 1, 0, 0, 0, 1, provider="opencode")

    assert price_of(named).vendor == "anthropic"
    assert price_of(response("claude-opus-5", 1, 0, 0, 0, 1, provider="opencode")) is None
    assert price_of(response("claude-opus-5", 1, 0, 0, 0, 1, vendor="custom")) is None
    assert price_of(response("gpt-5.5", 1, 0, 0, 0, 1, provider="codex")).vendor == "openai"


def test_a_price_that_changes_by_the_hour_is_that_of_the_minute():
    model = "deepseek-chat"
    known = price("deepseek", model)
    assert known.windows, "no row with hours any more: choose another model"
    window = known.windows[0]
    begin = dt.datetime.combine(dt.date(2026, 11, 9), dt.time.fromisoformat(window.start), dt.UTC)
    inside, before = (begin + dt.timedelta(minutes=minutes) for minutes in (0, -1))

    costs = [
        usd(response(model, 1_000_000, 0, 0, 0, 0, time=at.timestamp(), vendor="deepseek")) for at in (inside, before)
    ]
    assert costs == [price("deepseek", model, at).at(1_000_000).input for at in (inside, before)]
    assert costs[0] != costs[1]


@pytest.mark.parametrize("provider", NAMES)
def test_the_vendors_read_from_one_line_are_those_of_the_catalog(provider):
    assert _of_provider(provider) == load_provider(provider).vendors
