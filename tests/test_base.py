"""What a diff says of a base it cannot compare with: never that all is new."""

from __future__ import annotations

import os
import subprocess

import pytest

from agentmux.cli import main

AGENT = "description: Reviews\nproviders:\n  claude: {model: opus}\nbundles: [one, two]\n"
PROJECT = {
    "agents.d/reviewer.yaml": AGENT,
    "bundles/one.md": "# One\nBe brief.\n",
    "bundles/two.md": "# Two\nBe right.\n",
}
BROKEN = ("providers:\n  claude: [", AGENT.replace("two]", "three]"))


def git(root, *arguments):
    known = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    names = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *arguments], cwd=root, env=os.environ | known | names, check=True, capture_output=True)


def committed(root):
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "state")


def reorder(root):
    (root / "agents.d/reviewer.yaml").write_bytes(AGENT.replace("one, two", "two, one").encode())


def told(capsys, *arguments):
    code = main(["diff", *map(str, arguments)])
    return code, capsys.readouterr().out


@pytest.mark.parametrize("spec", BROKEN)
def test_a_revision_that_does_not_compile_is_one_error(write_project, monkeypatch, capsys, spec):
    root = write_project(PROJECT | {"agents.d/reviewer.yaml": spec})
    committed(root)
    reorder(root)
    monkeypatch.chdir(root)
    for _ in range(2):  # the second time, the cache knows it
        code, text = told(capsys, "--base", "git:HEAD", "--fail-on", "break")
        assert code == 1
        assert text.count("error[") == 1
        assert "error[AMX520]: the sources at `git:HEAD` do not compile" in text
        assert "1 error: AMX" in text
        assert " in `agents.d/reviewer.yaml`, line" in text
        assert " new" not in text


def test_a_folder_that_does_not_compile_is_one_error(write_project, tmp_path, monkeypatch, capsys):
    root = write_project(PROJECT)
    (root / "agents.d/reviewer.yaml").write_bytes(AGENT.replace("two]", "three]").encode())
    other = root.rename(tmp_path / "other")
    root = write_project(PROJECT)
    monkeypatch.chdir(root)
    code, text = told(capsys, "--base", other)
    assert code == 1
    assert "= note: 1 error: AMX201 in `agents.d/reviewer.yaml`, line 4: there is no bundle `three`" in text
    assert " new" not in text


def test_a_project_with_a_plans_folder_is_a_project(write_project, tmp_path, monkeypatch, capsys):
    other = write_project(PROJECT | {"plans/next.md": "later\n"}).rename(tmp_path / "other")
    root = write_project(PROJECT)
    reorder(root)
    monkeypatch.chdir(root)
    code, text = told(capsys, "--base", other, "--fail-on", "break")
    assert code == 1
    assert "1 broken" in text


def test_a_plans_folder_without_a_plan_is_no_baseline(write_project, tmp_path, monkeypatch, capsys):
    (tmp_path / "other/plans").mkdir(parents=True)
    (tmp_path / "other/plans/next.md").write_bytes(b"later\n")
    monkeypatch.chdir(write_project(PROJECT))
    assert main(["diff", "--base", str(tmp_path / "other")]) == 2
    assert "its `plans/` holds no plan" in capsys.readouterr().err
