"""This repository's own agents: no prefix of theirs changes unless somebody accepts it."""

from __future__ import annotations

from agentmux_compiler.prefix_snapshot import prefix_snapshot  # noqa: F401  the fixture


def test_no_prefix_of_our_own_agents_changed(prefix_snapshot, repository):  # noqa: F811  as above
    prefix_snapshot(repository)
