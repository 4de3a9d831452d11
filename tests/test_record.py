from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from agentmux_compiler import rules
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.report import (
    Break,
    BuildReport,
    Change,
    DiffReport,
    FileStatus,
    PlanDiff,
    Scenario,
    TextKept,
    summarise,
)
from agentmux_compiler.tree import DiskTree
from agentmux_compiler.writing import record
from agentmux_compiler.writing.disk import write_file
from agentmux_compiler.writing.record import RECORD_PATH, Key, load_fresh, package_state, save

if TYPE_CHECKING:
    from pathlib import Path

KEY = Key("0.1.0", ("build", "--agent", "main"), "2030-01-02")
WARNING = rules.VOLATILE_IN_PREFIX.at(
    Span("bundles/a.md", 2, 1), "`{{DATE}}` changes daily", help="move it", notes=("n",)
)
NOTE = rules.PREFIX_BROKEN.at(None, "text was edited")
PLAN = PlanDiff(
    agent="main",
    provider="claude",
    vendor="anthropic",
    backend="anthropic",
    model=None,
    effort="high",
    cli_version="2.1.332",
    verdict="broken",
    text=TextKept(10, 5, 4, 2, "splintr", 0.5),
    first_break=Break("ours", "bundles/a.md", "bundles/a.md", 2, 5, "a", "b"),
    changes=(Change("edited", "ours", "bundles/a.md", "bundles/a.md", 2, False, "AMX501", 3, "d"),),
    scenarios={"relaunch": Scenario(1, 2, 3, 4, 0.5, None), "resume": None},
    usd_per_day=1.0,
)
REPORT = BuildReport(
    diagnostics=(WARNING,),
    files=(
        FileStatus("CLAUDE.md", "written", 4, "00"),
        FileStatus("GEMINI.md", "removed", 0, None),
        FileStatus("X.md", "unchanged", 1, "01"),
    ),
    diff=DiffReport("snapshots", (PLAN,), summarise((PLAN,)), (NOTE,)),
)
SETTLED = replace(
    REPORT, files=(FileStatus("CLAUDE.md", "unchanged", 4, "00"), FileStatus("X.md", "unchanged", 1, "01"))
)
OUTPUTS = ("CLAUDE.md", "GEMINI.md", ".claude/skills/a/SKILL.md")


@pytest.fixture
def project(tmp_path):
    """A built project: two sources, one that is missing, three outputs of which one was removed."""
    for path in (
        "agents.d/main.yaml",
        "bundles/a.md",
        "CLAUDE.md",
        ".claude/skills/a/SKILL.md",
        ".agentmux/manifest.json",
    ):
        write_file(tmp_path, path, path.encode())
    return tmp_path


def read_sources(root: Path):
    tree = DiskTree(root)
    for name in tree.names("agents.d"):
        tree.read(f"agents.d/{name}")
    tree.names("bundles")
    tree.names("skills")
    for path in ("bundles/a.md", "souls/none.md", "../outside.md"):
        tree.read(path)
    return tree.trace


def built(root: Path, key: Key = KEY, report: BuildReport = REPORT, **options) -> bool:
    return save(root, key, read_sources(root), OUTPUTS, report, **options)


def test_the_report_comes_back_as_a_build_with_nothing_to_do_prints_it(project):
    assert built(project)
    assert load_fresh(project, KEY) == SETTLED


def test_without_a_record_nothing_is_fresh(tmp_path):
    assert load_fresh(tmp_path, KEY) is None


@pytest.mark.parametrize(
    "key",
    [replace(KEY, version="0.2.0"), replace(KEY, command=("build",)), replace(KEY, command=(*KEY.command, "--force"))],
)
def test_another_command_or_version_is_not_answered(project, key):
    built(project)
    assert load_fresh(project, key) is None


@pytest.mark.parametrize(("dated", "expected"), [(True, None), (False, SETTLED)])
def test_the_day_counts_only_where_the_date_was_written(project, dated, expected):
    built(project, dated=dated)
    assert load_fresh(project, KEY) == SETTLED
    assert load_fresh(project, replace(KEY, today="2030-01-03")) == expected


def write(path: str):
    return lambda root: write_file(root, path, b"other")


def remove(path: str):
    return lambda root: (root / path).unlink()


def to_link(path: str):
    def change(root: Path) -> None:
        (root / "aside").write_bytes((root / path).read_bytes())
        (root / path).unlink()
        (root / path).symlink_to(os.path.relpath(root / "aside", (root / path).parent))

    return change


@pytest.mark.parametrize(
    "change",
    [
        write("agents.d/main.yaml"),
        write("agents.d/new.yaml"),
        write("bundles/a.md"),
        write("bundles/new.md"),
        write("skills/new/SKILL.md"),
        write("souls/none.md"),
        write("CLAUDE.md"),
        write("GEMINI.md"),
        write(".claude/skills/a/SKILL.md"),
        write(".agentmux/manifest.json"),
        write(".agentmux/pending.json"),
        remove("agents.d/main.yaml"),
        remove("bundles/a.md"),
        remove("CLAUDE.md"),
        remove(".agentmux/manifest.json"),
        lambda root: shutil.rmtree(root / ".agentmux"),
        lambda root: (root / "GEMINI.md").mkdir(),
        lambda root: (root / "GEMINI.md").symlink_to("nowhere"),
        to_link("CLAUDE.md"),
        to_link(".claude/skills/a/SKILL.md"),
    ],
)
def test_any_change_of_what_the_build_depended_on_is_seen(project, change):
    built(project)
    change(project)
    assert load_fresh(project, KEY) is None


def test_an_edit_that_keeps_size_and_time_is_seen(project):
    built(project)
    path = project / "bundles/a.md"
    before = path.stat()
    path.write_bytes(b"x" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert load_fresh(project, KEY) is None


def test_what_the_build_did_not_depend_on_does_not_count(project):
    built(project)
    write_file(project, "README.md", b"new")
    write_file(project, ".agentmux/runs/1.json", b"new")
    os.utime(project / "bundles/a.md", (1, 1))
    assert load_fresh(project, KEY) == SETTLED


def test_a_source_behind_a_link_inside_the_project_is_followed(project):
    write_file(project, "shared/a.md", b"shared")
    (project / "bundles/a.md").unlink()
    (project / "bundles/a.md").symlink_to("../shared/a.md")
    assert built(project)
    assert load_fresh(project, KEY) == SETTLED
    write_file(project, "shared/a.md", b"other")
    assert load_fresh(project, KEY) is None


def test_a_moved_project_builds_again(project):
    built(project)
    moved = project.rename(project.with_name("moved"))
    assert load_fresh(moved, KEY) is None


def test_a_source_saved_while_the_build_ran_leaves_no_record(project):
    assert built(project)
    trace = read_sources(project)
    write_file(project, "bundles/a.md", b"saved in between")
    assert not save(project, KEY, trace, OUTPUTS, REPORT)
    assert not (project / RECORD_PATH).exists()


def test_a_build_that_could_not_write_leaves_no_record(project):
    refused = replace(REPORT, diagnostics=(rules.NOT_WRITABLE.at(Span("CLAUDE.md"), "no"),))
    assert not built(project, report=refused)
    assert load_fresh(project, KEY) is None


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b'{"format": 1}', b'{"format": 1, "record": {}, "report": {}}', b"\xff"]
)
def test_a_damaged_record_is_as_good_as_none(project, content):
    write_file(project, RECORD_PATH, content)
    assert load_fresh(project, KEY) is None


def test_a_record_with_a_rule_that_is_gone_is_as_good_as_none(project):
    built(project)
    value = json.loads((project / RECORD_PATH).read_bytes())
    value["report"]["diagnostics"][0]["rule"] = "AMX999"
    write_file(project, RECORD_PATH, json.dumps(value).encode())
    assert load_fresh(project, KEY) is None


def test_an_edit_of_agentmux_itself_is_seen(tmp_path, monkeypatch):
    package = tmp_path / "agentmux_compiler"
    write_file(tmp_path, "agentmux_compiler/writing/record.py", b"one")
    write_file(tmp_path, "agentmux/__init__.py", b"")
    monkeypatch.setattr(record, "__file__", str(package / "writing" / "record.py"))
    before = package_state()
    write_file(tmp_path, "agentmux_compiler/__pycache__/record.pyc", b"compiled")
    assert package_state() == before
    write_file(tmp_path, "agentmux_compiler/providers/new.yaml", b"new")
    assert package_state() != before


def test_nothing_heavy_is_imported_to_answer(project):
    built(project)
    script = f"""
import sys
from pathlib import Path
from agentmux_compiler.writing.record import Key, load_fresh
assert load_fresh(Path({str(project)!r}), Key({KEY.version!r}, {KEY.command!r}, {KEY.today!r})) is not None
heavy = {{"pydantic", "jinja2", "ruamel", "splintr", "rich", "watchfiles", "tomlkit"}}
print(sorted(heavy & {{name.partition(".")[0] for name in sys.modules}}))
"""
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.stdout == "[]\n"
