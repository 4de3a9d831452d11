"""In which order a CLI reads the instruction files of its folders."""

from __future__ import annotations

import pytest

from agentmux_compiler.lower import lower
from agentmux_compiler.resolve import resolve
from agentmux_compiler.spec import load
from agentmux_compiler.tree import MemoryTree

SPEC = """
providers: {%s: {permission: bypass, controller: %s}}
workdir: api/v1
delivery: startup
instructions: Count the spoons.
"""


def read_files(provider, controller, *paths):
    files = {path: f"Text of {path}.\n".encode() for path in paths}
    tree = MemoryTree({"agents.d/worker.yaml": (SPEC % (provider, controller)).encode(), **files})
    project, _ = resolve(load(tree)[0], tree)
    (lowered,), _ = lower(project, tree)
    names = [segment.name for segment in lowered.prefix.segments if segment.name.startswith("native/")]
    return [name.removeprefix("native/") for name in names]


CHAIN = ("AGENTS.md", "CLAUDE.md", "api/AGENTS.md", "api/v1/AGENTS.md", "api/v1/CLAUDE.md")


@pytest.mark.parametrize(
    ("provider", "controller", "expected"),
    [
        ("codex", "subprocess", ["AGENTS.md", "api/AGENTS.md", "api/v1/AGENTS.md"]),
        ("claude", "persistent", ["CLAUDE.md", "api/v1/CLAUDE.md"]),
        ("opencode", "acp", ["api/v1/AGENTS.md", "api/AGENTS.md", "AGENTS.md"]),
    ],
)
def test_each_cli_has_an_order_of_its_own(provider, controller, expected):
    assert read_files(provider, controller, *CHAIN) == expected


def test_opencode_reads_claude_files_where_there_is_no_other():
    assert read_files("opencode", "acp", "CLAUDE.md", "api/v1/CLAUDE.md") == ["api/v1/CLAUDE.md", "CLAUDE.md"]


def test_pi_reads_one_file_of_a_folder():
    both = ("AGENTS.md", "CLAUDE.md", "api/CLAUDE.md", "api/v1/AGENTS.md", "api/v1/CLAUDE.md")

    assert read_files("pi", "acp", *both) == ["AGENTS.md", "api/CLAUDE.md", "api/v1/AGENTS.md"]
