"""What is said of a session that goes on otherwise than it was used last."""

from __future__ import annotations

import pytest

from agentmux.launch.launching import changed
from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.tree import MemoryTree
from agentmux_launcher.ledger import Session

SESSION = {
    "provider": "codex",
    "session_id": "s",
    "project": "/project",
    "agent": "tester",
    "model": None,
    "effort": None,
    "permission": "ask",
    "cli_version": "0.171.0",
    "plan": None,
    "prefix": None,
    "last_run": "run",
    "context_tokens": None,
    "counters": None,
    "updated": 1.0,
}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({}, []),
        ({"agent": "reviewer"}, ["agent: reviewer, now tester"]),
        (
            {"model": "gpt-5", "cli_version": "0.1"},
            ["model: gpt-5, now default", "version of the CLI: 0.1, now 0.171.0"],
        ),
    ],
)
def test_what_is_not_as_it_was_is_named(other, said):
    (lowered,) = compile_project(MemoryTree({"agents.d/tester.yaml": b"providers: {codex: {}}\n"})).plans

    assert changed(Session(**{**SESSION, **other}), lowered.plan, "0.171.0") == said
