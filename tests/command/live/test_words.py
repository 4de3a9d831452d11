from __future__ import annotations

import pytest

from agentmux.live import words
from agentmux_compiler.render.visible import cells
from agentmux_launcher.events import Step


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"command": "ls -la", "description": "list"}, "ls -la"),
        ({"command": "one\n  two\x1b[2J"}, "one ⏎   two\\x1b[2J"),
        ({"command": ["bash", "-c", "a b"]}, "bash -c 'a b'"),
        ({"file_path": "a.py", "limit": 5}, "a.py"),
        ({"other": 1}, '{"other": 1}'),
        ({}, ""),
        ("raw  text", "raw text"),
        (None, "null"),
    ],
)
def test_an_input_in_a_few_words(given, said):
    assert words.brief(given) == said


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize("command", ["ls", "x" * 500, "日" * 300])
def test_a_call_and_its_outcome_stand_in_one_row(width, command):
    line = words.call("Bash", {"command": command}, width)
    line.append_text(words.outcome(ok=True, seconds=1.25, inner=0))

    assert cells(line.plain) < width


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((True, 0.31, 0), "  ok 0.3 s"),
        ((False, 75.0, 1), "  failed 1:15, 1 call"),
        ((None, None, 12), "  done, 12 calls"),
    ],
)
def test_outcomes(arguments, said):
    assert words.outcome(*arguments).plain == said


def test_the_output_of_a_failed_tool_is_bounded():
    assert [line.plain for line in words.output("one\n\ttwo\x1b[1m\n")] == ["    one", "        two\\x1b[1m"]
    long = [line.plain.strip() for line in words.output("\n".join(map(str, range(100))))]
    assert long == ["0", "1", "… 92 more lines", "94", "95", "96", "97", "98", "99"]
    assert len(words.output("x" * 10_000)[0].plain) == 4 + 240
    assert words.output("") == []


def test_a_thought_is_one_row():
    thought = "The person wants\na review " + "x" * 300
    assert words.thought(thought, 40, 1.0).plain == "• thought The person wants a re…  1.0 s"
    assert words.thought(thought, 40, None, last=True).plain == f"• thought …{'x' * 28}"
    assert words.thought("so\x1b[2J", 40, None).plain == "• thought so\\x1b[2J"


def test_a_plan_says_how_far_it_has_come():
    steps = [Step("one", "completed"), Step("two\x1b", "in_progress"), Step("three", "pending")]
    assert words.progress(steps, 80).plain == "• plan: 1 of 3 done, now: two\\x1b"
    assert [line.plain for line in words.steps(steps, 80)] == ["    [x] one", "    [>] two\\x1b", "    [ ] three"]
    assert words.steps([Step("step")] * 20, 80)[-1].plain == "    … 8 more"


def test_a_failure_stands_out():
    card = words.failure("failed (auth): refused: \x1b[31mno")
    assert card.plain == "failed (auth): refused: \\x1b[31mno"
    assert [(span.start, span.end, span.style) for span in card.spans] == [(0, 13, "bold red")]
