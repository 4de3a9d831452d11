from __future__ import annotations

import json

import pytest

from agentmux_launcher.codec import to_json
from agentmux_launcher.recorder import Answer, Failure, Match, Script, ServedUsage, ToolCall, Turn
from agentmux_launcher.recorder.answers import letters, split
from agentmux_launcher.recorder.script import ScriptError, choose, loads


def test_a_script_is_read_from_json():
    text = """
    {
      "turns": [
        {"answer": {"thinking": "hm", "tool_calls": [{"name": "Bash", "arguments": {"command": "ls"}}]}},
        {"answer": {"failure": {"kind": "rate_limited", "retry_after": 2}}, "match": {"body": "again"}, "times": 3},
        {"answer": {"text": "x", "delay": 1, "cut_after": 1, "usage": {"input_tokens": 5}}, "times": null}
      ],
      "default": {"text": "done"},
      "side": {"title": {"text": "T"}}
    }
    """

    assert loads(text) == Script(
        (
            Turn(Answer(thinking="hm", tool_calls=(ToolCall("Bash", {"command": "ls"}),))),
            Turn(Answer(failure=Failure("rate_limited", retry_after=2)), Match(body="again"), 3),
            Turn(Answer(text="x", delay=1.0, cut_after=1, usage=ServedUsage(input_tokens=5)), times=None),
        ),
        Answer(text="done"),
        {"title": Answer(text="T")},
    )


def test_a_script_survives_being_written_and_read():
    script = Script((Turn(Answer(text="a", size=3, tool_calls=(ToolCall("t", {"k": [1, {"x": None}]}),))),))

    assert loads(json.dumps(to_json(script))) == script


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "script cannot be read: Expecting property name"),
        ("[]", "script cannot be read: 'list' object has no attribute 'items'"),
        ('{"turns": [{}]}', "script cannot be read: "),
        ('{"turns": [{"answer": {"text": 3}}]}', "script cannot be read: expected str, found int"),
        ('{"turns": [{"answer": {"txt": "a"}}]}', "script has an unknown field `turns.0.answer.txt`"),
        ('{"side": {"title": {"wrong": 1}}}', "script has an unknown field `side.title.wrong`"),
        ('{"default": {"failure": {"kind": "boom"}}}', "script has an unknown failure `boom`; known are "),
    ],
)
def test_a_wrong_script_says_what_is_wrong(text, message):
    with pytest.raises(ScriptError) as caught:
        loads(text)

    assert str(caught.value).startswith(message)


def test_the_first_unused_turn_that_matches_is_chosen():
    script = Script((Turn(Answer(), Match(model="a")), Turn(Answer(), Match(path="/x"), 2), Turn(Answer())))

    assert choose(script, [0, 0, 0], "/x", "", "a") == 0
    assert choose(script, [1, 0, 0], "/x", "", "a") == 1
    assert choose(script, [1, 2, 0], "/x", "", "a") == 2
    assert choose(script, [1, 2, 1], "/x", "", "a") is None


def test_a_text_is_split_without_loss():
    assert split("abcde", 2) == ["abc", "de"]
    assert split("ab", 9) == ["a", "b"]
    assert split("ab", 0) == ["ab"]
    assert split("", 3) == []


def test_letters_are_many_plain_and_the_same_every_time():
    assert letters(5) == letters(5)
    assert len(letters(100_000)) == 100_000
    assert letters(100_000).isascii()
    assert letters(100_000).isalpha()
    assert Answer(text="a", size=2).full_text == "a" + letters(2)
