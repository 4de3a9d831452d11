"""What becomes of edited text in a session that goes on."""

from __future__ import annotations

import pytest

from agentmux_compiler.lowered import ResumeRules
from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.prefix.diff import diff
from agentmux_compiler.tree import MemoryTree

RULES = "".join(f"Rule {number} of the house style is to be held in every file.\n" for number in range(1, 101))


def plan(use, rules=RULES):
    files = {
        "agents.d/reviewer.yaml": f"providers: {{claude: {use}}}\ninstructions: Be brief.\nbundles: [style]\n",
        "bundles/style.md": rules,
    }
    compiled = compile_project(MemoryTree({path: text.encode() for path, text in files.items()}))
    (found,) = compiled.plans
    return found.prefix


@pytest.mark.parametrize(
    ("flags", "flag_text"),
    [
        ("[]", "ignored"),
        ("[--system-prompt-snapshot, 'off']", "rewritten"),
        ("[--system-prompt-snapshot=off]", "rewritten"),
        ("[--system-prompt-snapshot, 'on']", "ignored"),
    ],
)
def test_claude_keeps_the_text_of_a_flag_unless_it_is_told_to_render_it_anew(flags, flag_text):
    assert plan(f"{{model: sonnet, flags: {flags}}}").resume == ResumeRules("appended", flag_text)


@pytest.mark.parametrize(("flags", "loses"), [("[]", False), ("[--system-prompt-snapshot, 'off']", True)])
def test_an_edit_costs_a_session_that_goes_on_only_what_is_rendered_anew(flags, loses):
    use = f"{{model: sonnet, flags: {flags}}}"

    found = diff(plan(use), plan(use, RULES.replace("Rule 40", "Rule XL")))

    assert (found.scenarios["resume"].lost > 0) is loses
