from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.live.question import MOST, question
from agentmux_compiler.render.visible import cells
from agentmux_launcher.events import Permission, PermissionOption

ONCE = PermissionOption("allow_once", "allow_once", "allow once")
ALWAYS = PermissionOption("allow_always", "allow_always", "allow from now on")
KEYS = "  y once · n [reason] no"


def asked(tool, given, width=60, options=(ONCE,), reason=None):
    return [line.plain for line in question(Permission("p", options, None, tool, "t", given, reason), width)]


def test_a_command_is_shown_whole_with_all_that_comes_with_it():
    given = {"command": "touch x\n\x1b[2Jrm y", "description": "d", "run_in_background": True}
    assert asked("Bash", given, options=(ONCE, ALWAYS), reason="because") == [
        "? Bash wants to run",
        "  │ touch x",
        "  │ \\x1b[2Jrm y",
        "  │ run_in_background: true",
        "  │ because",
        "  y once · a always in this session · n [reason] no",
    ]


@pytest.mark.parametrize(
    ("option", "key"),
    [
        (ALWAYS, "a always in this session"),
        (PermissionOption("1", "allow_always", "Allow in\nproject: echo *"), "a always: Allow in\\nproject: echo *"),
        (PermissionOption("1", "allow_always", ""), "a always in this session"),
        (PermissionOption("1", "allow_always", "long " * 9), "a always: long long long long long long l…"),
    ],
)
def test_what_is_granted_for_longer_is_said_in_the_words_of_its_cli(option, key):
    assert asked("Bash", {"command": "ls"}, options=(ONCE, option))[-1] == f"  y once · {key} · n [reason] no"


def test_an_edit_is_shown_as_a_change():
    given = {"file_path": "a.py", "old_string": "one\ntwo\nthree", "new_string": "one\n2\nthree", "replace_all": True}
    assert asked("Edit", given) == [
        "? Edit wants to run",
        "  │ a.py",
        "  │ @@ -1,3 +1,3 @@",
        "  │  one",
        "  │ -two",
        "  │ +2",
        "  │  three",
        "  │ replace_all: true",
        KEYS,
    ]


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        ({"path": "n", "content": "new"}, ["  │ n", "  │ +new"]),
        ({"path": "n", "content": "one\ntwo\n"}, ["  │ n", "  │ +one", "  │ +two"]),
        ({"edits": [{"oldText": "a", "newText": "b"}]}, ["  │ @@ -1 +1 @@", "  │ -a", "  │ +b"]),
        ({"old_string": "a\n", "new_string": "b\n"}, ["  │ @@ -1 +1 @@", "  │ -a", "  │ +b"]),
        ({"old_string": "a", "new_string": "a\n"}, ["  │ @@ -1 +1,2 @@", "  │  a", "  │ +"]),
        ({"url": "http://x"}, ["  │ {", '  │  "url": "http://x"', "  │ }"]),
        ("words", ["  │ words"]),
        (None, []),
        ({"changes": [{"path": "a", "newText": "b"}]}, ["  │ a", "  │ +b"]),
    ],
)
def test_other_inputs(given, rows):
    assert asked("Tool", given) == ["? Tool wants to run", *rows, KEYS]


def test_what_has_no_place_is_said_aloud():
    rows = asked("Bash", {"command": "\n".join(f"line {number}" for number in range(200))})

    assert len(rows) == MOST + 3
    assert rows[-2] == "  │ … 1,080 more characters in 140 lines"


def test_an_enormous_change_is_not_compared():
    old = "\n".join(map(str, range(3_000)))
    assert len(asked("Edit", {"file_path": "a", "old_string": old, "new_string": "x"})) == MOST + 3


def test_a_plan_and_questions_of_the_cli():
    assert asked("ExitPlanMode", {"plan": "1. one\n2. two"})[:3] == [
        "? leave plan mode and do this?",
        "  │ 1. one",
        "  │ 2. two",
    ]
    given = {"questions": [{"question": "Which\nway?", "options": [{"label": "left"}, "right"]}, {"question": "Why?"}]}
    assert asked("AskUserQuestion", given) == [
        "? Which ⏎ way?",
        "  │ 1. left",
        "  │ 2. right",
        "? Why?",
        "  numbers (1,2) or your own words · ; between answers",
    ]


@given(st.text(), st.text(), st.integers(20, 100))
def test_nothing_that_is_asked_leaves_its_bar(tool, command, width):
    title, *rows, _ = asked(tool, {"command": command}, width=width)

    assert [row[:4] for row in rows] == ["  │ "] * len(rows)
    assert max(cells(row) for row in (title, *rows)) < width
