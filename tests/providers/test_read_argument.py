"""A CLI that reads no instruction file by itself is given its path."""

from __future__ import annotations

import pytest

from agentmux_compiler.lower import lower
from agentmux_compiler.resolve import resolve
from agentmux_compiler.spec import load
from agentmux_compiler.tree import MemoryTree
from agentmux_launcher.arguments import shown

SPEC = """
providers: {codex: {delivery: file, permission: edit}, aider: {delivery: %s, permission: edit}}
workdir: api
instructions: Count the spoons.
"""


@pytest.mark.parametrize(
    ("delivery", "path", "passed"),
    [
        ("file", "api/AGENTS.md", ("--read", "AGENTS.md")),
        (
            "flag",
            ".agentmux/agents/worker/aider/instructions.md",
            ("--read", "../.agentmux/agents/worker/aider/instructions.md"),
        ),
        ("startup", None, ()),
    ],
)
def test_aider_reads_what_its_arguments_name(delivery, path, passed):
    tree = MemoryTree({"agents.d/worker.yaml": (SPEC % delivery).encode()})
    project, first = resolve(load(tree)[0], tree)
    (codex, aider), second = lower(project, tree)

    assert [*first, *second] == []
    assert [file.path for file in codex.files] == ["api/AGENTS.md"]
    assert [file.path for file in aider.files] == ([path] if path else [])
    assert shown(aider.plan.argv, {}) == passed
    texts = [segment.text for segment in aider.prefix.segments if segment.text]
    assert texts == ["Count the spoons.\n"]


@pytest.mark.parametrize(
    ("provider", "passed"),
    [
        ("claude", ("--add-dir", "../.agentmux/agents/worker/claude")),
        ("kimi", ("--skills-dir", ".agentmux/agents/worker/kimi/.agents/skills")),
    ],
)
def test_own_skills_are_named_from_where_the_cli_looks(provider, passed):
    spec = f"providers: {{{provider}: {{delivery: flag, permission: bypass}}}}\nworkdir: api\nskills: [tidy]\n"
    skill = "---\nname: tidy\ndescription: Tidy up after a change\n---\nPut things back.\n"
    tree = MemoryTree({"agents.d/worker.yaml": spec.encode(), "skills/tidy/SKILL.md": skill.encode()})
    project, _ = resolve(load(tree)[0], tree)
    (lowered,), _ = lower(project, tree)

    argv = shown(lowered.plan.argv, {})
    at = argv.index(passed[0])
    assert argv[at : at + 2] == passed
