"""Every fix that is advised was tried, keeps what it says, and is silent where it does not help."""

from __future__ import annotations

import json

import pytest

from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.prefix.advice import Trial, advised
from agentmux_compiler.prefix.costs import NOTHING_STATED
from agentmux_compiler.prefix.diff import diff_all
from agentmux_compiler.tree import MemoryTree

LOCAL = {"model": "qwen3-coder", "base_url": "http://127.0.0.1:8000/v1", "backend": "vllm"}
NAMES = ("one", "two", "three")


def rules(name):
    return f"# {name}\n\n" + "".join(f"- Rule {line} of {name}: say what you know.\n" for line in range(120))


BUNDLES = {f"bundles/{name}.md": rules(name) for name in NAMES}
LATER = "make it together with the next upgrade of the CLI, which loses all of it anyway"
LAST = "list `{}` last in `bundles`: what changes often costs least there"
ORDER = "list them in the accepted order"
BLANK = "take the invisible change back"
STARTUP = "put the value into `startup`, where the next one breaks less"
RULE = "deny single uses by a rule such as `Bash(git push *)`, not the whole tool"


def project(use=LOCAL, names=NAMES, files=None, **fields):
    agent = {"providers": {"claude": use}, "bundles": list(names), "delivery": "flag", **fields}
    texts = {**BUNDLES, **(files or {}), "agents.d/a.yaml": json.dumps(agent)}
    return MemoryTree({path: text.encode() for path, text in texts.items()})


def advice(before, after):
    """What is advised for each plan, by its key."""
    left, right = compile_project(before), compile_project(after)
    for found in (left, right):
        assert [item.message for item in found.diagnostics if item.severity.value == "error"] == []
    old, new = ({plan.prefix.key: plan.prefix for plan in found.plans} for found in (left, right))
    trial = Trial(right.project, after, old, new, NOTHING_STATED)
    report = advised(diff_all(old, list(new.values()), "snapshots"), trial)
    return {f"{plan.agent}/{plan.provider}": plan for plan in report.plans}


def texts(before, after):
    (plan,) = advice(before, after).values()
    return [each.text for each in plan.advice]


EDITED = {"bundles/one.md": rules("one").replace("Rule 3 ", "Rule 33 ")}
SPACED = {"bundles/one.md": rules("one").replace("know.", "know. ", 1)}
FEW = {"bundles/few.md": "Be brief, and say what you know.\n"}
DATED = {"bundles/one.md": "Today is {{DATE}}.\n" + rules("one")}


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        pytest.param(project(), project(files=EDITED), [LAST.format("one")], id="a bundle in front is edited"),
        pytest.param(
            project(names=("two", "three", "one")),
            project(names=("two", "three", "one"), files=EDITED),
            [],
            id="it stands last already",
        ),
        pytest.param(project(names=("one",)), project(names=("one",), files=EDITED), [], id="it stands alone"),
        pytest.param(
            project(names=("one", "few"), files=FEW),
            project(names=("one", "few"), files={**FEW, **EDITED}),
            [],
            id="what stands behind it is not worth a move",
        ),
        pytest.param(
            project(names=("one", "three")), project(), [LAST.format("two")], id="a bundle comes in front of others"
        ),
        pytest.param(project(), project(names=("two", "one", "three")), [ORDER], id="bundles change places"),
        pytest.param(project(), project(files=SPACED), [BLANK], id="a blank at the end of a line"),
        pytest.param(project(), project(files=DATED), [STARTUP], id="a date comes in front"),
        pytest.param(project(), project(names=("two", "three")), [], id="a bundle is gone"),
        pytest.param(project(), project(), [], id="nothing changed"),
        pytest.param(
            project(), project(use={**LOCAL, "flags": ["--disallowedTools", "Bash"]}), [LATER, RULE], id="a tool denied"
        ),
        pytest.param(
            project(),
            project(use={**LOCAL, "flags": ["--disallowedTools", "Bash(rm *)"]}),
            [],
            id="uses of a tool denied",
        ),
        pytest.param(project(), project(use={**LOCAL, "backend": "sglang"}), [], id="another backend cannot wait"),
    ],
)
def test_what_is_advised(before, after, found):
    assert sorted(texts(before, after)) == sorted(found)


def test_what_is_advised_keeps_as_many_tokens_as_it_says():
    """Taking the blank back keeps all that it lost; another order keeps what stands in front then."""
    (plan,) = advice(project(), project(files=SPACED)).values()
    assert plan.advice[0].keeps_tokens == max(each.lost for each in plan.scenarios.values())
    (plan,) = advice(project(), project(files=EDITED)).values()
    (kept,) = plan.advice
    moved = advice(project(names=("two", "three", "one")), project(names=("two", "three", "one"), files=EDITED))
    lost = {name: each.lost for name, each in moved["a/claude"].scenarios.items()}
    assert kept.keeps_tokens == plan.scenarios[kept.scenario].lost - lost[kept.scenario]


def test_a_new_model_may_wait_for_the_next_upgrade_of_the_cli():
    found = texts(project({"model": "opus"}), project({"model": "sonnet"}))
    assert found == [LATER]


def test_agents_that_one_change_breaks_are_each_advised():
    files = {**BUNDLES}
    for name, listed in (("a", "one, two, three"), ("b", "three, one, two")):
        files[f"agents.d/{name}.yaml"] = (
            f"providers: {{codex: {{model: gpt-5.5}}}}\ndelivery: flag\nbundles: [{listed}]\n"
        )
    before, after = (
        MemoryTree({path: text.encode() for path, text in {**files, **more}.items()}) for more in ({}, EDITED)
    )
    found = advice(before, after)
    kept = {key: [each.keeps_tokens for each in plan.advice] for key, plan in found.items()}
    assert all(len(tokens) == 1 for tokens in kept.values())
    assert kept["a/codex"][0] > kept["b/codex"][0] > 0


def test_of_many_agents_those_that_are_broken_are_advised():
    files = dict(BUNDLES)
    for number in range(60):
        first = "one" if number == 59 else "two"
        files[f"agents.d/a{number}.yaml"] = (
            f"providers: {{codex: {{model: gpt-5.5}}}}\ndelivery: flag\nbundles: [{first}, three]\n"
        )
    before, after = (
        MemoryTree({path: text.encode() for path, text in {**files, **more}.items()}) for more in ({}, EDITED)
    )
    found = advice(before, after)
    assert [key for key, plan in found.items() if plan.advice] == ["a59/codex"]
