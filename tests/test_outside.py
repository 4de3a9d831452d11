"""Nothing of a project vanishes in silence: what leads out of it, and what no path may be called."""

from __future__ import annotations

import os

import pytest

from agentmux_compiler.adopting.take_in import take_in_skill
from agentmux_compiler.agent import Settings
from agentmux_compiler.pipeline import BuildOptions, build
from agentmux_compiler.tree import DiskTree

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and such names are a POSIX affair")

SOURCES = {
    "agents.d/main.yaml": "providers: {claude: {}}\ndelivery: file\nbundles: [style]\nskills: [deploy]\n",
    "bundles/style.md": "Be brief.\n",
    "skills/deploy/SKILL.md": "---\nname: deploy\ndescription: Deploy it\n---\nRun it.\n",
}


def errors(report) -> list[tuple[str, str]]:
    return [(item.code, item.span.path) for item in report.diagnostics if item.severity == "error"]


def files(root) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["a:b.txt", "a\\b.txt", "a:b/c.txt", "docs/a:b.txt"])
def test_a_skill_file_with_such_a_name_is_an_error(write_project, name):
    root = write_project({**SOURCES, f"skills/deploy/{name}": "x\n"})
    shown = f"skills/deploy/{name.removesuffix('/c.txt')}"

    assert errors(build(root, BuildOptions())) == [("AMX209", shown)]
    assert not (root / ".claude").exists()


@pytest.mark.parametrize("target", ["aside", "aside/x.txt", "nowhere"])
def test_a_link_in_a_skill_that_leads_outside_or_nowhere_is_an_error(write_project, tmp_path, target):
    root = write_project(SOURCES)
    (tmp_path / "aside").mkdir()
    (tmp_path / "aside/x.txt").write_text("x")
    (root / "skills/deploy/link").symlink_to(tmp_path / target)

    assert errors(build(root, BuildOptions())) == [("AMX209", "skills/deploy/link")]


def test_links_in_a_circle_are_an_error(write_project):
    root = write_project(SOURCES)
    (root / "skills/deploy/link").symlink_to("link")

    assert errors(build(root, BuildOptions())) == [("AMX209", "skills/deploy/link")]


def test_a_skill_with_such_a_file_is_not_adopted_in_part(write_project):
    root = write_project({"agents.d/main.yaml": "providers: {claude: {}}\n", ".claude/skills/deploy/a:b.txt": "x\n"})
    (root / ".claude/skills/deploy/SKILL.md").write_text(SOURCES["skills/deploy/SKILL.md"])
    files_out, reason = take_in_skill(".claude/skills/deploy", DiskTree(root), Settings())

    assert (files_out, reason) == (
        {},
        "`.claude/skills/deploy/a:b.txt` cannot be read inside the project, or its name is not UTF-8",
    )


@pytest.mark.parametrize("folder", ["agents.d", "bundles", "skills", "skills/deploy"])
def test_sources_behind_a_link_that_leads_outside_are_an_error_and_nothing_is_removed(write_project, tmp_path, folder):
    root = write_project(SOURCES)
    build(root, BuildOptions())
    before = files(root)
    assert ".claude/skills/deploy/SKILL.md" in before
    moved = {path for path in before if path.startswith(f"{folder}/")}
    (root / folder).rename(tmp_path / "aside")
    (root / folder).symlink_to(tmp_path / "aside")

    assert ("AMX208", folder) in errors(build(root, BuildOptions()))
    assert files(root) >= before - moved


@pytest.mark.parametrize("delivery", ["flag", "file", "folder", "startup"])
def test_a_workdir_behind_a_link_that_leads_outside_is_an_error(write_project, tmp_path, delivery):
    root = write_project({"agents.d/main.yaml": f"providers: {{claude: {{}}}}\ndelivery: {delivery}\nworkdir: app\n"})
    (root / "app").symlink_to(tmp_path)
    report = build(root, BuildOptions())

    assert [(item.code, item.span.line) for item in report.diagnostics if item.severity == "error"] == [("AMX208", 3)]


@pytest.mark.parametrize(("delivery", "found"), [("flag", [("AMX206", 3)]), ("file", [])])
def test_a_workdir_that_nothing_makes_is_an_error(write_project, delivery, found):
    spec = f"providers: {{claude: {{}}}}\ndelivery: {delivery}\nworkdir: app\ninstructions: One.\n"
    report = build(write_project({"agents.d/main.yaml": spec}), BuildOptions())

    assert [(item.code, item.span.line) for item in report.diagnostics if item.severity == "error"] == found
