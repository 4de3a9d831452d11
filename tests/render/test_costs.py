"""What a change costs, in words."""

from __future__ import annotations

import pytest

from agentmux_compiler.render.costs import dollars, standing_notes, terms
from agentmux_compiler.report import Change, PlanDiff, Scenario, TextKept

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


LATE = TextKept(4000, 3600, 40_000, 38_000, "o200k_base", None)


def late(after, *, other=0, text=LATE, changes=()):
    """A change near the end, of which a new session is served the first `after` tokens."""
    return PlanDiff(
        "main",
        "codex",
        "openai",
        "openai-5.6",
        None,
        None,
        "0.171.0",
        "broken",
        text,
        changes=changes,
        scenarios={
            "relaunch": Scenario(40_000, after, 40_000 - after, 0, None, None),
            "new_prompt": Scenario(other, other, 0, 0, None, None),
        },
    )


def test_why_all_is_paid_again_for_a_change_near_the_end():
    (note,) = standing_notes([late(0)])
    assert note == (
        "`openai-5.6` serves whole entries of its cache only, and none ends before this change: a new session pays for "
        "everything again, as one with another prompt does anyway"
    )


def test_where_the_last_entry_before_a_change_ends():
    note, _ = standing_notes([late(9000, other=9000)])
    assert note == (
        "`openai-5.6` serves whole entries of its cache only, and the last one before this change ends at token 9,000: "
        "a new session pays again for all behind it"
    )


@pytest.mark.parametrize(
    "plan",
    [
        late(37_888),  # a cache in steps
        late(0, text=TextKept(4000, 400, 40_000, 1000, "o200k_base", None)),  # below the least size
        late(0, changes=(Change("effort", "key", "effort", None, None, masked=False, code="AMX503"),)),
    ],
)
def test_nothing_is_said_where_what_follows_the_change_is_what_is_lost(plan):
    assert list(standing_notes([plan])) == []
