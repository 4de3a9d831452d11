from __future__ import annotations

import json
from datetime import date, datetime, timezone
from importlib.resources import files

import pytest

from agentmux_compiler.prefix.prices import Price, Rates, break_cost, price, standing_cost, table


@pytest.mark.parametrize(
    ("vendor", "model", "lifetime", "dollars"),
    [
        ("anthropic", "claude-opus-5", "5m", 1.15),
        ("anthropic", "claude-opus-5", "1h", 1.90),
        ("claude", "anthropic/claude-opus-5[1m]", "5m", 1.15),
        ("anthropic", "claude-fable-5-1", "5m", 2.45),
        ("anthropic", "claude-fable-5-1", "1h", 3.95),
        ("anthropic", "opus", "5m", 0.96),
        ("openai", "gpt-5.6-sol", "30m", 0.92),
        ("openai", "gpt-5.6", "12h", 1.92),
        ("openai", "gpt-5.5", "24h", 0.9),
        ("deepseek", "deepseek-flash", "disk", 0.0294),
        ("alibaba", "qwen3.7-max", "implicit", 0.4),
        ("alibaba", "qwen3.7-max", "5m", 0.525),
        ("kimi", "kimi-k3", "5m", 0.54),
        ("zai", "GLM-5.2", "automatic", 0.228),
        ("xai", "grok-4.7", "automatic", 0.3),
        ("google", "gemini-2.5-pro", "implicit", 0.225),
    ],
)
def test_what_200000_lost_tokens_cost(vendor, model, lifetime, dollars):
    assert break_cost(price(vendor, model), 200_000, lifetime) == dollars


def test_a_long_prompt_is_billed_whole_by_the_rates_of_its_length():
    sol = price("openai", "gpt-5.6-sol")
    assert sol.at(272_000).input == 4
    assert sol.at(272_001) == Rates(8, 30, 0.8, {"30m": 10, "12h": 20}, 272_000)


def test_a_dated_price_holds_from_its_day_on():
    model = ("openai", "gpt-5.6-sol")
    assert price(*model, date(2026, 8, 20)).rates[0].input == 5
    assert price(*model, date(2026, 8, 21)).rates[0].input == 4
    assert price("google", "gemini-3.8-flash").rates[0].input == 0.75
    assert price("google", "gemini-3.8-flash", date(2027, 1, 1)).rates[0].input == 1.5


def test_a_time_of_day_counts_only_where_one_is_given():
    model = ("deepseek", "deepseek-flash")
    assert price(*model).rates[0].input == 0.15
    assert price(*model, datetime(2026, 11, 30, 6, 0, tzinfo=timezone.utc)).rates[0].input == 0.3  # noqa: UP017
    assert price(*model, datetime(2026, 11, 30, 10, 0, tzinfo=timezone.utc)).rates[0].input == 0.15  # noqa: UP017
    assert [window.start for window in price(*model).windows] == ["01:00", "06:00"]


def test_what_no_list_says_has_no_price():
    assert price("openai", "gpt-99") is None
    assert price("nobody", "gpt-5.5") is None
    assert price("anthropic", None) is None
    assert break_cost(None, 100, "5m") is None
    assert break_cost(price("anthropic", "opus"), None, "5m") is None
    unread = Price("v", "m", (Rates(1, 2),), "2026-11-10", "s")
    assert break_cost(unread, 100, "5m") is None
    assert standing_cost(unread, 100, 3, "5m") is None


def test_a_standing_text_is_stored_once_and_read_afterwards():
    assert standing_cost(price("anthropic", "claude-opus-5"), 10_000, 21, "1h") == round((10 + 20 * 0.5) * 0.01, 6)


def test_every_row_is_whole_and_names_its_source():
    for row in table().rows:
        assert row.source in table().sources
        assert row.match
        for dated in row.prices:
            assert [rates.above for rates in dated.rates] == sorted({rates.above for rates in dated.rates})
            assert dated.rates[0].above == 0
            for rates in dated.rates:
                assert rates.read is None or rates.read <= rates.input <= rates.output
                assert all(value >= rates.input for value in rates.write.values())
        assert [dated.since or "" for dated in row.prices] == sorted(dated.since or "" for dated in row.prices)


def test_every_row_is_the_one_its_own_name_finds():
    assert {row.model for row in table().rows if price(row.vendor, row.model).model != row.model} == set()


def test_the_file_is_small_and_one_row_a_line():
    text = files("agentmux_compiler.prefix").joinpath("prices.json").read_text(encoding="utf-8")
    assert len(text) < 64_000
    assert text.count("\n") == len(json.loads(text)["rows"]) + 2
