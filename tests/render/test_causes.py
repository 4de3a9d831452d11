"""Which broken plans are one cause, and what is said of a key whose text changed too."""

from __future__ import annotations

import pytest

from agentmux.cli import main

USES = "providers:\n  claude: {model: opus}\n  codex: {model: gpt-5.5}\n  gemini: {}\n"
SPEC = f"{USES}permission: plan\ninstructions: |\n  # Task\n  Review.\n"


@pytest.fixture
def changed(write_project, monkeypatch, capsys):
    """The report of a change of the spec against the accepted one."""
    root = write_project({"agents.d/a.yaml": SPEC})
    monkeypatch.chdir(root)

    def run(spec, *arguments):
        assert main(["build", "--accept"]) == 0
        (root / "agents.d/a.yaml").write_bytes(spec.encode())
        capsys.readouterr()
        main(["diff", *arguments])
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("form", ["full", "markdown"])
def test_a_permission_is_one_cause_whatever_it_changes_in_each_cli(changed, form):
    text = changed(SPEC.replace("plan", "edit"), "--format", form)
    assert text.count("another permission: 3 prefixes break" if form == "full" else "<summary>") == 1
    assert "\n  - [" not in text


def test_a_server_is_one_cause(changed):
    text = changed(SPEC + "mcp: {issues: {command: issues-mcp}}\n")
    assert text.count("warning[AMX507]") == 1
    assert "other tools: 3 prefixes break" in text


def test_another_key_loses_all_even_where_the_text_changed_too(changed):
    spec = SPEC.replace("opus", "opus, effort: low").replace("Review.", "Review well.")
    text = changed(spec)
    row = next(line for line in text.splitlines() if "a/claude" in line)
    assert " lost to another key, and " in row
    assert row.endswith(" bytes) differ besides")
    assert "an effort is a key of the cache, not text\n" in text
    assert "byte for byte" not in text


def test_another_key_alone_sends_the_same_text(changed):
    text = changed(SPEC.replace("opus", "opus, effort: low"))
    assert "are the same, but the cache has them under another key" in text
    assert "sends the same text, byte for byte" in text
