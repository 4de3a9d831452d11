"""Breaks that another plan explains: real plans, compiled from sources that were edited in between."""

from __future__ import annotations

import pytest

from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.tree import MemoryTree
from agentmux_launcher.usage import Tokens
from agentmux_usage.breaks import Line, Reason
from agentmux_usage.forensics import Known, find_breaks, known_of
from agentmux_usage.forensics.known import Start
from agentmux_usage.response import Response, Session

RULES = "".join(f"Rule {number} of the house style is to be held in every file.\n" for number in range(1, 101))
SPEC = """\
providers:
  claude: {model: claude-opus-5, effort: low}
  qwen: {model: qwen3-coder-plus, delivery: file}
permission: ask
instructions: Review the diff.
bundles: [style, security]
"""
MODELS = {"claude": "claude-opus-5"}
FILES = {"agents.d/reviewer.yaml": SPEC, "bundles/style.md": RULES, "bundles/security.md": "No secrets.\n"}


def plan(provider, **edits):
    """The prefix of a plan; `edits` by the file's stem: what is replaced, and by what."""
    files = dict(FILES)
    for path in FILES:
        for old, new in edits.get(path.rpartition("/")[2].partition(".")[0], {}).items():
            assert old in files[path]
            files[path] = files[path].replace(old, new)
    compiled = compile_project(MemoryTree({path: text.encode() for path, text in files.items()}))
    return next(each.prefix for each in compiled.plans if each.plan.provider == provider)


def call(provider, time, tokens, prefix, **more):
    said = {"provider": provider, "session_id": "s", "run_id": f"run-{prefix}", "model": MODELS.get(provider), **more}
    return Response(time=time, tokens=tokens, prefix=prefix, **said)


def broken(before, after, provider="qwen", read=6_000, **more):
    """The one break of a session that had stored 20,000 tokens when its plan became another. Qwen tells no writes."""
    if provider == "claude":
        figures = Tokens(0, 0, 20_000, 0, 5), Tokens(0, read, 14_000, 0, 5)
    else:
        figures = Tokens(20_000, 0, None, None, 5), Tokens(14_000, read, None, None, 5)
    first, second = call(provider, 0, figures[0], "a"), call(provider, 60, figures[1], "b", **more)
    (found,) = find_breaks(Session(provider, "s", (first, second)), Known({"a": before, "b": after}))
    return found


@pytest.mark.parametrize(
    ("edits", "reason", "line", "evidence"),
    [
        (
            {"style": {"Rule 40 of the": "Rule 40 of this"}},
            Reason.INSTRUCTIONS,
            Line("bundles/style.md", 40),
            "`bundles/style.md` was edited (bundles/style.md:40)",
        ),
        (
            {"style": {"Rule 40 of the": "Rule 40  of the"}},
            Reason.INSTRUCTIONS,
            Line("bundles/style.md", 40),
            "nothing but white space changed in `bundles/style.md` (bundles/style.md:40)",
        ),
        (
            {"reviewer": {"[style, security]": "[security, style]"}},
            Reason.INSTRUCTIONS,
            Line("agents.d/reviewer.yaml", 6),
            "`bundles/security.md` stands in another place (agents.d/reviewer.yaml:6)",
        ),
    ],
)
def test_what_changed_between_two_plans_is_named_down_to_its_line(edits, reason, line, evidence):
    found = broken(plan("qwen"), plan("qwen", **edits), read=12_000)

    assert (found.reason, found.line, found.evidence) == (reason, line, f"the plan is another one: {evidence}")


def test_other_tools_are_named_with_the_flag_that_takes_them():
    flags = {"effort: low": "effort: low, flags: [--disallowedTools, Bash]"}
    found = broken(plan("claude"), plan("claude", reviewer=flags), "claude", read=600)

    assert (found.reason, found.line) == (Reason.TOOLS, Line("agents.d/reviewer.yaml", 2))
    assert found.evidence == "the plan is another one: other tools (agents.d/reviewer.yaml:2)"
    assert found.predicted > 10_000


def test_another_permission_is_named():
    found = broken(plan("qwen"), plan("qwen", reviewer={"permission: ask": "permission: plan"}))

    assert (found.reason, found.line) == (Reason.PERMISSION, Line("agents.d/reviewer.yaml", 4))


def test_what_was_foretold_stands_beside_what_was_lost():
    before, after = plan("qwen"), plan("qwen", style={"Rule 40 of the": "Rule 40 of this"})

    (near, far) = (broken(before, after, read=read) for read in (6_000, 18_000))

    assert near.predicted == far.predicted
    assert 0 < near.predicted <= 20_000


def test_an_edit_that_was_to_lose_far_less_says_that_it_is_not_all_of_the_reason():
    found = broken(plan("qwen"), plan("qwen", security={"No secrets": "No passwords"}), read=0)

    assert (found.lost, found.reason, found.line) == (14_000, Reason.INSTRUCTIONS, Line("bundles/security.md", 1))
    assert 0 < found.predicted < 9_000
    assert found.evidence == (
        "the plan is another one: `bundles/security.md` was edited (bundles/security.md:1); "
        f"that was to lose {found.predicted:,} tokens, and nothing that was sent explains the others"
    )


def test_an_edit_that_loses_nothing_explains_only_what_nothing_else_does():
    """Claude Code keeps the text of a flag that a session began with."""
    before, after = plan("claude"), plan("claude", style={"Rule 40": "Rule XL"})

    alone, compacted = (broken(before, after, "claude", after_compaction=which) for which in (False, True))

    assert (alone.reason, alone.line, alone.predicted) == (Reason.INSTRUCTIONS, Line("bundles/style.md", 40), 0)
    assert alone.evidence.endswith("though a session that goes on was to lose nothing by that")
    assert (compacted.reason, compacted.line, compacted.predicted) == (Reason.COMPACTION, None, None)


def test_an_effort_is_named_with_its_line():
    before, after = plan("claude"), plan("claude", reviewer={"effort: low": "effort: high"})

    found = broken(before, after, "claude", read=0, effort="high")

    assert (found.reason, found.line, found.predicted) == (Reason.EFFORT, Line("agents.d/reviewer.yaml", 2), 14_000)


def test_the_same_plan_explains_nothing():
    found = broken(plan("qwen"), plan("qwen"))

    assert (found.reason, found.line, found.predicted) == (Reason.SERVER, None, None)


def began(session_id, time, read, answered=3.0):
    """A session that was sent at `time`, and whose answer came so much later."""
    tokens = Tokens(0, read, 30_000 - read, 0, 5)
    return Start(time, call("claude", time + answered, tokens, "a", session_id=session_id))


def breaks_of(*starts):
    """Those of each session, in the order of the starts."""
    known = Known({"a": plan("claude")}, {"a": starts})
    return [find_breaks(Session("claude", each.session_id, (each.first,)), known) for each in starts]


def test_sessions_that_begin_together_pay_each_for_the_same_prefix():
    one, two, three = breaks_of(began("one", 100.0, 0), began("two", 102.5, 0), began("three", 130.0, 16_000))

    assert (one, three) == ((), ())
    (found,) = two
    assert (found.turn, found.call, found.reason) == (0, 1, Reason.CONCURRENT)
    assert found.evidence == (
        "another session with the same plan began 2.5 s before this one, and its answer 0.5 s after"
    )
    assert (found.expected, found.lost) == (16_000, 16_000)


def test_what_nobody_was_served_is_what_the_build_says_of_another_prompt():
    _, (found,) = breaks_of(began("one", 100.0, 0), began("two", 102.5, 0))

    assert 17_000 < found.lost < 19_000


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (began("two", 103.0, 0), "the first had its answer"),
        (began("two", 102.5, 9_000), "it was served what a session with another prompt is"),
        (began("two", 90.0, 0, answered=5.0), "it had its answer before the first began"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_session_by_itself_has_lost_nothing(second, why):
    starts = sorted((began("one", 100.0, 0), second), key=lambda each: each.place)

    assert breaks_of(*starts) == [(), ()], why


def test_a_session_beside_one_that_was_served_was_not_hindered_by_it():
    assert breaks_of(began("one", 100.0, 16_000), began("two", 102.5, 0)) == [(), ()]


def test_sessions_of_which_nobody_knows_when_they_were_sent_are_held_against_none():
    starts = (began("one", 100.0, 0), began("two", 100.5, 0))
    sessions = [Session("claude", each.session_id, (each.first,)) for each in starts]

    assert known_of(sessions).starts == {}
