"""What README shows is what the command prints: its samples are run in copies of this repository's agents."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

README = "README.md"
SOURCES = ("agents.d", "bundles", "skills", "snapshots", "CLAUDE.md", "AGENTS.md", "GEMINI.md")
UPDATE = os.environ.get("AGENTMUX_UPDATE_CASES")
SAMPLES = re.compile(r"<!-- sample: begin -->\n(.*?)<!-- sample: end -->\n", re.DOTALL)
BLOCK = re.compile(r"(?<=```console\n)(.*?)(?=```\n)", re.DOTALL)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the samples use GNU sed")


def printed(commands, repository, folder):
    """The commands with what they print, as a terminal shows it."""
    for name in SOURCES:
        copy = shutil.copytree if (repository / name).is_dir() else shutil.copy
        copy(repository / name, folder / name)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    shown = []
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        shown.append(f"$ {command}\n{done.stdout.decode()}")
    return "".join(shown)


def test_samples_are_what_the_command_prints(repository, tmp_path):
    text = (repository / README).read_text(encoding="utf-8")
    (samples,) = SAMPLES.findall(text)
    blocks = BLOCK.findall(samples)
    made = []
    for number, block in enumerate(blocks):
        folder = tmp_path / str(number)
        folder.mkdir()
        commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
        made.append(printed(commands, repository, folder))
    if UPDATE:
        told = samples
        for old, new in zip(blocks, made, strict=True):
            told = told.replace(old, new)
        (repository / README).write_bytes(text.replace(samples, told).encode())
    assert made == blocks
