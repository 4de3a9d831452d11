"""The pytest plugin: a fixture for any repository; what it needs is imported when a test first asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from agentmux_compiler.prefix_snapshot import PrefixSnapshot


@pytest.fixture
def prefix_snapshot(request: pytest.FixtureRequest) -> PrefixSnapshot:
    """Call it, with a project's folder or without: the test fails where a prefix is not the accepted one.

    Without a folder it is the nearest one above the test that holds `agents.d/`. The message is the prefix report;
    `pytest --snapshot-update` accepts, as `agentmux build --accept` does.
    """
    try:
        snapshot = request.getfixturevalue("snapshot")
    except pytest.FixtureLookupError:
        pytest.fail("`prefix_snapshot` needs syrupy: pip install 'agentmux-cli[test]'", pytrace=False)
    from agentmux_compiler.prefix_snapshot import PrefixSnapshot  # noqa: PLC0415  the compiler and syrupy

    return PrefixSnapshot(snapshot, request.path)
