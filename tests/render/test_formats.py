import json

import pytest

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.render import FORMATS, View, renderer
from agentmux_compiler.render.paint import Paint
from agentmux_compiler.report import (
    Advice,
    Break,
    BuildReport,
    Change,
    DiffReport,
    FileStatus,
    PlanDiff,
    Scenario,
    TextKept,
    summarise,
)
from agentmux_compiler.rules import (
    ALSO_READ,
    NOT_WRITABLE,
    STALE_OUTPUT,
    UNDEFINED_VARIABLE,
    UNKNOWN_FIELD,
    UNKNOWN_SKILL,
    UNREADABLE_BASELINE,
    UNUSED_BUNDLE,
)

SOURCES = {
    "agents.d/reviewer.yaml": (
        "display: Code Reviewer\n"
        "effort: high\n"
        "bundles:\n"
        "  - house-style\n"
        "  - security\n"
        "skills:\n"
        "  - web-serch\n"
        "\tmdoel: opus\n"
    ),
    "bundles/日本語.md": "見出し「{{AGNET}}」と絵文字👩‍💻の行\n\x1b[31mred\u202e\n",
}

DIAGNOSTICS = (
    UNKNOWN_SKILL.at(
        Span("agents.d/reviewer.yaml", 7, 5, 7, 14),
        "skill `web-serch` does not exist",
        help="did you mean `web-search`?",
        notes=["skills are read from `skills/`"],
    ),
    UNKNOWN_FIELD.at(Span("agents.d/reviewer.yaml", 8, 2, 8, 7), "unknown field `mdoel`", help="did you mean `model`?"),
    UNDEFINED_VARIABLE.at(Span("bundles/日本語.md", 1, 5, 1, 14), "no variable is called `AGNET`"),
    UNDEFINED_VARIABLE.at(Span("bundles/日本語.md", 2, 6), "no variable is called `\x1b]0;owned\x07`"),
    UNUSED_BUNDLE.at(Span("bundles/old.md"), "no agent lists the bundle `old`"),
    ALSO_READ.at(None, "100%: the CLI also reads `~/.claude/CLAUDE.md`", notes=["first line\nsecond line"]),
)


def text_kept(total, kept):
    return TextKept(4 * total, 4 * kept, total, kept, "o200k_base", 15.0)


def plan(agent, provider, verdict, text, **more):
    return PlanDiff(agent, provider, "anthropic", "anthropic", "opus", "high", "2.1.332", verdict, text, **more)


def reordered(*, masked):
    return Change(
        "reordered", "instructions", "bundles/security.md", "agents.d/reviewer.yaml", 5, masked, "AMX502", 5, ""
    )


PLANS = (
    plan(
        "reviewer",
        "claude",
        "broken",
        text_kept(6497, 1830),
        first_break=Break(
            "instructions",
            "bundles/security.md",
            "agents.d/reviewer.yaml",
            5,
            7320,
            "## House style\n",
            "## Security\n",
        ),
        changes=(reordered(masked=False), reordered(masked=True), reordered(masked=True)),
        own=text_kept(5000, 333),
        scenarios={
            "relaunch": Scenario(6144, 1024, 5120, 12, 0.0256, 1.5),
            "new_prompt": Scenario(1024, 1024, 0, 12, 0.0, 0.0),
            "resume": Scenario(6144, 6144, 0, 4700, 0.0, 0.0),
        },
        usd_per_day=0.512,
        price_as_of="2026-11-10",
        ttl="5m",
        certainty="documented, an upper bound",
        advice=(
            Advice("list them in the accepted order", 5120, "relaunch"),
            Advice("make it together with the next upgrade", 5000, "relaunch"),
        ),
        prefill_rate=3400.0,
    ),
    plan(
        "reviewer",
        "codex",
        "broken",
        text_kept(16497, 11830),
        first_break=Break(
            "user", "bundles/security.md", "agents.d/reviewer.yaml", 5, 47320, "## House style\n", "## Security\n"
        ),
        changes=(reordered(masked=False), reordered(masked=True)),
        scenarios={name: Scenario(9984, 4992, 4992, 0, 0.002, None) for name in ("relaunch", "new_prompt", "resume")},
        price_as_of="2026-11-10",
        ttl="24h",
        certainty="documented",
        advice=(Advice("list them in the accepted order", 4992, "relaunch"),),
    ),
    plan("reviewer", "gemini", "kept", text_kept(900, 900), changes=(reordered(masked=True),)),
    plan(
        "tester",
        "claude",
        "broken",
        text_kept(6497, 6497),
        first_break=Break("key", "effort", "agents.d/tester.yaml", 2, 0, "high", "low"),
        changes=(
            Change("effort", "key", "effort", "agents.d/tester.yaml", 2, False, "AMX503", 9, "`high` became `low`"),
            Change("edited", "key", "bundles/a.md", "bundles/a.md", 3, False, "AMX501", 1, ""),
        ),
    ),
    plan(
        "tester",
        "codex",
        "broken",
        text_kept(3, 2),
        first_break=Break("user", "bundles/b.md", "bundles/b.md", 9, 10, "end \n", "end\t\n"),
        changes=(Change("whitespace", "user", "bundles/b.md", "bundles/b.md", 9, False, "AMX504", 4, ""),),
    ),
    plan("tester", "gemini", "unchanged", text_kept(12, 12)),
    plan("writer", "claude", "new", text_kept(12, 0)),
    plan("writer", "codex", "removed", text_kept(0, 0)),
)

STALE_BASE = UNREADABLE_BASELINE.at(Span("snapshots/reviewer/claude.txt", 3), "a merge conflict stands in a snapshot")
DIFF = DiffReport("snapshots", PLANS, summarise(PLANS), (STALE_BASE,))
FILES = (
    FileStatus(".agentmux/agents/tester/codex/AGENTS.md", "removed", 0, None),
    FileStatus("AGENTS.md", "unchanged", 7, "8" * 64),
    FileStatus("CLAUDE.md", "written", 1234, "0" * 64),
)
WARNED = DiffReport("snapshots", PLANS, summarise(PLANS))
BUILD = BuildReport((DIAGNOSTICS[4],), FILES, WARNED)
VIEW = View(SOURCES.get, Paint(), "agentmux build --accept")


@pytest.mark.parametrize("name", FORMATS)
def test_diagnostics(name, snapshot):
    assert renderer(name).diagnostics(DIAGNOSTICS, VIEW) == snapshot


@pytest.mark.parametrize("name", FORMATS)
def test_build(name, snapshot):
    assert renderer(name).build(BUILD, VIEW) == snapshot


@pytest.mark.parametrize("name", FORMATS)
def test_diff(name, snapshot):
    assert renderer(name).diff(DIFF, VIEW) == snapshot


@pytest.mark.parametrize("name", FORMATS)
def test_a_failed_build_shows_errors_and_no_prefixes(name, snapshot):
    report = BuildReport(DIAGNOSTICS, (), DiffReport("snapshots", (), summarise(())))
    assert renderer(name).build(report, VIEW) == snapshot


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_changed(name, snapshot):
    plans = tuple(plan("tester", each, "unchanged", text_kept(9, 9)) for each in ("claude", "codex"))
    report = BuildReport((), FILES[1:2], DiffReport("snapshots", plans, summarise(plans)))
    assert renderer(name).build(report, VIEW) == snapshot


def test_a_check_says_what_a_build_would_write(snapshot):
    files = (FileStatus("CLAUDE.md", "would-write", 9, "0" * 64), FileStatus("old.md", "would-remove", 0, None))
    stale = STALE_OUTPUT.at(Span("CLAUDE.md"), "`CLAUDE.md` is not what a build gives", help="run `agentmux build`")
    report = BuildReport((stale,), files, DiffReport("snapshots", (), summarise(())))
    assert renderer("full").build(report, VIEW) == snapshot


@pytest.mark.parametrize(
    ("statuses", "done"),
    [
        (["written", "removed", "written"], "not all was done: 2 files written and 1 file removed"),
        (["would-write", "unchanged"], "nothing was written"),
    ],
)
def test_a_failure_says_what_was_done_before_it(statuses, done):
    files = tuple(FileStatus(f"{name}.md", status, 0, None) for name, status in enumerate(statuses))
    fault = NOT_WRITABLE.at(Span("CLAUDE.md"), "no")
    out = renderer("full").build(BuildReport((fault,), files, DiffReport("snapshots", (), summarise(()))), View(str))
    assert out.endswith(f"1 error; {done}\n")


def test_many_plans_are_folded(snapshot):
    change = Change("edited", "user", "bundles/a.md", "bundles/a.md", 3, False, "AMX501", 1, "")
    plans = tuple(plan(f"agent{n}", "claude", "broken", text_kept(10, n % 10), changes=(change,)) for n in range(40))
    fresh = tuple(plan(f"new{n}", "codex", "new", text_kept(10, 0)) for n in range(15))
    report = DiffReport("git:HEAD~1", plans + fresh, summarise(plans + fresh))
    assert renderer("full").diff(report, View()) == snapshot


def test_colour_changes_no_text():
    painted = renderer("full").build(BUILD, View(SOURCES.get, Paint(color=True), "agentmux build --accept"))
    plain = renderer("full").build(BUILD, VIEW)
    assert painted != plain
    assert "".join(part.partition("m")[2] if n else part for n, part in enumerate(painted.split("\x1b["))) == plain


@pytest.mark.parametrize("name", ["json", "sarif"])
def test_machine_formats_keep_every_character(name):
    text = renderer(name).diagnostics(DIAGNOSTICS, VIEW)
    assert "no variable is called `\x1b]0;owned\x07`" in str(json.loads(text)).encode().decode("unicode_escape")
    assert "\x1b" not in text


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_lets_a_source_drive_the_terminal(name):
    text = renderer(name).diagnostics(DIAGNOSTICS, VIEW)
    assert not set(text) & {"\x1b", "\x07", "\u202e"}


def test_an_unknown_format_is_refused():
    with pytest.raises(KeyError):
        renderer("xml")
