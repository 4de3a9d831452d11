"""The ways to name a file of a project: from here, from the project, through a link to it."""

from __future__ import annotations

import os

import pytest

from agentmux.commands.adopt import inside
from agentmux.errors import CannotRun


@pytest.fixture
def root(write_project):
    return write_project({"agents.d/a.yaml": "", "CLAUDE.md": "", "docs/AGENTS.md": ""}).resolve()


def test_a_path_is_relative_to_here(root, monkeypatch):
    monkeypatch.chdir(root / "docs")
    assert inside(root, "AGENTS.md") == "docs/AGENTS.md"
    assert inside(root, "../CLAUDE.md") == "CLAUDE.md"
    assert inside(root, "not-there.md") == "docs/not-there.md"
    assert inside(root, str(root / "CLAUDE.md")) == "CLAUDE.md"


def test_from_elsewhere_a_path_is_relative_to_the_project(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "CLAUDE.md").write_bytes(b"another one")
    assert inside(root, "CLAUDE.md") == "CLAUDE.md"
    assert inside(root, "docs/AGENTS.md") == "docs/AGENTS.md"
    assert inside(root, "not-there.md") == "not-there.md"


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_a_project_may_be_named_through_a_link(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(root)
    assert inside(root, str(tmp_path / "link/docs/AGENTS.md")) == "docs/AGENTS.md"
    (root / "linked.md").symlink_to("CLAUDE.md")
    assert inside(root, str(root / "linked.md")) == "linked.md"


@pytest.mark.parametrize("path", ["../other.md", "/not-there.md"])
def test_what_is_not_in_the_project_is_refused(root, tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.md").write_bytes(b"")
    with pytest.raises(CannotRun, match="is not in the project"):
        inside(root, path)
