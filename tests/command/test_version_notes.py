"""What is said of a CLI whose version is not the one that its plan is for."""

from __future__ import annotations

import pytest

from agentmux.launch.launching import Found, notes
from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.tree import MemoryTree
from agentmux_launcher.executable import Executable, Origin


def said(use, version):
    (lowered,) = compile_project(MemoryTree({"agents.d/a.yaml": f"providers: {{{use}}}\n".encode()})).plans
    return notes(lowered.plan, Found(Executable("/bin/x", Origin.PATH), version), {})


@pytest.mark.parametrize(
    ("use", "version", "expected"),
    [
        ("codex: {}", "0.171.0", []),
        ("codex: {}", None, []),
        ("codex: {}", "0.172.0", ["codex 0.172.0 is not the verified version, 0.171.0"]),
        ("codex: {version: 0.160.0}", "0.160.0", []),
        ("codex: {version: 0.160.0}", "0.171.0", ["codex 0.171.0 is not the version that the spec names, 0.160.0"]),
        ("crush: {}", "0.9.1", ["crush 0.9.1: no version of it has been verified"]),
        ("pi: {controller: terminal}", "1.6.0", []),
        ("pi: {controller: terminal}", "1.7.0", ["pi 1.7.0 is not the verified version, 1.6.0"]),
        ("pi: {}", "0.0.33", ["pi-acp 0.0.33 is not the verified version, 0.0.34"]),
    ],
)
def test_the_version_of_the_executable_that_is_run_counts(use, version, expected):
    assert said(use, version) == expected


def test_what_is_known_to_be_wrong_with_it_is_said():
    assert said("claude: {}", "2.1.170") == [
        "claude 2.1.170 is not the verified version, 2.1.332",
        "claude 2.1.170: every request to another endpoint begins with an id of its own, until 2.1.181",
    ]
    assert said("claude: {version: 2.1.170}", "2.1.170") == []
