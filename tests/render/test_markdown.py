"""Markdown: what a source holds is shown, and never becomes markup."""

from __future__ import annotations

import re

import pytest

from agentmux_compiler.diagnostics import Span
from agentmux_compiler.render import View
from agentmux_compiler.render.markdown import CAUSES, ROWS, diagnostics, diff, dollars
from agentmux_compiler.render.markup import cell, code, fenced, html, prose
from agentmux_compiler.report import Break, Change, DiffReport, PlanDiff, Scenario, TextKept, summarise
from agentmux_compiler.rules import UNKNOWN_BUNDLE


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("no bundle `a_b`", "no bundle `a_b`"),
        ("*bold* _it_ [a](b) #1 ~x~", r"\*bold\* \_it\_ \[a\](b) \#1 \~x\~"),
        ("<img src=x> & $x$", "&lt;img src=x&gt; &amp; &#36;x&#36;"),
        ("one ` only", "one &#96; only"),
        ("`a` and ` odd", "&#96;a&#96; and &#96; odd"),
        ("see https://example.com or www.example.com", "see https&#58;//example.com or www&#46;example.com"),
        ("\x1b[31m", r"\\x1b\[31m"),
    ],
)
def test_prose(text, markdown):
    assert prose(text) == markdown


@pytest.mark.parametrize(
    ("text", "markdown"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`a``", "``` `a`` ```"), (" a", "`  a `"), ("", ""), ("a\nb", r"`a\nb`")],
)
def test_code(text, markdown):
    assert code(text) == markdown


def test_a_bar_does_not_end_a_cell():
    assert cell("`a|b`") == r"`a\|b`"


def test_html_is_not_markdown():
    assert html("a_b <b> `c`") == "a_b &lt;b&gt; &#96;c&#96;"


def test_a_block_of_code_ends_only_where_it_should():
    assert fenced(["- ```", "+ x"], "diff") == ["````diff", "- ```", "+ x", "````"]


def test_a_hostile_name_stays_text():
    found = UNKNOWN_BUNDLE.at(Span("agents.d/a|b.yaml", 3), "bundle `</summary><script>` does not exist")
    assert diagnostics([found], View()) == (
        "- **error** AMX201 `agents.d/a|b.yaml:3`: bundle `</summary><script>` does not exist\n"
    )


def broken(number: int, **more) -> PlanDiff:
    change = Change("edited", "user", f"bundles/{number}|.md", f"bundles/{number}.md", 3, False, "AMX501", 1, "")
    text = TextKept(40, 20, 10, 5, "o200k_base", 0.0)
    first = Break("user", change.segment, change.path, 3, 20, "```\nold", "```\nnew")
    fields = {"first_break": first, "changes": (change,), **more}
    return PlanDiff(f"agent{number}", "claude", "anthropic", "anthropic", None, None, "2", "broken", text, **fields)


def test_many_plans_and_causes_are_counted_rather_than_listed():
    plans = tuple(broken(number) for number in range(ROWS + 20))
    text = diff(DiffReport("git:main", plans, summarise(plans)), View())

    assert len(re.findall(r"^\| agent\d", text, flags=re.MULTILINE)) == ROWS
    assert f"And 20 more plans; {5 * (ROWS + 20)} tokens lost in all {ROWS + 20}.\n" in text
    assert text.count("<details>") == text.count("</details>") == CAUSES
    assert f"And {ROWS + 20 - CAUSES} more causes.\n" in text
    assert len(text) < 65536


def test_a_table_row_has_as_many_cells_as_its_head():
    priced = broken(1, scenarios={"resume": Scenario(9, 1, 8, 0, 1234.5, None)}, usd_per_day=0.5, ttl="5m")
    plans = (broken(0), priced)
    text = diff(DiffReport("snapshots", plans, summarise(plans)), View())
    rows = [line for line in text.splitlines() if line.startswith("|")]

    assert "| $1,234.50, $0.5000 a day |" in text
    assert "An entry of the cache lives 5m; after that nothing is lost.\n" in text
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in rows] == [8, 8, 8, 8, 9, 9, 9]


@pytest.mark.parametrize(("usd", "text"), [(None, ""), (0, "$0.0000"), (0.02561, "$0.0256"), (1, "$1.00")])
def test_dollars(usd, text):
    assert dollars(usd) == text
