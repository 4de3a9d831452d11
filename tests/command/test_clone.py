"""What a build and an adoption know of outputs in a checkout that nothing was built in."""

import os
import subprocess

import pytest

from agentmux.cli import main
from agentmux_compiler.writing.header import HEADER

SPEC = "providers: {claude: {}, codex: {}, gemini: {}}\ndelivery: file\nbundles: [house-style]\n"
STYLE = "<!-- Kept short. -->\n\n# House style\n\nBe brief.\n"
OUTPUTS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")


@pytest.fixture(params=[True, False], ids=["header", "no-header"])
def origin(request, tmp_path, monkeypatch):
    """A project whose outputs and baseline are committed."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    root = tmp_path / "origin"
    settings = "{}\n" if request.param else "header: false\n"
    files = {"agents.d/_project.yaml": settings, "agents.d/main.yaml": SPEC, "bundles/house-style.md": STYLE}
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    git(root, "init", "--quiet", "--initial-branch", "one")
    accept(root)
    assert (root / "AGENTS.md").read_text().startswith(HEADER) == request.param
    return root


@pytest.fixture
def clone(origin, tmp_path):
    root = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(origin), str(root))
    return root


def git(root, *arguments):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


def accept(root):
    assert build(root, "--accept") == 0
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "x")


def build(root, *options):
    return main(["--project", str(root), "build", "--format", "concise", *options])


def append(path, text):
    path.write_bytes(path.read_bytes() + text)


def test_an_edited_source_is_built(clone):
    append(clone / "bundles/house-style.md", b"extra\n")
    assert build(clone) == 0
    assert [(clone / path).read_bytes().endswith(b"Be brief.\nextra\n") for path in OUTPUTS] == [True] * 3


def test_another_branch_is_built_on(origin):
    git(origin, "switch", "--quiet", "--create", "two")
    append(origin / "bundles/house-style.md", b"Of two.\n")
    accept(origin)
    git(origin, "switch", "--quiet", "one")
    append(origin / "bundles/house-style.md", b"extra\n")
    assert build(origin) == 0
    assert [(origin / path).read_bytes().endswith(b"Be brief.\nextra\n") for path in OUTPUTS] == [True] * 3


def test_the_file_of_a_dropped_provider_goes(clone):
    spec = clone / "agents.d/main.yaml"
    spec.write_text(spec.read_text().replace(", codex: {}", ""))
    assert build(clone) == 0
    assert [(clone / path).exists() for path in OUTPUTS] == [False, True, True]


@pytest.mark.parametrize("path", OUTPUTS)
def test_an_edit_of_an_output_is_carried_back(clone, monkeypatch, path):
    monkeypatch.chdir(clone)
    append(clone / path, b"Be kind.\n")
    assert build(clone) == 1
    assert main(["adopt", path]) == 0
    assert (clone / "bundles/house-style.md").read_text() == f"{STYLE}Be kind.\n"
    assert build(clone) == 0


def test_the_header_that_was_switched_is_built(clone):
    settings = clone / "agents.d/_project.yaml"
    settings.write_text("{}\n" if "false" in settings.read_text() else "header: false\n")
    assert build(clone) == 0
