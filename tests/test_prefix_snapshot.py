"""The fixture that holds prefixes, in a test run of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial

import pytest

TEST = """
from pathlib import Path

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowered import Lowered, OutputFile, PlanPrefix, PrefixSegment
from agentmux_compiler.segment import Text

pytest_plugins = ["agentmux_compiler.prefix_snapshot"]
SPEC = "agents.d/reviewer.yaml"


def own(name, text, line):
    lines = tuple(range(1, text.count("\\n") + 1))
    return PrefixSegment("instructions", name, Text(text, name, lines), len(text), Span(SPEC, line, 5))


def test_prefixes(prefix_snapshot):
    segments = [own("bundles/a.md", "# A\\n", 4), own("bundles/b.md", "# B\\n", 5)]
    plan = PlanPrefix(
        "reviewer", "claude", "anthropic", "anthropic", "opus", "high", "ask", "file", ".", "2.1.332", (), (),
        tuple(segments), {"effort": Span(SPEC, 2, 9)},
    )
    skill = OutputFile(".claude/skills/x/SKILL.md", b"a skill", True, Span(SPEC), ("reviewer/claude",))
    prefix_snapshot.hold(Path(__file__).parent, [Lowered((skill,), None, plan, ())])
"""
SWAPPED = (
    '[own("bundles/a.md", "# A\\n", 4), own("bundles/b.md", "# B\\n", 5)]',
    '[own("bundles/b.md", "# B\\n", 4), own("bundles/a.md", "# A\\n", 5)]',
)
SPEC = "providers:\n  claude: {effort: high}\nbundles:\n  - b\n  - a\n"


def run_tests(root, *arguments, change=("", "")):
    """Run the test above, with a part of its text replaced."""
    (root / "test_held.py").write_text(TEST.replace(*change), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def accepted(tmp_path_factory):
    """A project whose baseline was accepted by `--snapshot-update`."""
    root = tmp_path_factory.mktemp("accepted")
    for path, text in {"agents.d/reviewer.yaml": SPEC, "snapshots/README.md": "mine\n"}.items():
        (root / path).parent.mkdir()
        (root / path).write_text(text, encoding="utf-8")
    run_tests(root, "--snapshot-update")
    return root


@pytest.fixture
def session(accepted, tmp_path):
    """The accepted project, and a way to run its test."""
    root = shutil.copytree(accepted, tmp_path / "project")
    return root, partial(run_tests, root)


def listing(root):
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted((root / "snapshots").rglob("*"))
        if path.is_file()
    }


def test_what_was_accepted_passes(session):
    _, run = session
    done = run()
    assert (done.returncode, "1 passed" in done.stdout) == (0, True)


def test_a_swap_fails_with_the_prefix_report_and_writes_nothing(session):
    root, run = session
    before = listing(root)
    done = run(change=SWAPPED)
    assert done.returncode == 1
    assert "warning[AMX502]: `bundles/b.md` stands in another place: 1 prefix breaks" in done.stdout
    assert " --> agents.d/reviewer.yaml:4:5" in done.stdout
    assert "4 |   - b" in done.stdout
    assert "Accept with `pytest --snapshot-update`." in done.stdout
    assert "Traceback" not in done.stdout
    assert listing(root) == before


def test_another_effort_fails_with_its_line(session):
    _, run = session
    done = run(change=('"high"', '"low"'))
    assert done.returncode == 1
    assert "warning[AMX503]: another effort: 1 prefix breaks" in done.stdout
    assert " --> agents.d/reviewer.yaml:2:9" in done.stdout


def test_an_output_without_prefix_is_held_too(session):
    _, run = session
    done = run(change=("a skill", "another"))
    assert done.returncode == 1
    assert "error[AMX605]: `snapshots/files/.claude/skills/x/SKILL.md` is not what the sources give" in done.stdout


def test_update_accepts_removes_what_is_left_over_and_nothing_else(session):
    root, run = session
    swapped = ('own("bundles/a.md", "# A\\n", 4), ', "")
    assert run("--snapshot-update", change=swapped).returncode == 0
    assert run(change=swapped).returncode == 0
    assert sorted(listing(root)) == [
        "snapshots/README.md",
        "snapshots/files/.claude/skills/x/SKILL.md",
        "snapshots/plans/reviewer/claude.toml",
        "snapshots/segments/bundles/b.md",
    ]
