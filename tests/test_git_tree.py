import os
import subprocess

import pytest

from agentmux_compiler.trees.git_objects import GitError, objects, output
from agentmux_compiler.trees.git_tree import revision, tree_at


@pytest.fixture
def git(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "core.autocrlf=false"]

    def run(*arguments):
        subprocess.run(["git", "-C", str(tmp_path), *who, *arguments], check=True, capture_output=True)

    run("init", "--quiet")
    return run


def write(root, files):
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def commit(git):
    git("add", "--all")
    git("commit", "--quiet", "--message", "a change")


def test_a_revision_is_read_as_it_was(git, tmp_path):
    write(tmp_path, {"agents.d/a.yaml": b"one\r\n", "bundles/x.md": b"\xff\x00", "top.md": b""})
    commit(git)
    write(tmp_path, {"agents.d/a.yaml": b"two"})
    (tmp_path / "bundles/x.md").unlink()
    commit(git)
    with revision(tmp_path, "HEAD~1") as tree:
        assert tree.read("agents.d/a.yaml") == b"one\r\n"
        assert tree.read("bundles/x.md") == b"\xff\x00"
        assert tree.read("top.md") == b""
        assert tree.read("./agents.d/../top.md") == b""
        assert tree.read("agents.d") is None
        assert tree.read("../outside") is None
        assert tree.names(".") == ("agents.d/", "bundles/", "top.md")
        assert tree.names("agents.d") == ("a.yaml",)
        assert tree.names("absent") == ()
    with revision(tmp_path, "HEAD") as tree:
        assert (tree.read("agents.d/a.yaml"), tree.read("bundles/x.md")) == (b"two", None)


def test_a_project_below_the_top_of_its_repository(git, tmp_path):
    write(tmp_path, {"sub/agents.d/a.yaml": b"x", "other/b.md": b"y"})
    commit(git)
    with revision(tmp_path / "sub", "HEAD") as tree:
        assert tree.names("") == ("agents.d/",)
        assert tree.read("agents.d/a.yaml") == b"x"


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_links_are_followed_inside_the_project(git, tmp_path):
    write(tmp_path, {"docs/AGENTS.md": b"text"})
    (tmp_path / "CLAUDE.md").symlink_to("docs/AGENTS.md")
    (tmp_path / "docs/up.md").symlink_to("../CLAUDE.md")
    (tmp_path / "out.md").symlink_to("../../etc/hostname")
    (tmp_path / "loop.md").symlink_to("loop.md")
    commit(git)
    with revision(tmp_path, "HEAD") as tree:
        found = {path: tree.read(path) for path in ("CLAUDE.md", "docs/up.md", "out.md", "loop.md")}
    assert found == {"CLAUDE.md": b"text", "docs/up.md": b"text", "out.md": None, "loop.md": None}


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_to_a_folder_is_that_folder(git, tmp_path):
    write(tmp_path, {"shared/skills/x/SKILL.md": b"text"})
    (tmp_path / "skills").symlink_to("shared/skills")
    (tmp_path / "up").symlink_to("..")
    commit(git)
    with revision(tmp_path, "HEAD") as tree:
        assert tree.names(".") == ("shared/", "skills/", "up")
        assert tree.names("skills") == ("x/",)
        assert tree.read("skills/x/SKILL.md") == b"text"
        assert tree.id_of("skills/x/SKILL.md") == tree.id_of("shared/skills/x/SKILL.md") is not None
        assert (tree.names("up"), tree.id_of("up"), tree.id_of("shared")) == ((), None, None)


def test_a_revision_without_the_folder_holds_nothing(git, tmp_path):
    write(tmp_path, {"a.md": b"x"})
    commit(git)
    write(tmp_path, {"sub/b.md": b"y"})
    commit(git)
    with objects(tmp_path / "sub") as repository:
        trees = [tree_at(repository, repository.commit(name)) for name in ("HEAD~1", "HEAD")]
        assert [(tree.names("."), tree.read("b.md")) for tree in trees] == [((), None), (("b.md",), b"y")]


@pytest.mark.parametrize("name", ["absent", "--all", "", "HEAD\nHEAD", "two words", "HEAD:a.md"])
def test_no_such_revision(git, tmp_path, name):
    write(tmp_path, {"a.md": b"x"})
    commit(git)
    with pytest.raises(GitError), revision(tmp_path, name):
        pass


def test_no_repository(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(GitError, match="not a git repository"), revision(tmp_path, "HEAD"):
        pass


def test_no_git(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git is not installed"), revision(tmp_path, "HEAD"):
        pass


def test_a_hook_of_another_repository_does_not_lead_astray(git, tmp_path, monkeypatch):
    write(tmp_path, {"a.md": b"x"})
    commit(git)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    with revision(tmp_path, "HEAD") as tree:
        assert tree.read("a.md") == b"x"


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
def test_git_says_what_it_died_of_and_not_how_to_mend_it(tmp_path, monkeypatch):
    program = tmp_path / "git"
    program.write_text(
        "#!/bin/sh\nprintf 'warning: x\\nfatal: dubious ownership\\nTo add an exception, call:\\n' >&2\nexit 128\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(GitError, match=r"^dubious ownership$"), revision(tmp_path, "HEAD"):
        pass
    with pytest.raises(GitError, match=r"^dubious ownership$"):
        output(tmp_path, "rev-list", "HEAD")
