"""What a person's line means as an answer, whatever they type and whatever was asked."""

from __future__ import annotations

import pytest

from agentmux_launcher.events import Permission, PermissionOption
from agentmux_launcher.permission import ALLOW, ALWAYS, NO_ANSWER, QUESTION, Decision, from_line

OPTIONS = tuple(PermissionOption(kind, kind, kind) for kind in ("allow_once", "allow_always", "reject_once"))
ASKED = Permission("1", OPTIONS, tool="Bash")
CHOICE = {"question": "Which?", "options": [{"label": "one"}, {"label": "two"}]}


def question(given):
    return Permission("1", (), tool=QUESTION, input=given)


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        ("y", ALLOW),
        (" YES ", ALLOW),
        ("a", ALWAYS),
        ("n", Decision(allows=False, message="The user denied this.")),
        ("n not yet", Decision(allows=False, message="not yet")),
    ],
)
def test_plain_answers(line, decision):
    assert from_line(line, ASKED) == decision


@pytest.mark.parametrize("line", ["", "yy", "yes but not that file", "y\nrm -rf x", "a, no", "ok", "\x1b[A", "1"])
def test_what_is_no_clear_answer_is_asked_again(line):
    assert from_line(line, ASKED) is None


@pytest.mark.parametrize(
    ("line", "answer"),
    [("2", "two"), ("1,2", "one, two"), ("²", "²"), ("9" * 5000, "9" * 5000), ("0", "0"), ("both", "both")],
)
def test_numbers_of_options_or_words_of_ones_own(line, answer):
    assert from_line(line, question({"questions": [CHOICE]})) == Decision(allows=True, answers={"Which?": answer})


@pytest.mark.parametrize("given", [None, [], {}, {"questions": None}, {"questions": 5}, {"questions": ["x"]}])
def test_a_question_without_one_is_answered_with_no(given):
    assert from_line("", question(given)) == Decision(allows=False, message=NO_ANSWER)


@pytest.mark.parametrize("options", [None, 5, ["x"], [{}]])
def test_options_of_another_shape_leave_ones_own_words(options):
    asked = question({"questions": [{"question": "Which?", "options": options}]})

    assert from_line("that", asked) == Decision(allows=True, answers={"Which?": "that"})
