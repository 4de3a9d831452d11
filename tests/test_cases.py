"""Whole projects through the whole pipeline: every byte they give, every diagnostic they raise.

`AGENTMUX_UPDATE_CASES=1` writes what a case gives into its folder, to be read before it is committed.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from agentmux.commands.adopt import workshop
from agentmux_compiler.adopt import adopt
from agentmux_compiler.pipeline import BuildOptions, build
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_compiler.render import View, renderer
from agentmux_compiler.rules import RULES

CASES = Path(__file__).parent / "cases"
PROJECTS = sorted(path.parent.name for path in CASES.glob("*/project"))
FAULTS = sorted(path.parent.name for path in CASES.glob("faults/*/project"))
UPDATE = "AGENTMUX_UPDATE_CASES" in os.environ

# Replaced by agentmux; everything else in braces is somebody's sample.
PLACEHOLDERS = re.compile(r"\{\{ *(AGENT|AGENT_DISPLAY|AGENT_ID|AGENT_SLUG|PROVIDER|MODEL|WORKING_DIR|DATE) *\}\}")
BRACES = re.compile(r"\$?\{\{|\}\}|\{%|%\}|\{#|#\}|\$+\{|\$\(")
STAGES = "123456"
ELSEWHERE = {"AMX520", "AMX530", "AMX531", "AMX532"}  # of a base or of two recorded requests, which no build meets
TODAY = "2026-11-30"
CHECK = {"AMX604", "AMX605"}
ADOPT = {"AMX608": "CLAUDE.md", "AMX609": "notes.md", "AMX610": "CLAUDE.md"}


@pytest.fixture
def copy(tmp_path):
    """A copy of a case's project that a build may write into."""

    def make(case: str) -> Path:
        return Path(shutil.copytree(CASES / case / "project", tmp_path / "project"))

    return make


def files_of(root: Path) -> dict[str, bytes]:
    """Every file below a folder by POSIX path, but the notes that a build keeps for itself in `.agentmux/`."""
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    return {name: data for name, data in files.items() if not re.fullmatch(r"\.agentmux/[^/]+", name)}


def said(report) -> str:
    return renderer("concise").diagnostics(report.diagnostics, View())


def expect_text(path: Path, text: str) -> None:
    if UPDATE:
        path.write_bytes(text.encode())
    assert text.encode() == (path.read_bytes() if path.exists() else b"")


def expect_files(folder: Path, files: dict[str, bytes]) -> None:
    if UPDATE:
        shutil.rmtree(folder, ignore_errors=True)
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
    wanted = files_of(folder)
    assert sorted(files) == sorted(wanted)
    for name, data in files.items():
        assert data.decode() == wanted[name].decode(), name


@pytest.mark.parametrize("case", PROJECTS)
def test_project_gives_exactly_the_expected_files(case, copy):
    root = copy(case)
    sources = files_of(root)
    report = build(root, BuildOptions(accept=True, today=TODAY))

    expect_text(CASES / case / "expected-diagnostics.txt", said(report))
    after = files_of(root)
    assert {name: after.get(name) for name in sources} == sources
    expect_files(CASES / case / "expected", {name: data for name, data in after.items() if name not in sources})


@pytest.mark.parametrize("case", PROJECTS)
def test_second_build_of_a_project_changes_nothing(case, copy):
    root = copy(case)
    first = build(root, BuildOptions(accept=True, today=TODAY))
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    second = build(root, BuildOptions(today=TODAY))
    checked = build(root, BuildOptions(check=True, today=TODAY))

    assert {status.status for status in second.files} == {"unchanged"}
    assert [status.path for status in second.files] == [status.path for status in first.files]
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()} == before
    assert (said(second), said(checked)) == (said(first), said(first))
    assert {plan.verdict for plan in second.diff.plans} == {"unchanged"}


def samples(project: Path) -> list[tuple[str, str]]:
    """Every line of a source with something in braces that agentmux must leave alone."""
    sources = [path for path in project.rglob("*") if path.suffix in {".md", ".yaml"} and path.name != "SKILL.md"]
    return [
        (path.name, line.strip())
        for path in sorted(sources)
        if path.suffix == ".md" or "instructions" in path.read_text(encoding="utf-8")
        for line in path.read_text(encoding="utf-8").splitlines()
        if BRACES.search(line) and not PLACEHOLDERS.search(line) and not (path.suffix == ".yaml" and '"${' in line)
    ]


@pytest.mark.parametrize("case", PROJECTS)
def test_samples_in_braces_come_through_unharmed(case):
    wanted = samples(CASES / case / "project")
    outputs = files_of(CASES / case / "expected")
    texts = [data.decode() for name, data in outputs.items() if name.endswith(".md")]
    lines = {line.strip() for text in texts for line in text.split("\n")}

    assert len(wanted) > 15
    assert [sample for sample in wanted if sample[1] not in lines] == []


def prepare(root: Path, case: Path) -> None:
    """Bring a fault's project into its state: what a person did after a first build, and what git may lose."""
    if (case / "repository").exists():
        (root / ".git").mkdir()
    if (case / "change").exists():
        build(root, BuildOptions(accept=True, today=TODAY))
        shutil.copytree(case / "change", root, dirs_exist_ok=True)
    for line in (case / "links").read_text(encoding="utf-8").splitlines() if (case / "links").exists() else ():
        link, target = line.split()
        try:
            (root / link).symlink_to(target)
        except OSError:
            pytest.skip("no links on this file system")


def found_in(root: Path, code: str) -> tuple[set[str], str]:
    """The codes that the command of a rule raises, and what it says."""
    if code in ADOPT:
        _, found = adopt(ADOPT[code], workshop(root))
        return {item.code for item in found}, renderer("concise").diagnostics(found, View())
    report = build(root, BuildOptions(check=code in CHECK, today=TODAY))
    changes = [(plan, change) for plan in report.diff.plans for change in plan.changes]
    lines = [
        f"{change.path}:{change.line}:{change.column} {change.code} {plan.agent}/{plan.provider} {plan.verdict}: "
        f"{change.reason} {change.segment}{', masked' if change.masked else ''}\n"
        for plan, change in changes
    ]
    codes = {item.code for item in report.diagnostics} | {change.code for _, change in changes}
    return codes, said(report) + "".join(lines)


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_raises_its_rule(fault, copy):
    code, _, name = fault.partition("-")
    root = copy(f"faults/{fault}")
    prepare(root, CASES / "faults" / fault)
    codes, text = found_in(root, code)

    assert RULES[code].name == name
    assert code in codes
    expect_text(CASES / "faults" / fault / "expected-diagnostics.txt", text)


def test_every_rule_has_its_fault():
    read_by_two = len({load_provider(name).instructions.written for name in NAMES}) < len(NAMES)
    raised = (rule for rule in RULES.values() if rule.code[3] in STAGES and rule.code not in ELSEWHERE)
    wanted = {f"{rule.code}-{rule.name}" for rule in raised}

    assert sorted(wanted - set(FAULTS)) == ([] if read_by_two else ["AMX306-provider-in-shared-file"])
