"""The fixture that holds prefixes, in a test run of its own."""

from __future__ import annotations

import os
import subprocess
import sys

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


@pytest.fixture
def session(write_project):
    """Run the test above in a project whose baseline was accepted; each run may change its text."""
    root = write_project({"agents.d/reviewer.yaml": SPEC, "snapshots/README.md": "mine\n"})

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def run(*arguments, change=("", "")):
        (root / "test_held.py").write_text(TEST.replace(*change), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
        return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)

    run("--snapshot-update")
    return root, run


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
