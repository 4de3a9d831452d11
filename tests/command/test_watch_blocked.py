"""A watch that a hand edit has blocked builds as soon as the edit is gone."""

from __future__ import annotations

from agentmux.commands.watch import build
from agentmux_compiler.pipeline import BuildOptions
from agentmux_compiler.watch import stale, watched


def test_a_block_that_is_taken_away_is_a_reason_to_build(write_project):
    root = write_project(
        {"agents.d/main.yaml": "providers: {claude: {}}\ndelivery: file\nworkdir: app\ninstructions: One.\n"}
    )
    assert not stale(root, build(root, BuildOptions()))
    output = root / "app/CLAUDE.md"
    built = output.read_bytes()
    output.write_bytes(built + b"By hand.\n")
    source = root / "agents.d/main.yaml"
    source.write_text(source.read_text().replace("One", "Two"))
    last = build(root, BuildOptions())

    assert [item.code for item in last.report.diagnostics if item.severity == "error"] == ["AMX602"]
    assert "app" in watched(root, last)
    assert not stale(root, last)
    output.write_bytes(built)
    assert stale(root, last)
    assert not stale(root, build(root, BuildOptions()))
    assert b"Two." in output.read_bytes()
