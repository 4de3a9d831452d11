"""A permission that takes the tools of MCP servers away with the others."""

from __future__ import annotations

import pytest

from agentmux_compiler.lower import lower
from agentmux_compiler.resolve import resolve
from agentmux_compiler.spec import load
from agentmux_compiler.tree import MemoryTree

SPEC = """
providers: {kilo: {permission: %s}}
instructions: Count the spoons.
mcp:
  forks: {command: forks-mcp}
"""
DENIED = "`kilo` takes away the tools of MCP servers under the permission `plan`"


@pytest.mark.parametrize(("permission", "said", "given"), [("plan", [DENIED], []), ("ask", [], ["forks"])])
def test_servers_are_given_or_said_to_be_denied(permission, said, given):
    tree = MemoryTree({"agents.d/worker.yaml": (SPEC % permission).encode()})
    project, first = resolve(load(tree)[0], tree)
    (kilo,), second = lower(project, tree)

    assert [item.message for item in (*first, *second)] == said
    assert [server.name for server in kilo.plan.mcp_servers] == given
