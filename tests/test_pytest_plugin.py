"""The plugin that holds prefixes, in test runs of their own: warnings are errors, as in many a repository."""

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


def run_pytest(root, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def run_tests(root, *arguments, change=("", "")):
    """Run the test above, with a part of its text replaced."""
    (root / "test_held.py").write_text(TEST.replace(*change), encoding="utf-8")
    return run_pytest(root, *(arguments or ("-p", "no:xdist")))


@pytest.fixture(scope="module")
def accepted(tmp_path_factory):
    """A project whose baseline was accepted by `--snapshot-update`."""
    root = tmp_path_factory.mktemp("accepted")
    for path, text in {"agents.d/reviewer.yaml": SPEC, "snapshots/README.md": "mine\n"}.items():
        (root / path).parent.mkdir()
        (root / path).write_text(text, encoding="utf-8")
    run_tests(root, "-p", "no:xdist", "--snapshot-update")
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


PROJECT = {
    "agents.d/reviewer.yaml": "providers: {claude: {}, gemini: {}}\ndelivery: flag\nbundles:\n  - a\n  - b\n",
    "bundles/a.md": "# A\n",
    "bundles/b.md": "# B\n",
    "tests/unit/test_held.py": "def test_prefixes(prefix_snapshot):\n    prefix_snapshot()\n",
}


def test_a_test_holds_the_project_it_lies_in_and_many_workers_may_accept_and_check_it(write_project):
    root = write_project(PROJECT)
    other = root / "tests/unit/test_other.py"
    other.write_text(PROJECT["tests/unit/test_held.py"].replace("test_prefixes", "test_again"), encoding="utf-8")
    assert run_pytest(root, "-n", "2", "--snapshot-update").returncode == 0
    assert {path.name for path in root.iterdir()} - {".agentmux"} == {"agents.d", "bundles", "snapshots", "tests"}
    (root / "agents.d/reviewer.yaml").write_text(
        PROJECT["agents.d/reviewer.yaml"].replace("  - a\n  - b\n", "  - b\n  - a\n"), encoding="utf-8"
    )
    broken = run_pytest(root, "-n", "2")
    assert (broken.returncode, "2 failed" in broken.stdout) == (1, True)
    assert " --> agents.d/reviewer.yaml:4:5" in broken.stdout


def test_a_project_without_a_baseline_fails_until_it_is_accepted(write_project):
    root = write_project(PROJECT)
    refused = run_pytest(root)
    assert (refused.returncode, "note: 2 prefixes new" in refused.stdout) == (1, True)
    assert not (root / "snapshots").exists()


def test_one_run_may_hold_several_projects(write_project):
    root = write_project({f"{name}/{path}": text for name in ("one", "two") for path, text in PROJECT.items()})
    assert run_pytest(root, "--import-mode=importlib", "--snapshot-update").returncode == 0
    (root / "two/bundles/b.md").write_text("# C\n", encoding="utf-8")
    done = run_pytest(root, "--import-mode=importlib")
    assert (done.returncode, "1 failed, 1 passed" in done.stdout) == (1, True)
    assert "`bundles/b.md` was edited: 2 prefixes break" in done.stdout


def test_an_error_in_the_sources_is_shown_as_a_build_shows_it(write_project):
    done = run_pytest(write_project({**PROJECT, "bundles/b.md": b"\xff"}))
    assert done.returncode == 1
    assert "error[AMX106]" in done.stdout
    assert " --> bundles/b.md:1:1" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_test_outside_of_any_project_says_so(write_project):
    done = run_pytest(write_project({"test_held.py": PROJECT["tests/unit/test_held.py"]}))
    assert (done.returncode, "no folder above `test_held.py` holds `agents.d/`" in done.stdout) == (1, True)


def test_without_syrupy_the_fixture_says_what_to_install(write_project):
    done = run_pytest(write_project(PROJECT), "-p", "no:syrupy")
    assert (done.returncode, "`prefix_snapshot` needs syrupy: pip install 'agentmux-cli[test]'" in done.stdout) == (
        1,
        True,
    )


def test_a_run_that_does_not_ask_for_the_fixture_loads_nothing_of_it(write_project):
    text = (
        "import sys\n\n\ndef test_loaded(pytestconfig):\n"
        "    assert pytestconfig.pluginmanager.hasplugin('agentmux')\n"
        "    heavy = {'pydantic', 'jinja2', 'ruamel', 'syrupy', 'splintr', 'agentmux_compiler.prefix_snapshot'}\n"
        "    assert heavy & set(sys.modules) == set()\n"
    )
    done = run_pytest(write_project({"test_light.py": text}), "-p", "no:syrupy", "-p", "no:hypothesispytest")
    assert done.returncode == 0, done.stdout
