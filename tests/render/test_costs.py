"""What a change costs, in words."""

from __future__ import annotations

import pytest

from agentmux_compiler.render.costs import dollars, terms
from agentmux_compiler.report import PlanDiff, Scenario, TextKept

KEPT = TextKept(4000, 1000, 400, 100, "o200k_base", None)


@pytest.mark.parametrize(
    ("usd", "text"),
    [(0, "$0.00"), (0.00003, "less than $0.0001"), (0.0001, "$0.0001"), (0.0047, "$0.0047"), (1234.5, "$1,234.50")],
)
def test_dollars(usd, text):
    assert dollars(usd) == text


def plan(usd, lost=900):
    return PlanDiff(
        "main",
        "codex",
        "openai",
        "openai",
        None,
        None,
        "0.171.0",
        "broken",
        KEPT,
        scenarios={"relaunch": Scenario(1000, 1000 - lost, lost, 0, usd, None)},
        price_as_of="2026-11-10" if usd else None,
    )


@pytest.mark.parametrize(
    ("plans", "found"),
    [
        ((plan(0.5), plan(None)), ["No price is known for the model of 1 plan."]),
        ((plan(0.5), plan(None, lost=0)), []),
        ((plan(None), plan(None)), []),
    ],
)
def test_plans_without_a_price_are_counted_where_others_have_one(plans, found):
    assert [line for line in terms(plans) if line.startswith("No price")] == found
