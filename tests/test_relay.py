"""A baseline in the layout of the catalog at hand: whatever was accepted reads back as no change."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agentmux_compiler import snapshots
from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.prefix.diff import diff_all
from agentmux_compiler.providers import NAMES
from agentmux_compiler.snapshots import relaid, snapshot_files
from agentmux_compiler.tree import MemoryTree

FILES = {
    "agents.d/_project.yaml": "header: true\n",
    "bundles/one.md": "# One\n\nBe calm.\n",
    "bundles/two.md": "# Two\n\nSay so.\n",
    "skills/release/SKILL.md": "---\nname: release\ndescription: How to release.\n---\nBody.\n",
    "skills/audit/SKILL.md": "---\nname: audit\ndescription: How to audit.\n---\nBody.\n",
    "web/.keep": "",
}
FULL = {
    "bundles": ["one", "two"],
    "skills": ["release", "audit"],
    "mcp": {"search": {"command": "tiny-mcp"}},
    "soul": "A careful agent.",
    "startup": "Begin with the tests.",
}
PLAIN = {"bundles": ["one", "two"]}
CASES = {
    "plain": PLAIN,
    "all of it": FULL,
    "in a folder": {**PLAIN, "workdir": "web"},
    "by flag": {**FULL, "delivery": "flag"},
    "by file": {**FULL, "delivery": "file"},
    "in the first turn": {**PLAIN, "delivery": "startup"},
}
OF_CLAUDE = {
    "an appended text": ["--append-system-prompt", "Be brief."],
    "a prompt of its own": ["--system-prompt", "You are a tester."],
    "no tools": ["--tools", ""],
    "bare": ["--bare"],
}


def compiled(files):
    found = compile_project(MemoryTree({path: text.encode() for path, text in files.items()}))
    return found if not any(item.severity.value == "error" for item in found.diagnostics) else None


def accepted(plans):
    """What reading a baseline back gives that was written of these plans."""
    files = snapshot_files(plans)
    tree = MemoryTree({f"snapshots/{path}": content for path, content in files.items()})
    baseline, found = snapshots.read(tree, "snapshots", [plan.prefix for plan in plans])
    assert found == []
    return relaid(baseline.plans)


def assert_unchanged(plans):
    report = diff_all(accepted(plans), [plan.prefix for plan in plans], "snapshots")
    assert [(plan.first_break, plan.changes) for plan in report.plans if plan.verdict != "unchanged"] == []


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("provider", NAMES)
def test_what_was_accepted_is_unchanged(provider, case):
    uses = ({}, {"permission": "bypass"}, {"controller": "wire"})
    agents = ({"providers": {provider: use}, **CASES[case]} for use in uses)
    made = (compiled({**FILES, "agents.d/a.yaml": json.dumps(agent)}) for agent in agents)
    found = next((each for each in made if each is not None), None)
    if found is None:
        pytest.skip(f"{provider} has no such plan")
    assert_unchanged(found.plans)


@pytest.mark.parametrize("case", OF_CLAUDE)
@pytest.mark.parametrize("delivery", ["file", "flag"])
def test_texts_that_flags_pass_keep_their_place(case, delivery):
    agent = {"providers": {"claude": {"flags": OF_CLAUDE[case]}}, **FULL, "delivery": delivery}
    found = compiled({**FILES, "agents.d/a.yaml": json.dumps(agent)})
    assert found is not None
    assert_unchanged(found.plans)


def test_a_part_that_the_catalog_did_not_know_then_is_no_change():
    found = compiled({**FILES, "agents.d/a.yaml": json.dumps({"providers": {"claude": {}, "codex": {}}, **FULL})})
    before = {
        plan.prefix.key: replace(
            plan.prefix,
            segments=tuple(segment for segment in plan.prefix.segments if not segment.opaque or "base" in segment.name),
        )
        for plan in found.plans
    }
    report = diff_all(relaid(before), [plan.prefix for plan in found.plans], "snapshots")
    assert [plan.verdict for plan in report.plans] == ["unchanged", "unchanged"]


def test_a_baseline_of_another_version_stays_one():
    found = compiled({**FILES, "agents.d/a.yaml": json.dumps({"providers": {"claude": {}}, **FULL})})
    (plan,) = (each.prefix for each in found.plans)
    old = replace(
        plan,
        cli_version="1.0.0",
        segments=tuple(
            replace(each, name=each.name.replace(plan.cli_version, "1.0.0")) if each.opaque else each
            for each in plan.segments
        ),
    )
    (result,) = diff_all(relaid({old.key: old}), [plan], "snapshots").plans
    assert [change.reason for change in result.changes if not change.masked] == ["cli-version"]


def test_a_plan_without_a_layout_stays_as_it_is():
    found = compiled({**FILES, "agents.d/a.yaml": json.dumps({"providers": {"claude": {}}, **FULL})})
    (plan,) = (each.prefix for each in found.plans)
    bare = replace(plan, segments=tuple(each for each in plan.segments if not each.opaque))
    assert relaid({"a/claude": bare})["a/claude"] is bare
    unknown = replace(plan, provider="nobody")
    assert relaid({"a/nobody": unknown})["a/nobody"] is unknown
