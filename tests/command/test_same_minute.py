"""What a launch waits for before it goes on with a session."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentmux.launch.same_minute import to_wait
from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.tree import MemoryTree
from agentmux_launcher.ledger import Session

MADE = compile_project(MemoryTree({"agents.d/tester.yaml": b"providers: {gemini: {controller: acp}}\n"}))
PLAN = MADE.plans[0].plan
SESSION = Session("gemini", "id", "/project", "tester", None, None, "ask", None, None, None, "run")


@pytest.mark.parametrize(
    ("used", "now", "waits"),
    [(600, 600, 60), (601, 630, 30), (599, 600, 0), (659.5, 659.5, 0.5), (0, 630, 0), (700, 630, 0)],
)
def test_a_session_used_in_this_minute_may_have_begun_in_it(used, now, waits):
    assert to_wait(replace(SESSION, updated=used), PLAN, now) == waits


def test_others_do_not_wait():
    at_once = replace(PLAN, acp=replace(PLAN.acp, loads_at_once=True))

    assert [to_wait(replace(SESSION, updated=600), plan, 600) for plan in (at_once, replace(PLAN, acp=None))] == [0, 0]
