"""A skill's script stays one: its executable bit goes where its bytes go."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from agentmux_compiler.pipeline import BuildOptions, build
from agentmux_compiler.tree import DiskTree, MemoryTree
from agentmux_compiler.trees.git_tree import revision
from agentmux_compiler.watch import Round, stale
from agentmux_compiler.writing.record import Key, load_fresh, save

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes are a POSIX affair")

SCRIPT = "skills/deploy/scripts/go.sh"
OUTPUT = f".claude/{SCRIPT}"
SOURCES = {
    "agents.d/main.yaml": "providers: {claude: {}}\ndelivery: file\nskills: [deploy]\n",
    "skills/deploy/SKILL.md": "---\nname: deploy\ndescription: Deploy it\n---\nRun it.\n",
    SCRIPT: "#!/bin/sh\n",
}


@pytest.fixture
def project(write_project):
    root = write_project(SOURCES)
    (root / SCRIPT).chmod(0o755)
    return root


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def written(report) -> list[str]:
    return [file.path for file in report.files if file.status == "written"]


def test_a_copy_may_be_run_as_far_as_the_umask_lets_it(project):
    before = os.umask(0o027)
    try:
        build(project, BuildOptions())
    finally:
        os.umask(before)

    assert (mode(project / OUTPUT), mode(project / ".claude/skills/deploy/SKILL.md")) == (0o750, 0o640)


@pytest.mark.parametrize(("first", "second"), [(0o755, 0o644), (0o644, 0o755)])
def test_a_bit_alone_is_a_write(project, first, second):
    (project / SCRIPT).chmod(first)
    build(project, BuildOptions())
    (project / SCRIPT).chmod(second)

    assert written(build(project, BuildOptions())) == [OUTPUT]
    assert bool(mode(project / OUTPUT) & 0o111) is (second == 0o755)
    assert written(build(project, BuildOptions())) == []


def test_check_is_red_about_a_lost_bit(project):
    build(project, BuildOptions())
    (project / OUTPUT).chmod(0o644)
    report = build(project, BuildOptions(check=True))

    assert [(item.code, item.span.path) for item in report.diagnostics if item.code == "AMX604"] == [("AMX604", OUTPUT)]


@pytest.mark.parametrize("path", [SCRIPT, OUTPUT])
def test_a_record_notices_a_bit(project, path):
    tree, key = DiskTree(project), Key("1", ("build",))
    report = build(project, BuildOptions(), tree)
    assert save(project, key, tree.trace, [OUTPUT], report)
    assert load_fresh(project, key) is not None
    (project / path).chmod(0o644)

    assert load_fresh(project, key) is None


def test_a_watch_notices_a_bit(project):
    tree = DiskTree(project)
    last = Round(build(project, BuildOptions(), tree), tree.trace)
    assert not stale(project, last)
    (project / SCRIPT).chmod(0o644)

    assert stale(project, last)


def test_an_adopted_script_may_still_be_run(write_project):
    root = write_project(
        {
            "agents.d/main.yaml": "providers: {claude: {}}\n",
            **{f".claude/{k}": v for k, v in SOURCES.items() if k.startswith("skills/")},
        }
    )
    (root / OUTPUT).chmod(0o755)
    subprocess.run([sys.executable, "-m", "agentmux", "adopt", ".claude/skills/deploy"], cwd=root, check=True)

    assert (mode(root / SCRIPT) & 0o111, mode(root / "skills/deploy/SKILL.md") & 0o111) == (0o111, 0)


def test_a_revision_and_a_mapping_know_the_bit(project, monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "a change"]):
        subprocess.run(["git", *who, *arguments], cwd=project, check=True, capture_output=True)
    with revision(project, "HEAD") as tree:
        assert (tree.executable(SCRIPT), tree.executable("agents.d/main.yaml")) == (True, False)
    assert MemoryTree({SCRIPT: b""}, frozenset({SCRIPT})).executable(SCRIPT)
    assert not MemoryTree({SCRIPT: b""}).executable(SCRIPT)
