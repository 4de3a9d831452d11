"""File names in bytes that are no UTF-8 end in a diagnostic or in a report, never in a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")

FORMATS = ("json", "sarif")
SOURCES = {
    "agents.d/main.yaml": "providers: {claude: {}}\nbundles: [place]\nskills: [deploy]\n",
    "bundles/place.md": "You work in {{WORKING_DIR}}.\n",
    "skills/deploy/SKILL.md": "---\nname: deploy\ndescription: Deploy it\n---\nRun it.\n",
}


def agentmux(root: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-m", "agentmux", *arguments], cwd=root, capture_output=True, check=False)
    return done.returncode, (done.stdout + done.stderr).decode()


@pytest.fixture
def project(write_project):
    return write_project(SOURCES)


def put(root: Path, path: bytes) -> None:
    whole = root / os.fsdecode(path)
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_bytes(b"Be brief.\n")


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_of_a_skill(project, form):
    put(project, b"skills/deploy/r\xff.txt")
    code, said = agentmux(project, "build", "--format", form)

    assert (code, "AMX209" in said, (project / "CLAUDE.md").exists()) == (1, True, False)


@pytest.mark.parametrize("form", FORMATS)
def test_an_instruction_file_that_the_cli_reads_by_itself(project, form):
    put(project, b".claude/rules/r\xff.md")

    assert [agentmux(project, "build", *more, "--format", form)[0] for more in ((), ("--accept",), ("--check",))] == [
        0,
        0,
        0,
    ]
    assert (project / "snapshots/segments/native/.claude/rules/r%FF.md").exists()


@pytest.mark.parametrize("form", FORMATS)
def test_the_project_itself(project, form):
    moved = project.rename(project.with_name(os.fsdecode(b"r\xff")))

    assert [agentmux(moved, "build", *more, "--format", form)[0] for more in ((), ("--accept",), (), ("--check",))] == [
        0
    ] * 4
