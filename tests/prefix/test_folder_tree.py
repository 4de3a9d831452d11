"""What a CLI shows the model of the folder it runs in: our committed outputs, as far as its listing goes."""

from __future__ import annotations

import json

from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.prefix.diff import diff
from agentmux_compiler.tree import MemoryTree


def plans(files, **agents):
    texts = {"bundles/rules.md": "Be calm.\n", **files}
    for name, fields in agents.items():
        texts[f"agents.d/{name}.yaml"] = json.dumps({"bundles": ["rules"], "delivery": "file", **fields})
    found = compile_project(MemoryTree({path: text.encode() for path, text in texts.items()}))
    assert [item.message for item in found.diagnostics if item.severity.value == "error"] == []
    return {plan.prefix.key: plan.prefix for plan in found.plans}


def listed(plan):
    return [segment.text for segment in plan.segments if segment.name.startswith("tree/")]


GEMINI = {"providers": {"gemini": {}}}


def test_a_cli_that_lists_no_folder_has_no_such_text():
    found = plans({}, a={"providers": {"claude": {}, "codex": {}}})
    assert [listed(plan) for plan in found.values()] == [[], []]


def test_an_output_of_another_plan_stands_in_the_listing_too():
    alone = plans({}, a=GEMINI)["a/gemini"]
    both = plans({}, a={"providers": {"gemini": {}, "claude": {}}})["a/gemini"]
    (before,), (after,) = listed(alone), listed(both)
    assert "GEMINI.md\n" in before
    assert "CLAUDE.md\n" in after
    assert "CLAUDE.md\n" not in before
    found = diff(alone, both)
    assert found.first_break.segment == "tree/project+gemini.txt"
    assert {change.reason for change in found.changes} == {"environment"}


def test_what_git_ignores_is_not_listed():
    found = plans({}, a={**GEMINI, "delivery": "flag"})["a/gemini"]
    assert not any(".agentmux" in text for text in listed(found))


def test_a_folder_lists_what_lies_in_it():
    files = {"web/.keep": "", "web/GEMINI.txt": ""}
    found = plans(files, a={**GEMINI, "workdir": "web"}, b={"providers": {"claude": {}}})["a/gemini"]
    assert [text.split("\n") for text in listed(found)] == [["GEMINI.md", ""]]
