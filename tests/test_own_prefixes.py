"""This repository's own agents: no prefix of theirs changes unless somebody accepts it, and builds are quiet."""

from __future__ import annotations

from agentmux.cli import main


def test_no_prefix_of_our_own_agents_changed(prefix_snapshot):
    prefix_snapshot()


def test_a_build_of_our_own_agents_has_nothing_to_say(repository, capsys):
    code = main(["build", "--check", "--project", str(repository)])

    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    assert out.startswith("No changes.")
