import json
import re
from importlib import resources

import pytest

from agentmux.cli import main
from agentmux_compiler.rules import RULES

HEADINGS = ["What it means", "Why it matters", "Example", "Fix"]


@pytest.fixture
def explain(capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments):
        code = main(["explain", *arguments])
        return (code, *capsys.readouterr())

    return run


def pages():
    folder = resources.files("agentmux_compiler") / "rules"
    return {
        file.name.removesuffix(".md"): file.read_text("utf-8") for file in folder.iterdir() if file.name[-3:] == ".md"
    }


def test_every_rule_has_a_page_and_every_page_a_rule():
    assert sorted(pages()) == sorted(RULES)


@pytest.mark.parametrize("code", sorted(RULES))
def test_a_page_has_its_title_and_the_four_headings(code):
    text = pages().get(code, "")
    assert re.findall(r"^# (.*)$", text.split("\n", 1)[0]) == [f"{code} {RULES[code].name}"]
    assert [line[3:] for line in text.split("\n") if line.startswith("## ")] == HEADINGS
    assert all(part.strip() for part in re.split(r"^#.*$", text, flags=re.MULTILINE)[2:])


@pytest.mark.parametrize("name", ["AMX202", "amx202", "unknown-skill", "Unknown-Skill"])
def test_a_code_or_a_name_prints_the_page(explain, name):
    assert explain(name) == (0, pages()["AMX202"], "")


def test_the_table_has_a_row_per_rule_in_order(explain):
    code, out, err = explain()
    heads, *rows = out.splitlines()
    assert (code, err) == (0, "")
    assert heads.split() == ["CODE", "NAME", "SEVERITY", "SUMMARY"]
    assert [row.split(maxsplit=3) for row in rows] == [
        [rule.code, rule.name, rule.severity.value, rule.summary] for _, rule in sorted(RULES.items())
    ]


def test_one_rule_as_json(explain):
    rule = RULES["AMX202"]
    code, out, err = explain("AMX202", "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "format_version": 1,
        "rules": [
            {
                "code": "AMX202",
                "name": rule.name,
                "severity": "error",
                "summary": rule.summary,
                "page": pages()["AMX202"],
            }
        ],
    }


def test_all_rules_as_json(explain):
    rules = json.loads(explain("--format", "json")[1])["rules"]
    assert [rule["code"] for rule in rules] == sorted(RULES)


def test_an_unknown_name_gets_a_suggestion(explain):
    assert explain("unknown-skil") == (
        2,
        "",
        (
            "error: no diagnostic `unknown-skil`\n"
            "  = help: did you mean `unknown-skill`?\n"
            "  = note: `agentmux explain` lists them\n"
        ),
    )


def test_an_unknown_code_gets_a_suggestion(explain):
    code, out, err = explain("amx40")
    assert (code, out) == (2, "")
    assert "  = help: did you mean `AMX4" in err
