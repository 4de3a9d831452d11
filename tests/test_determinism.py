"""The same sources give the same bytes: on any machine, in any order, once more, and for two hundred agents."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmux_compiler.pipeline import BuildOptions, build

CASES = Path(__file__).parent / "cases"
PROJECTS = sorted(path.parent.name for path in CASES.glob("*/project"))
TODAY = "2026-11-30"
PLACES = [
    {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC", "PYTHONUTF8": "0"},
    {"PYTHONHASHSEED": "4711", "LC_ALL": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati", "NO_COLOR": "1"},
]


def files_of(root: Path) -> dict[str, bytes]:
    """Every file below a folder by POSIX path, but the notes that a build keeps for itself in `.agentmux/`."""
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    return {name: data for name, data in files.items() if not re.fullmatch(r"\.agentmux/[^/]+", name)}


def complete(case: str) -> dict[str, bytes]:
    return files_of(CASES / case / "project") | files_of(CASES / case / "expected")


@pytest.mark.parametrize("place", PLACES, ids=["plain", "far away"])
@pytest.mark.parametrize("case", PROJECTS)
def test_locale_zone_hash_seed_and_folder_do_not_matter(case, place, repository, tmp_path):
    root = shutil.copytree(CASES / case / "project", tmp_path / "a folder, 一つ" / "project")
    path = os.pathsep.join((str(repository / "compiler"), str(repository / "launcher")))
    subprocess.run(
        [sys.executable, "-m", "agentmux", "build", "--accept"],
        cwd=root,
        env={**os.environ, **place, "PYTHONPATH": path},
        capture_output=True,
        check=True,
        timeout=120,
    )

    assert files_of(root) == complete(case)


@pytest.mark.parametrize("case", PROJECTS)
def test_order_of_a_folder_does_not_matter(case, tmp_path, monkeypatch):
    listed = Path.iterdir
    monkeypatch.setattr(Path, "iterdir", lambda path: iter(sorted(listed(path), reverse=True)))
    root = shutil.copytree(CASES / case / "project", tmp_path / "project")
    build(root, BuildOptions(accept=True, today=TODAY))

    assert files_of(root) == complete(case)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A project after a build, with the paths of its committed outputs and its baseline."""
    root = shutil.copytree(CASES / "firmware" / "project", tmp_path_factory.mktemp("built") / "project")
    build(root, BuildOptions(accept=True, today=TODAY))
    made = sorted(files_of(root).keys() - files_of(CASES / "firmware" / "project").keys())
    # In a settings file, all but the values of ours belongs to others.
    return root, [path for path in made if not path.startswith(".agentmux/") and not path.endswith("/settings.json")]


@settings(max_examples=15)
@given(data=st.data())
def test_check_is_red_exactly_when_a_byte_differs(built, data):
    root, committed = built
    path = root / data.draw(st.sampled_from(committed), label="path")
    before = path.read_bytes()
    at = data.draw(st.integers(0, len(before) - 1), label="byte")
    after = before[:at] + data.draw(st.sampled_from([b"", b"x", b"\n", b" "]), label="instead") + before[at + 1 :]
    try:
        path.write_bytes(after)
        red = checked(root)
    finally:
        path.write_bytes(before)

    assert red == ({path.relative_to(root).as_posix()} if after != before else set())
    assert checked(root) == set()


def test_half_a_character_in_a_segment_is_said_of_the_segment_alone(tmp_path):
    root = shutil.copytree(CASES / "firmware" / "project", tmp_path / "project")
    build(root, BuildOptions(accept=True, today=TODAY))
    plans = [path.read_text() for path in (root / "snapshots/plans").rglob("*.toml")]
    segments = sorted((root / "snapshots/segments").rglob("*.md"))
    shared = next(path for path in segments if sum(f"/{path.name}" in plan for plan in plans) > 1)
    shared.write_bytes(shared.read_bytes() + b"\xe2\x80")
    report = build(root, BuildOptions(today=TODAY))
    found = [(item.code, item.span.path) for item in report.diagnostics if item.severity == "error"]

    assert found == [("AMX509", shared.relative_to(root).as_posix())]
    assert checked(root) == {shared.relative_to(root).as_posix()}


def checked(root: Path) -> set[str]:
    """Paths that `--check` is red about."""
    report = build(root, BuildOptions(check=True, today=TODAY))
    return {item.span.path for item in report.diagnostics if item.code in {"AMX602", "AMX604", "AMX605", "AMX509"}}


def test_two_hundred_agents_build_and_a_second_build_writes_nothing(write_project):
    shared = {f"bundles/rule-{number:02}.md": f"Rule {number}: say how you know it.\n" * 30 for number in range(20)}
    agents = {
        f"agents.d/agent-{number:03}.yaml": "providers: {claude: {}, codex: {}, gemini: {}}\ndelivery: flag\n"
        f"instructions: You are agent {number}.\n"
        f"bundles: [{', '.join(f'rule-{(number + step) % 20:02}' for step in range(4))}]\n"
        for number in range(200)
    }
    root = write_project({**shared, **agents})
    first = build(root, BuildOptions(today=TODAY))
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    second = build(root, BuildOptions(today=TODAY))

    assert (len(first.diff.plans), len(first.files), first.diagnostics) == (600, 600, ())
    assert {status.status for status in first.files} == {"written"}
    assert {status.status for status in second.files} == {"unchanged"}
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()} == before
