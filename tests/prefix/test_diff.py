"""The first byte that differs, the line that caused it, and one reason per change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentmux_compiler.diagnostics import Severity, Span
from agentmux_compiler.lowered import PlanPrefix, PrefixSegment
from agentmux_compiler.prefix.counters import counter_for
from agentmux_compiler.prefix.diff import diff, diff_all
from agentmux_compiler.prefix.reasons import REASONS, diagnostics
from agentmux_compiler.report import Break, Change, Summary, TextKept
from agentmux_compiler.segment import Text

SPEC = "agents.d/reviewer.yaml"
COUNTER = counter_for("anthropic", "opus")
METHOD = "ctok 1.3.0 (claude-4.7)"
WITH_CLI = f"{METHOD}, the CLI's own parts at 2.73 bytes a token"


def own(name, text, *, line=1, layer="instructions", volatile=()):
    lines = tuple(range(1, text.count("\n") + 1))
    return PrefixSegment(
        layer, name, Text(text, name, lines), len(text.encode()), Span(SPEC, line, 12), volatile=volatile
    )


def opaque(layer, part, size, *, version="2.1.332", varies_with=()):
    return PrefixSegment(layer, f"claude {version}/{part}", None, size, varies_with=varies_with)


TOOLS = opaque("tools", "tools", 31_188, varies_with=("tools",))
SYSTEM = opaque("system", "base prompt", 6_852, varies_with=("cwd",))
TAIL = opaque("conversation", "reminders", 9_409, varies_with=("model", "permission"))
STYLE = own("bundles/style.md", "# Style\n\nShort functions.\nNo comments.\n", line=14)
SAFETY = own("bundles/safety.md", "# Safety\n\nNo secrets.\n", line=15)
TESTS = own("bundles/tests.md", "# Tests\n\nExact équality.\n", line=16)
SKILL = own("skills/release.md", "- release: how to release\n", line=20, layer="skills")

OWN_SIZE = sum(item.size for item in (STYLE, SAFETY, TESTS)) + 2

BASE = PlanPrefix(
    agent="reviewer",
    provider="claude",
    vendor="anthropic",
    backend="anthropic",
    model="opus",
    effort="high",
    permission="ask",
    delivery="file",
    cwd=".",
    cli_version="2.1.332",
    argv=("claude", "-p", "--model", "opus", "--effort", "high"),
    env=("LOG_LEVEL",),
    segments=(TOOLS, SYSTEM, STYLE, SAFETY, TESTS, TAIL),
    places={
        "model": Span(SPEC, 4, 12),
        "effort": Span(SPEC, 4, 25),
        "permission": Span(SPEC, 6, 13),
        "delivery": Span(SPEC, 7, 11),
        "workdir": Span(SPEC, 8, 10),
        "bundles": Span(SPEC, 13, 10),
        "mcp": Span(SPEC, 17, 6),
        "flags": Span(SPEC, 4, 40),
    },
)


def with_segments(*segments, **fields):
    return replace(BASE, segments=segments, **fields)


def edited(segment, text, **fields):
    return replace(segment, body=replace(segment.body, text=text), **fields)


def changes(before, after):
    found = diff(before, after)
    return found.verdict, [
        (item.reason, item.layer, item.segment, item.path, item.line, item.masked) for item in found.changes
    ]


def test_a_plan_against_itself_is_unchanged():
    found = diff(BASE, BASE)
    assert (found.verdict, found.first_break, found.changes) == ("unchanged", None, ())
    assert found.scenarios == {"relaunch": None, "new_prompt": None, "resume": None}
    assert found.text.bytes_kept == found.text.bytes_total == 31_188 + 6_852 + OWN_SIZE + 9_409
    assert found.text.tokens_kept == found.text.tokens_total


def test_swapping_two_bundles_is_one_reorder_of_the_one_that_stands_there_now():
    found = diff(BASE, with_segments(TOOLS, SYSTEM, SAFETY, STYLE, TESTS, TAIL))
    assert found.changes == (
        Change(
            "reordered",
            "instructions",
            "bundles/safety.md",
            SPEC,
            15,
            masked=False,
            code="AMX502",
            column=12,
            detail="it stands before `bundles/style.md` now",
        ),
    )
    assert found.first_break == Break(
        layer="instructions",
        segment="bundles/safety.md",
        path=SPEC,
        line=15,
        byte=31_188 + 6_852 + len("# S"),
        before="# Style\n\nShort functions.\nNo comments.\n\n",
        after="# Safety\n\nNo secrets.\n\n# Style\n\nShort fu",
    )
    assert found.own == TextKept(89, 3, 38, 2, METHOD, None)
    assert found.text == TextKept(47_538, 38_043, 17_419, 13_936, WITH_CLI, None)


def test_bundles_far_apart_that_change_places_are_one_reorder():
    found = changes(BASE, with_segments(TOOLS, SYSTEM, TESTS, SAFETY, STYLE, TAIL))
    assert found == ("broken", [("reordered", "instructions", "bundles/tests.md", SPEC, 16, False)])


def test_a_bundle_moved_to_the_end_is_the_one_that_moved():
    found = diff(BASE, with_segments(TOOLS, SYSTEM, SAFETY, TESTS, STYLE, TAIL))
    assert [(item.segment, item.line, item.detail) for item in found.changes] == [
        ("bundles/style.md", 14, "it stands last now")
    ]
    assert (found.first_break.segment, found.first_break.line) == ("bundles/safety.md", 15)


def test_an_edit_is_placed_at_its_first_changed_line_and_byte():
    after = edited(TESTS, "# Tests\n\nExact èquality.\n")
    found = diff(BASE, with_segments(TOOLS, SYSTEM, STYLE, SAFETY, after, TAIL))
    start = 31_188 + 6_852 + len(STYLE.text) + 1 + len(SAFETY.text) + 1
    assert found.first_break == Break(
        layer="instructions",
        segment="bundles/tests.md",
        path="bundles/tests.md",
        line=3,
        byte=start + len("# Tests\n\nExact ") + 1,
        before="Exact équality.\n[claude 2.1.332/reminders]",
        after="Exact èquality.\n[claude 2.1.332/reminders]",
    )
    assert [(item.reason, item.code) for item in found.changes] == [("edited", "AMX501")]


WITH_TWO_VERSIONS = tuple(
    opaque(item.layer, item.name.partition("/")[2], item.size, version="2.2.0") if item.opaque else item
    for item in BASE.segments
)
SERVER = own("mcp/issues", "issues: list, create\n", line=18, layer="conversation")
IN_SYSTEM = tuple(replace(item, layer="system") for item in (STYLE, SAFETY, TESTS))

WITHOUT_TAIL = (TOOLS, SYSTEM, STYLE, SAFETY, TESTS)

REASON_CASES = {
    "edited": (
        with_segments(TOOLS, SYSTEM, edited(STYLE, "# Style\n\nLong functions.\n"), SAFETY, TESTS, TAIL),
        "broken",
        [("edited", "instructions", "bundles/style.md", "bundles/style.md", 3, False)],
    ),
    "last lines deleted": (
        with_segments(TOOLS, SYSTEM, edited(STYLE, "# Style\n"), SAFETY, TESTS, TAIL),
        "broken",
        [("edited", "instructions", "bundles/style.md", "bundles/style.md", 2, False)],
    ),
    "inserted": (
        with_segments(TOOLS, SYSTEM, STYLE, own("bundles/new.md", "New.\n", line=15), SAFETY, TESTS, TAIL),
        "broken",
        [("inserted", "instructions", "bundles/new.md", SPEC, 15, False)],
    ),
    "removed": (
        with_segments(TOOLS, SYSTEM, STYLE, TESTS, TAIL),
        "broken",
        [("removed", "instructions", "bundles/safety.md", SPEC, 13, False)],
    ),
    "replaced": (
        with_segments(TOOLS, SYSTEM, STYLE, own("bundles/new.md", "New.\n", line=15), TESTS, TAIL),
        "broken",
        [
            ("inserted", "instructions", "bundles/new.md", SPEC, 15, False),
            ("removed", "instructions", "bundles/safety.md", SPEC, 13, True),
        ],
    ),
    "reordered and edited": (
        with_segments(TOOLS, SYSTEM, SAFETY, STYLE, edited(TESTS, "# Tests\n"), TAIL),
        "broken",
        [
            ("reordered", "instructions", "bundles/safety.md", SPEC, 15, False),
            ("edited", "instructions", "bundles/tests.md", "bundles/tests.md", 2, True),
        ],
    ),
    "a variable used for the first time": (
        with_segments(
            TOOLS,
            SYSTEM,
            replace(edited(STYLE, "# Style of Reviewer\n"), name="bundles/style@reviewer+claude.md"),
            SAFETY,
            TESTS,
            TAIL,
        ),
        "broken",
        [("edited", "instructions", "bundles/style@reviewer+claude.md", "bundles/style.md", 1, False)],
    ),
    "renamed": (
        with_segments(TOOLS, SYSTEM, replace(STYLE, name="bundles/house.md"), SAFETY, TESTS, TAIL),
        "kept",
        [("renamed", "instructions", "bundles/house.md", SPEC, 14, False)],
    ),
    "renamed behind a break": (
        with_segments(TOOLS, SYSTEM, edited(STYLE, "x\n"), SAFETY, replace(TESTS, name="bundles/t.md"), TAIL),
        "broken",
        [
            ("edited", "instructions", "bundles/style.md", "bundles/style.md", 1, False),
            ("renamed", "instructions", "bundles/t.md", SPEC, 16, True),
        ],
    ),
    "renamed before a break": (
        with_segments(TOOLS, SYSTEM, replace(STYLE, name="bundles/s.md"), SAFETY, edited(TESTS, "x\n"), TAIL),
        "broken",
        [
            ("edited", "instructions", "bundles/tests.md", "bundles/tests.md", 1, False),
            ("renamed", "instructions", "bundles/s.md", SPEC, 14, False),
        ],
    ),
    "permission that changes a part's size": (
        with_segments(TOOLS, replace(SYSTEM, size=7_000), STYLE, SAFETY, TESTS, permission="plan"),
        "broken",
        [("permission", "system", "claude 2.1.332/base prompt", SPEC, 6, False)],
    ),
    "one bundle split in two": (
        with_segments(
            TOOLS,
            SYSTEM,
            own("bundles/a.md", "# Style\n", line=14),
            own("bundles/b.md", "Short functions.\nNo comments.\n", line=15),
            SAFETY,
            TESTS,
            TAIL,
        ),
        "kept",
        [
            ("inserted", "instructions", "bundles/a.md", SPEC, 14, False),
            ("removed", "instructions", "bundles/style.md", SPEC, 13, False),
            ("inserted", "instructions", "bundles/b.md", SPEC, 15, False),
        ],
    ),
    "effort": (
        replace(BASE, effort="low", argv=("claude", "-p", "--model", "opus", "--effort", "low")),
        "broken",
        [("effort", "key", "effort", SPEC, 4, False)],
    ),
    "effort before an edit": (
        with_segments(TOOLS, SYSTEM, edited(STYLE, "x\n"), SAFETY, TESTS, TAIL, effort="low"),
        "broken",
        [
            ("effort", "key", "effort", SPEC, 4, False),
            ("edited", "instructions", "bundles/style.md", "bundles/style.md", 1, True),
        ],
    ),
    "model that changes the CLI's text": (
        replace(BASE, model="haiku", argv=("claude", "-p", "--model", "haiku", "--effort", "high")),
        "broken",
        [("model", "conversation", "claude 2.1.332/reminders", SPEC, 4, False)],
    ),
    "model that changes none": (
        replace(BASE, model="haiku", segments=WITHOUT_TAIL),
        "broken",
        [("model", "key", "model", SPEC, 4, False)],
    ),
    "permission that changes the CLI's text": (
        replace(BASE, permission="plan", argv=("claude", "-p", "--permission-mode", "plan")),
        "broken",
        [("permission", "conversation", "claude 2.1.332/reminders", SPEC, 6, False)],
    ),
    "permission that changes none": (
        replace(BASE, permission="plan", segments=WITHOUT_TAIL),
        "kept",
        [("permission", "argv", "permission", SPEC, 6, False)],
    ),
    "delivery": (
        with_segments(TOOLS, SYSTEM, *IN_SYSTEM, TAIL, delivery="flag"),
        "kept",
        [("delivery", "system", "bundles/style.md", SPEC, 7, False)],
    ),
    "delivery to another place": (
        with_segments(TOOLS, *IN_SYSTEM, SYSTEM, TAIL, delivery="flag"),
        "broken",
        [("delivery", "system", "bundles/style.md", SPEC, 7, False)],
    ),
    "working directory": (
        replace(BASE, cwd="docs"),
        "broken",
        [("environment", "system", "claude 2.1.332/base prompt", SPEC, 8, False)],
    ),
    "environment": (
        replace(BASE, env=("LOG_LEVEL", "TRACE")),
        "kept",
        [("environment", "environment", "env", SPEC, 1, False)],
    ),
    "tools denied": (
        replace(BASE, argv=(*BASE.argv, "--disallowedTools", "Bash")),
        "broken",
        [("tools", "tools", "claude 2.1.332/tools", SPEC, 4, False)],
    ),
    "other flags": (
        replace(BASE, argv=(*BASE.argv, "--add-dir", "../docs")),
        "kept",
        [("environment", "argv", "flags", SPEC, 4, False)],
    ),
    "MCP server": (
        with_segments(TOOLS, SYSTEM, STYLE, SAFETY, TESTS, SERVER, TAIL, argv=("claude", "--mcp-config", "x.json")),
        "broken",
        [("tools", "conversation", "mcp/issues", SPEC, 17, False)],
    ),
    "CLI version": (
        with_segments(*WITH_TWO_VERSIONS, cli_version="2.2.0"),
        "broken",
        [("cli-version", "tools", "claude 2.2.0/tools", SPEC, 1, False)],
    ),
    "catalog": (
        with_segments(TOOLS, SYSTEM, opaque("system", "memory", 900), STYLE, SAFETY, TESTS, TAIL),
        "broken",
        [("cli-version", "system", "claude 2.1.332/memory", SPEC, 1, False)],
    ),
    "first skill": (
        with_segments(TOOLS, SYSTEM, STYLE, SAFETY, TESTS, opaque("skills", "heading", 90), SKILL, TAIL),
        "broken",
        [("inserted", "skills", "skills/release.md", SPEC, 20, False)],
    ),
    "volatile": (
        with_segments(TOOLS, SYSTEM, STYLE, edited(SAFETY, "# Safety\n\n{{DATE}}\n", volatile=("DATE",)), TESTS, TAIL),
        "broken",
        [("volatile", "instructions", "bundles/safety.md", "bundles/safety.md", 3, False)],
    ),
    "whitespace": (
        with_segments(
            TOOLS, SYSTEM, edited(STYLE, "# Style\n\nShort functions. \nNo comments.\n"), SAFETY, TESTS, TAIL
        ),
        "broken",
        [("whitespace", "instructions", "bundles/style.md", "bundles/style.md", 3, False)],
    ),
    "nothing but the model's name": (
        with_segments(TOOLS, SYSTEM, STYLE, SAFETY, own("bundles/m.md", "You are haiku.\n"), model="haiku"),
        "broken",
        [("model", "instructions", "bundles/m.md", SPEC, 4, False)],
    ),
    "model behind an edit": (
        with_segments(TOOLS, SYSTEM, edited(STYLE, "x\n"), SAFETY, TESTS, TAIL, model="haiku"),
        "broken",
        [
            ("model", "key", "model", SPEC, 4, False),
            ("edited", "instructions", "bundles/style.md", "bundles/style.md", 1, True),
        ],
    ),
}
BEFORE = {
    "permission that changes a part's size": replace(BASE, segments=WITHOUT_TAIL),
    "model that changes none": replace(BASE, segments=WITHOUT_TAIL),
    "permission that changes none": replace(BASE, segments=WITHOUT_TAIL),
    "nothing but the model's name": with_segments(TOOLS, SYSTEM, STYLE, SAFETY, own("bundles/m.md", "You are opus.\n")),
}


@pytest.mark.parametrize("case", REASON_CASES)
def test_each_change_has_one_reason(case):
    after, verdict, expected = REASON_CASES[case]
    assert changes(BEFORE.get(case, BASE), after) == (verdict, expected)


def test_every_reason_has_a_case():
    found = {item[0] for _, _, expected in REASON_CASES.values() for item in expected}
    assert found == set(REASONS)


def test_a_key_is_a_break_at_byte_0_that_keeps_all_text():
    found = diff(BASE, replace(BASE, effort="low"))
    assert found.first_break == Break("key", "effort", SPEC, 4, 0, "high", "low")
    assert found.text.bytes_kept == found.text.bytes_total
    assert found.changes[0].detail == (
        "`high` became `low`; an effort is a key of the cache, not text: "
        "`claude` sends the same text, byte for byte, with another parameter"
    )


def test_a_model_breaks_the_text_where_the_cli_sends_another():
    found = diff(BASE, replace(BASE, model=None))
    assert found.first_break == Break(
        layer="conversation",
        segment="claude 2.1.332/reminders",
        path=SPEC,
        line=4,
        byte=31_188 + 6_852 + OWN_SIZE,
        before="[claude 2.1.332/reminders]",
        after="[claude 2.1.332/reminders]",
    )
    assert found.changes[0].detail == (
        "`opus` became the CLI's default; each model has a cache of its own, "
        "and `claude` also sends another text from `conversation` on"
    )


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (
            "# Style\n\nShort functions. \nNo comments.\n",
            "Short·functions.␊No·comments.␊␊#·Safety␊␊No·",
            "Short·functions.·␊No·comments.␊␊#·Safety␊␊No",
        ),
        (
            "# Style\n\n\nShort functions.\nNo comments.\n",
            "Short·functions.␊No·comments.␊␊#·Safety␊",
            "␊Short·functions.␊No·comments.␊␊#·Safety",
        ),
        (
            "# Style\n\n\tShort functions.\nNo comments.\n",
            "Short·functions.␊No·comments.␊␊#·Safety␊",
            "␉Short·functions.␊No·comments.␊␊#·Safety",
        ),
        (
            "# Style\n\nShort\u00a0functions.\nNo comments.\n",
            "Short·functions.␊No·comments.␊␊#·Safety␊",
            "Short⍽functions.␊No·comments.␊␊#·Safety␊",
        ),
        (
            "# Style\r\n\nShort functions.\nNo comments.\n",
            "#·Style␊␊Short·functions.␊No·comments.␊␊",
            "#·Style␍␊␊Short·functions.␊No·comments.␊",
        ),
    ],
)
def test_a_change_of_white_space_alone_is_drawn(text, before, after):
    found = diff(BASE, with_segments(TOOLS, SYSTEM, edited(STYLE, text), SAFETY, TESTS, TAIL))
    assert [item.reason for item in found.changes] == ["whitespace"]
    assert (found.first_break.before, found.first_break.after) == (before, after)


def test_an_edit_is_quoted_from_its_line_on_or_from_a_cut_that_is_marked():
    long = "- Functions of this module have at most 20 lines, each of them.\n"
    base = with_segments(TOOLS, SYSTEM, edited(STYLE, f"Be brief.\n{long}"), TAIL)
    late = diff(base, with_segments(TOOLS, SYSTEM, edited(STYLE, f"Be brief.\n{long.replace('20', '30')}"), TAIL))
    early = diff(base, with_segments(TOOLS, SYSTEM, edited(STYLE, f"Be short.\n{long}"), TAIL))
    assert (late.first_break.before, late.first_break.after) == (
        "…ons of this module have at most 20 lines, each of them.\n[claude 2.1.332/reminders]",
        "…ons of this module have at most 30 lines, each of them.\n[claude 2.1.332/reminders]",
    )
    assert (early.first_break.before, early.first_break.after) == (
        "Be brief.\n- Functions of this module hav",
        "Be short.\n- Functions of this module hav",
    )


def test_swapping_twice_is_unchanged():
    swapped = with_segments(TOOLS, SYSTEM, SAFETY, STYLE, TESTS, TAIL)
    back = with_segments(swapped.segments[0], swapped.segments[1], STYLE, SAFETY, TESTS, TAIL)
    assert diff(BASE, back).verdict == "unchanged"


def test_a_tail_of_a_long_file_keeps_nearly_all_of_it_and_a_swap_does_not():
    bundles = [own(f"bundles/b{index}.md", f"# Bundle {index}\n\n{'Some rule. ' * 900}\n") for index in range(4)]
    last = edited(bundles[3], bundles[3].text.removesuffix("rule. \n") + "law.\n")
    before = with_segments(TOOLS, *bundles, TAIL)
    tail = diff(before, with_segments(TOOLS, *bundles[:3], last, TAIL)).own
    swap = diff(before, with_segments(TOOLS, bundles[1], bundles[0], *bundles[2:], TAIL)).own
    assert (tail.bytes_kept, swap.bytes_kept) == (39_648, 9)
    assert tail.bytes_kept / tail.bytes_total > 0.99


def test_plans_stand_in_byte_order_whether_they_are_new_or_removed():
    current = [replace(BASE, agent=agent) for agent in ("é", "z", "b", "Z")]
    report = diff_all({"reviewer/claude": BASE, "b/claude": current[2]}, current, "snapshots")
    assert [(plan.agent, plan.verdict, plan.text.bytes_kept) for plan in report.plans] == [
        ("Z", "new", 0),
        ("b", "unchanged", 47_538),
        ("reviewer", "removed", 0),
        ("z", "new", 0),
        ("é", "new", 0),
    ]
    assert report.summary == Summary(plans=5, unchanged=1, new=3, removed=1)
    assert report.baseline == "snapshots"


def test_text_on_both_sides_of_an_opaque_part_is_measured_as_one():
    before = with_segments(STYLE, SYSTEM, SAFETY, TAIL)
    found = diff(before, with_segments(STYLE, SYSTEM, edited(SAFETY, "# Safety\n\nNo keys.\n"), TAIL))
    kept = COUNTER.count(STYLE.text) + COUNTER.count("# Safety\n\nNo ")
    assert found.own == TextKept(58, 52, COUNTER.count(STYLE.text + "# Safety\n\nNo keys.\n"), kept, METHOD, None)
    assert (found.text.bytes_kept, found.text.tokens_kept) == (6_852 + 52, kept + 2_510)


def test_an_opaque_part_that_differs_is_not_kept():
    found = diff(BASE, replace(BASE, permission="plan"))
    assert found.text.bytes_kept == found.text.bytes_total - 9_409
    assert found.text.tokens_kept == found.own.tokens_total + COUNTER.estimate(31_188 + 6_852)


@pytest.mark.parametrize(
    ("second", "separated"),
    [
        (SAFETY, True),
        (replace(SAFETY, name="header.md"), True),
        (replace(SAFETY, layer="system"), False),
        (replace(SAFETY, file="AGENTS.md"), False),
        (replace(SAFETY, name="skills/safety.md"), False),
    ],
)
def test_sections_of_one_file_are_separated_by_an_empty_line(second, separated):
    found = diff(None, with_segments(STYLE, second))
    assert found.own.bytes_total == STYLE.size + SAFETY.size + separated


def test_a_part_without_bytes_only_marks_a_place():
    mark = opaque("system", "end of system", 0)
    assert diff(BASE, with_segments(TOOLS, SYSTEM, mark, *BASE.segments[2:])).verdict == "unchanged"


def test_diff_needs_a_plan():
    with pytest.raises(ValueError, match="needs a plan"):
        diff(None, None)


def test_diagnostics_stand_at_the_line_that_caused_them():
    found = diff(BASE, with_segments(TOOLS, SYSTEM, SAFETY, STYLE, edited(TESTS, "x\n"), TAIL))
    (only,) = diagnostics(found)
    assert (only.code, only.severity, only.span) == ("AMX502", Severity.WARNING, Span(SPEC, 15, 12))
    assert only.message == ("`bundles/safety.md` (reordered) breaks the prefix of `reviewer/claude` in `instructions`")
    assert only.notes == (
        "it stands before `bundles/style.md` now",
        "1 more changed behind it at no further cost",
    )


def test_a_plan_that_did_not_change_has_nothing_to_say():
    assert [diagnostics(diff(*pair)) for pair in ((BASE, BASE), (None, BASE), (BASE, None))] == [(), (), ()]
