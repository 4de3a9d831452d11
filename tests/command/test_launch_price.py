"""What a launch says of a cache that holds another prefix."""

from __future__ import annotations

import pytest

from agentmux.launch_price import snapshot_price
from agentmux_compiler.report import DiffReport, PlanDiff, Scenario, Summary, TextKept

KEPT = TextKept(4000, 1000, 400, 100, "o200k_base", None)
UNLESS = ", unless it has dropped them by now (it keeps them 5m)"


def scenario(lost, usd=None):
    return Scenario(1000, 1000 - lost, lost, 0, usd, None)


@pytest.mark.parametrize(
    ("scenarios", "said"),
    [
        (
            {"relaunch": scenario(900, 0.0373), "new_prompt": scenario(80)},
            f"900 tokens are paid again, $0.0373 (80 if its first turn is another one){UNLESS}",
        ),
        ({"relaunch": scenario(900), "new_prompt": scenario(900)}, f"900 tokens are paid again{UNLESS}"),
        ({"relaunch": scenario(900), "new_prompt": None}, f"900 tokens are paid again{UNLESS}"),
        ({"relaunch": scenario(0), "new_prompt": scenario(0)}, "nothing is paid again"),
        ({}, "100 of 400 tokens stay as they were"),
    ],
)
def test_the_sum_is_for_the_session_that_begins(scenarios, said):
    plan = PlanDiff(
        "reviewer",
        "claude",
        "anthropic",
        "anthropic",
        "opus",
        None,
        "2.1.332",
        "broken",
        KEPT,
        scenarios=scenarios,
        ttl="5m",
    )
    assert list(snapshot_price(DiffReport("snapshots", (plan,), Summary(plans=1, broken=1)))) == [said]
