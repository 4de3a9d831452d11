import os
import sqlite3
import subprocess

import pytest

from agentmux_compiler.pipeline import DiffOptions, compile_project, diff
from agentmux_compiler.revisions.outcomes import Fault, outcome_at
from agentmux_compiler.revisions.prefix_cache import FOLDER, prefix_cache
from agentmux_compiler.revisions.source_ids import Recorded, SourceIds, ids_on_disk
from agentmux_compiler.tree import DiskTree
from agentmux_compiler.trees.git_tree import revision

SOURCES = {
    "agents.d/a.yaml": "providers: {claude: {model: opus}}\nbundles: [x]\nsoul: {file: souls/a.md}\n",
    "bundles/x.md": "Review the diff.\n",
    "souls/a.md": "Be brief.\n",
    "main.c": "int main;\n",
}


@pytest.fixture
def git(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "core.autocrlf=false"]

    def commit(files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(text.encode())
        for arguments in (["add", "--all"], ["commit", "--quiet", "--message", "a change"]):
            subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True, capture_output=True)

    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    commit(SOURCES)
    return commit


def compiling(calls):
    def compile_tree(tree):
        calls.append(tree)
        return compile_project(tree)

    return compile_tree


def outcome(root, name, calls):
    with revision(root, name) as tree, prefix_cache(root) as cache:
        return outcome_at(tree, cache, compiling(calls)).outcome


@pytest.mark.usefixtures("git")
def test_what_was_compiled_is_not_compiled_again(tmp_path):
    calls = []
    first = outcome(tmp_path, "HEAD", calls)
    assert outcome(tmp_path, "HEAD", calls) == first
    assert [plan.key for plan in first.plans] == ["a/claude"]
    assert len(calls) == 1


def test_a_commit_that_touches_no_source_is_not_compiled(git, tmp_path):
    calls = []
    first = outcome(tmp_path, "HEAD", calls)
    git({"main.c": "int main(void);\n", "snapshots/plans/x": "x", "bundles/more.txt": "x"})
    assert outcome(tmp_path, "HEAD", calls) == first
    assert len(calls) == 2  # a name in `bundles/` might be a bundle's


@pytest.mark.parametrize("path", ["agents.d/a.yaml", "bundles/x.md", "souls/a.md", "CLAUDE.md", "agents.d/b.yaml"])
def test_every_source_counts(git, tmp_path, path):
    calls = []
    outcome(tmp_path, "HEAD", calls)
    git({path: SOURCES.get(path, "providers: {codex: {}}\ninstructions: More.\n").replace("{model: opus}", "{}") + " "})
    outcome(tmp_path, "HEAD", calls)
    outcome(tmp_path, "HEAD~1", calls)
    assert len(calls) == 2


def test_sources_that_do_not_compile_are_remembered_too(git, tmp_path):
    git({"agents.d/a.yaml": "providers: {claude: {}}\nbundles: [absent]\n"})
    calls = []
    found = [outcome(tmp_path, "HEAD", calls).fault for _ in range(2)]
    assert found == [Fault(1, "AMX201", "there is no bundle `absent`", "agents.d/a.yaml", 2)] * 2
    assert len(calls) == 1


@pytest.mark.usefixtures("git")
def test_the_cache_is_not_seen_by_git(tmp_path):
    outcome(tmp_path, "HEAD", [])
    done = subprocess.run(["git", "-C", str(tmp_path), "status", "--short"], check=True, capture_output=True)
    assert (tmp_path / FOLDER / ".gitignore").read_bytes() == b"*\n"
    assert done.stdout == b""


@pytest.mark.usefixtures("git")
def test_a_spoilt_cache_is_made_anew(tmp_path):
    calls = []
    outcome(tmp_path, "HEAD", calls)
    (kept,) = (tmp_path / FOLDER).glob("*.sqlite")
    kept.write_bytes(b"no database at all" * 100)
    for _ in range(3):
        outcome(tmp_path, "HEAD", calls)
    assert len(calls) == 3  # then it is gone, then it is filled


@pytest.mark.usefixtures("git")
def test_a_spoilt_row_is_compiled_again(tmp_path):
    calls = []
    first = outcome(tmp_path, "HEAD", calls)
    (kept,) = (tmp_path / FOLDER).glob("*.sqlite")
    connection = sqlite3.connect(kept)
    connection.execute("UPDATE outcomes SET plans = 'x'")
    connection.commit()
    connection.close()
    assert outcome(tmp_path, "HEAD", calls) == first
    assert len(calls) == 2


@pytest.mark.usefixtures("git")
def test_the_table_of_another_version_is_removed(tmp_path):
    other = tmp_path / FOLDER / "prefixes-0.0.0-0.sqlite"
    other.parent.mkdir(parents=True)
    other.write_bytes(b"")
    outcome(tmp_path, "HEAD", [])
    assert not other.exists()


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
@pytest.mark.usefixtures("git")
def test_a_cache_behind_a_link_is_left_alone(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / ".agentmux").symlink_to(elsewhere)
    calls = []
    for _ in range(2):
        outcome(tmp_path, "HEAD", calls)
    assert (len(calls), list(elsewhere.iterdir())) == (2, [])


def test_a_base_with_the_same_sources_is_not_compiled(git, tmp_path, monkeypatch):
    git({"main.c": "int main(void);\n"})
    monkeypatch.setattr("agentmux_compiler.revisions.prefix_cache.prefix_cache", None)
    report = diff(tmp_path, DiffOptions(base="git:HEAD~1"))
    assert (report.summary.plans, report.summary.unchanged) == (1, 1)


def test_a_base_that_was_compiled_before_comes_out_of_the_cache(git, tmp_path):
    git({"bundles/x.md": "Review the author.\n"})
    first, again = (diff(tmp_path, DiffOptions(base="git:HEAD~1")) for _ in range(2))
    assert first == again
    assert first.summary.broken == 1
    with revision(tmp_path, "HEAD~1") as tree, prefix_cache(tmp_path) as cache:
        assert cache.find(tree) is not None


@pytest.mark.usefixtures("git")
def test_ids_on_disk_are_those_of_git(tmp_path):
    disk = DiskTree(tmp_path)
    compile_project(disk)
    with revision(tmp_path, "HEAD") as tree:
        recorded = Recorded(tree)
        compile_project(recorded)
        assert ids_on_disk(disk, tree.top) == recorded.ids
        assert recorded.ids.stand_in(tree)
        assert not SourceIds({"absent": "0" * 40}, {}).stand_in(tree)
        assert not SourceIds({}, {"bundles": ("y.md",)}).stand_in(tree)
