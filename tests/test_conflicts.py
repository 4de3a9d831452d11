"""Conflicts of a merge in sources."""

from __future__ import annotations

import pytest

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.sources.conflicts import find_conflicts

OURS, BETWEEN, THEIRS = f"{'<' * 7} HEAD", "=" * 7, f"{'>' * 7} theirs"
CONFLICT = f"{OURS}\na\n{BETWEEN}\nb\n{THEIRS}\n"


def lines(text: str, path: str = "bundles/a.md") -> list[int]:
    found = find_conflicts(path, text)
    assert {(item.code, item.span.path) for item in found} <= {("AMX115", path)}
    return [item.span.line for item in found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (CONFLICT, [1]),
        (f"x\n\n{CONFLICT}y\n{CONFLICT}", [3, 9]),
        (f"{OURS}\na\n{'|' * 7} base\n{BETWEEN}\n{THEIRS}\n", [1]),
        (f"```\n{CONFLICT}```\n", []),
        (f"~~~~ text\n```\n{CONFLICT}~~~~\n{CONFLICT}", [9]),
        (f"```a``` b\n{CONFLICT}", [2]),
        (f"{OURS}\n```\n{BETWEEN}\n~~~\n{THEIRS}\n", [1]),
        (f"{OURS}\na\n{BETWEEN}\nb\n", []),
        (f"<{CONFLICT}", []),
        (f"Title\n{BETWEEN}\n\n{THEIRS}\n", []),
        (f"  {OURS}\n{BETWEEN}\n{THEIRS}\n", []),
    ],
)
def test_conflicts_stand_outside_of_fences(text, wanted):
    assert lines(text) == wanted


def test_yaml_has_no_fences():
    assert lines(f"a: |\n  ```\n{CONFLICT}", "agents.d/a.yaml") == [3]


def test_a_conflict_says_how_far_it_goes():
    (found,) = find_conflicts("bundles/a.md", f"x\n{CONFLICT}")
    assert (found.span, found.message) == (Span("bundles/a.md", 2), "a merge conflict, up to line 6")
