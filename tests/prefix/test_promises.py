"""What issue and handbook promise of the report, held on whole projects that are compiled and written."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentmux_compiler.pipeline import BuildOptions, build, compile_project
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.diff import diff, diff_all
from agentmux_compiler.prefix.rendered import common_octets, render
from agentmux_compiler.render import View, no_source
from agentmux_compiler.render.prefixes import prefix_report
from agentmux_compiler.tree import MemoryTree

PROVIDERS = ("claude", "codex", "gemini")
USES = "{claude: {}, codex: {}, gemini: {}}"
# Few words, so that edits cancel out and texts share their first bytes; with what an editor leaves behind.
LINES = st.lists(st.sampled_from(["# Rule", "Say so.", "Say so. ", "é", "日本", "- a", "\tb", "", " "]), max_size=4)
BODIES = LINES.map(lambda lines: "\n".join(["Text", *lines]) + "\n")
BUNDLES = st.dictionaries(st.sampled_from("abcdef"), BODIES, min_size=1, max_size=4).map(
    lambda found: list(found.items())
)
KINDS = ("edit", "insert", "remove", "swap", "blank", "rename", "soul")


@st.composite
def edits(draw):
    """A project's bundles and soul before and after one to three edits, and how they are delivered."""
    before = (draw(BUNDLES), draw(BODIES))
    bundles, soul = list(before[0]), before[1]
    for _ in range(draw(st.integers(1, 3))):
        kind, text = draw(st.sampled_from(KINDS)), draw(BODIES)
        place, other = (draw(st.integers(0, len(bundles) - 1)) for _ in range(2))
        spare = next(name for name in "ghijklmnop" if name not in dict(bundles))
        name, old = bundles[place]
        match kind:
            case "edit":
                bundles[place] = (name, text)
            case "insert":
                bundles.insert(place, (spare, text))
            case "remove" if len(bundles) > 1:
                del bundles[place]
            case "swap":
                bundles[place], bundles[other] = bundles[other], bundles[place]
            case "blank":
                bundles[place] = (name, old.replace("\n", draw(st.sampled_from([" \n", "\n\n", "\t\n"])), 1))
            case "rename":
                bundles[place] = (spare, old)
            case "soul":
                soul = text
    return before, (bundles, soul), draw(st.sampled_from(["file", "flag"])), draw(st.booleans())


def sources(state, delivery, *, header=False, uses=USES):
    bundles, soul = state
    listed = ", ".join(name for name, _ in bundles)
    return {
        "agents.d/_project.yaml": f"header: {str(header).lower()}\n",
        "agents.d/reviewer.yaml": (
            f"providers: {uses}\ndelivery: {delivery}\nsoul: {{file: soul.md}}\nbundles: [{listed}]\n"
        ),
        "soul.md": soul,
        **{f"bundles/{name}.md": text for name, text in bundles},
    }


def written(files):
    """What a build wrote for each plan, and the prefix of the plan."""
    with tempfile.TemporaryDirectory() as folder:
        assert [item.message for item in built(files, folder) if item.severity.value == "error"] == []
        plans = compiled(files).plans
        return {
            plan.prefix.provider: (Path(folder, plan.files[0].path).read_bytes().decode(), plan.prefix)
            for plan in plans
        }


def built(files, folder):
    for path, text in files.items():
        place = Path(folder, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
    return build(Path(folder), BuildOptions()).diagnostics


@settings(max_examples=200, deadline=None)
@given(edits())
def test_the_first_byte_that_differs_is_that_of_the_files_written(found):
    before, after, delivery, header = found
    left, right = (written(sources(state, delivery, header=header)) for state in (before, after))
    for provider in PROVIDERS:
        (old, old_plan), (new, new_plan) = left[provider], right[provider]
        result = diff(old_plan, new_plan)
        # A bundle under another name is a change that breaks nothing.
        assert (result.first_break is None) == (old == new)
        if result.first_break is not None:
            assert in_file(result.first_break.byte, new_plan, new) == common_octets(old, new)


def in_file(byte, plan, text):
    """The byte of the instruction file that stands at a byte of the prompt.

    A heading that the CLI does not send (Claude drops comments) stands in front of the file all the same.
    """
    pieces = [piece for piece in render(plan.segments).pieces if not piece.segment.opaque]
    ours = [piece for piece in pieces if not piece.segment.name.startswith("tree/")]
    unsent = len(text.encode()) - sum(piece.size for piece in ours)
    return unsent + sum(min(max(byte - piece.start, 0), piece.size) for piece in ours)


def compiled(files):
    found = compile_project(MemoryTree({path: text.encode() for path, text in files.items()}))
    assert [item.message for item in found.diagnostics if item.severity.value == "error"] == []
    return found


def compared(before, after, name="claude"):
    left, right = (
        next(plan.prefix for plan in compiled(files).plans if plan.prefix.provider == name) for files in (before, after)
    )
    return diff(left, right)


LONG = "".join(f"- Rule {line}: say what you know, and no more than that.\n" for line in range(96))
LARGE = "{claude: {}, gemini: {}}"
NAMES = [f"b{index}" for index in range(8)]
FORTY_KB = [(name, f"# {name}\n\n{LONG}") for name in NAMES]


# Codex reads no more than 32 KiB.
@pytest.mark.parametrize("provider", ["claude", "gemini"])
@pytest.mark.parametrize("delivery", ["file", "flag"])
def test_of_a_long_file_the_last_line_keeps_nearly_all_and_a_swap_of_the_first_bundles_does_not(provider, delivery):
    base = sources((FORTY_KB, "Soul.\n"), delivery, uses=LARGE)
    name, text = FORTY_KB[-1]
    ended = sources(([*FORTY_KB[:-1], (name, f"{text[:-10]}of that.\n")], "Soul.\n"), delivery, uses=LARGE)
    swapped = sources(([FORTY_KB[1], FORTY_KB[0], *FORTY_KB[2:]], "Soul.\n"), delivery, uses=LARGE)
    tail, swap = (compared(base, files, provider).own for files in (ended, swapped))
    assert tail.bytes_total > 40_000
    assert tail.bytes_kept > 0.95 * tail.bytes_total
    assert swap.bytes_kept < 0.95 * swap.bytes_total


def test_a_trailing_blank_is_drawn():
    base = sources((FORTY_KB, "Soul.\n"), "file", uses=LARGE)
    name, text = FORTY_KB[0]
    spaced = sources(
        ([(name, text.replace("more than that.", "more than that. ", 1)), *FORTY_KB[1:]], "Soul.\n"), "file", uses=LARGE
    )
    before, after = (compiled(files) for files in (base, spaced))
    report = diff_all(
        {plan.prefix.key: plan.prefix for plan in before.plans}, [plan.prefix for plan in after.plans], "snapshots"
    )
    shown = prefix_report(report, View(no_source))
    assert "than that.·" in shown or "than·that.·" in shown


PAID = sources(([("rules", LONG)], "Soul.\n"), "file", uses="{claude: {model: opus}}")
SERVED = sources(
    ([("rules", LONG)], "Soul.\n"),
    "file",
    uses='{claude: {model: qwen3-coder, base_url: "http://127.0.0.1:8000", backend: vllm}}',
)


def with_a_rule_edited(files):
    return {**files, "bundles/rules.md": files["bundles/rules.md"].replace("Rule 95", "Rule 99")}


def notes(files):
    with tempfile.TemporaryDirectory() as folder:
        return [item for item in built(files, folder) if item.code == "AMX510"]


def test_a_file_on_anthropic_is_paid_anew_in_every_session_and_a_flag_is_advised():
    (note,) = notes(PAID)
    assert "anew in every session with another prompt, edited or not" in note.message
    assert "`delivery: flag`" in note.help
    saved = int(re.search(r"([\d,]+) tokens more would be served", note.help)[1].replace(",", ""))
    rules = tokens_of_rules(PAID)
    assert abs(saved - rules) <= 0.05 * rules
    found = compared(PAID, with_a_rule_edited(PAID)).scenarios
    assert found["new_prompt"].lost == 0
    assert found["relaunch"].lost > 0


def tokens_of_rules(files):
    (plan,) = compiled(files).plans
    counter = counter_for(plan.prefix.vendor, plan.prefix.served_model)
    return sum(counter.count(item.text or "") for item in plan.prefix.segments)


def test_delivered_by_flag_no_session_pays_anew():
    by_flag = {path: text.replace("delivery: file", "delivery: flag") for path, text in PAID.items()}
    assert notes(by_flag) == []


def test_on_vllm_another_prompt_is_served_the_same_file():
    assert notes(SERVED) == []
    found = compared(SERVED, with_a_rule_edited(SERVED)).scenarios
    assert found["new_prompt"].lost > 0
    early = {**SERVED, "bundles/rules.md": SERVED["bundles/rules.md"].replace("Rule 0", "Rule 7")}
    assert compared(SERVED, early).scenarios["new_prompt"].lost > tokens_of_rules(SERVED) * 0.9


PROVIDERS_OF_A_FLEET = """
  claude: {model: opus}
  codex: {model: gpt-5.5}
  gemini: {}
  qwen: {model: qwen3-coder-plus}
  kimi: {permission: bypass}
"""


def fleet(first, second):
    """200 agents on five providers, each of six of 40 bundles; `first` and `second` are where its own two stand."""
    files = {f"bundles/b{name}.md": f"# Bundle {name}\n" + LONG for name in range(40)}
    for number in range(200):
        listed = [f"b{(number + place) % 40}" for place in (first, second, 2, 3, 4, 5)]
        files[f"agents.d/a{number}.yaml"] = (
            f"providers:{PROVIDERS_OF_A_FLEET}delivery: flag\nbundles: [{', '.join(listed)}]\n"
        )
    return [plan.prefix for plan in compiled(files).plans]


def test_a_thousand_plans_are_compared_and_each_is_broken():
    before, after = ({plan.key: plan for plan in fleet(*order)} for order in ((0, 1), (1, 0)))
    report = diff_all(before, list(after.values()), "snapshots")
    assert (report.summary.plans, report.summary.broken) == (1_000, 1_000)
