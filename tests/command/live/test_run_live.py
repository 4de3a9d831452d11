"""`agentmux run` and `tail` at a real terminal, with the stand-in."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")

RECORDINGS = Path(__file__).parents[2] / "launcher" / "fixtures" / "frames"
COMMON = {"session_id": "s", "parent_tool_use_id": None}
INIT = {"type": "system", "subtype": "init", "model": "claude-sonnet-5-5", "mcp_servers": [], **COMMON}
FIGURES = {"input_tokens": 12, "cache_read_input_tokens": 17_000, "cache_creation_input_tokens": 3_000}
PARAGRAPH = "A paragraph that is long enough for a terminal to fold it, more than once on a narrow one, **as it is**. "
EDIT = {"file_path": "a.py", "old_string": "one\ntwo\n", "new_string": "one\n2\n"}
RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "",
    "stop_reason": "end_turn",
    "usage": {**FIGURES, "output_tokens": 50},
    "total_cost_usd": 0.0189,
    "modelUsage": {
        "claude-sonnet-5-5": {
            "inputTokens": 12,
            "outputTokens": 50,
            "cacheReadInputTokens": 17_000,
            "cacheCreationInputTokens": 3_000,
            "contextWindow": 200_000,
        }
    },
    **COMMON,
}
LINE = {"read": "line"}
ALL = {"read": "all"}
TIME = re.compile(r"\d+\.\d s|\d:\d\d")


def stream(*events):
    return {"frames": [{"type": "stream_event", "event": event, **COMMON} for event in events]}


def start(name):
    usage = {**FIGURES, "output_tokens": 1}
    return {"type": "message_start", "message": {"id": name, "model": "claude-sonnet-5-5", "usage": usage}}


def pieces(kind, text, index=0, size=7):
    field = {"text": "text", "thinking": "thinking"}[kind]
    cut = [text[at : at + size] for at in range(0, len(text), size)]
    yield {"type": "content_block_start", "index": index, "content_block": {"type": kind, field: ""}}
    for piece in cut:
        yield {"type": "content_block_delta", "index": index, "delta": {"type": f"{kind}_delta", field: piece}}
    yield {"type": "content_block_stop", "index": index}


def call(name, tool, given, index=1):
    block = {"type": "tool_use", "id": name, "name": tool, "input": given}
    yield {"type": "content_block_start", "index": index, "content_block": block}
    yield {"type": "content_block_stop", "index": index}


def end():
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 25}}
    yield {"type": "message_stop"}


def result(name, text, *, failed=False):
    block = {"type": "tool_result", "tool_use_id": name, "content": text, "is_error": failed}
    return {"frames": [{"type": "user", "message": {"content": [block]}, **COMMON}]}


def ask(tool, given):
    asked = {"subtype": "can_use_tool", "tool_name": tool, "input": given, "tool_use_id": "t3"}
    return {"frames": [{"type": "control_request", "request_id": "r1", "request": asked}]}


def said(text, name="m9"):
    return stream(start(name), *pieces("text", text), *end())


TURN = [
    LINE,
    {"frames": [INIT]},
    stream(start("m1"), *pieces("thinking", "The person wants a review."), *pieces("text", PARAGRAPH * 2, 1)),
    stream(
        *pieces("text", "\x1b[2J[red]no markup[/red]\n\n- one\n\t- two", 2), *call("t1", "Bash", {"command": "ls"}, 3)
    ),
    stream(*call("t2", "Read", {"file_path": "a.py"}, 4), *end()),
    {"sleep": 0.3},
    result("t2", "content"),
    result("t1", "\n".join(f"line {number}" for number in range(20)), failed=True),
    stream(start("m2"), *pieces("text", "Let me fix it."), *call("t3", "Edit", EDIT), *end()),
    ask("Edit", EDIT),
    LINE,
    result("t3", "edited"),
    said("# Done\n\nAll of it."),
    {"frames": [RESULT]},
    ALL,
]


def steady(lines):
    """Without what differs from run to run."""
    return "\n".join(TIME.sub("T", line) for line in lines)


@pytest.mark.parametrize("width", [100, 40])
def test_a_turn_with_everything_in_it(shell, terminal, snapshot, width):
    shell.script(TURN)
    here = terminal("run", "reviewer", "Hello", width=width)
    here.sees("[reason] no\n> ")
    assert steady(here.paper.screen) == snapshot(name=f"{width} columns, the question")
    here.until(lambda: here.echoes)
    here.types("y\n")

    assert here.ends() == 0
    assert steady(here.paper.lines) == snapshot(name=f"{width} columns, what stays")
    assert json.loads(shell.notes()["stdin"][1])["response"]["response"]["behavior"] == "allow"
    assert here.echoes
    assert b"\x1b[1;33m" in here.raw


def test_the_status_line_while_it_streams(shell, terminal):
    shell.script(
        [LINE, {"frames": [INIT]}, stream(start("m1"), *pieces("text", "Half a")), {"sleep": 3}, said(""), ALL]
    )
    here = terminal("run", "reviewer", "Hello", width=100)
    here.sees("Half a")
    here.until(lambda: re.search(r"0:0[1-9]", here.paper.screen[-1]))
    assert not here.echoes
    assert steady(here.paper.screen) == (
        "Half a\n reviewer · claude · claude-sonnet-5-5 · context -/- - · cache - · $- · T"
    )


def test_what_was_typed_before_a_question_does_not_answer_it(shell, terminal):
    given = {"command": "touch x"}
    asked = [{"frames": [INIT]}, said("Let me."), {"sleep": 1.0}, ask("Bash", given), LINE]
    shell.script([LINE, *asked, {"frames": [RESULT]}, ALL])
    here = terminal("run", "reviewer", "Hello")
    here.sees("Let me.")
    here.types("y\n")
    here.sees("[reason] no\n> ")
    here.until(lambda: here.echoes)
    here.types("n not yet\n")

    assert here.ends() == 0
    response = json.loads(shell.notes()["stdin"][1])["response"]["response"]
    assert response == {"behavior": "deny", "message": "not yet"}


def test_who_leaves_at_a_question_is_asked_no_other(shell, terminal):
    asked = [ask("Bash", {"command": f"touch {name}"}) for name in "xyz"]
    answered = [step for question in asked for step in (question, LINE)]
    shell.script([LINE, {"frames": [INIT]}, *answered, said("Then not."), {"frames": [RESULT]}, ALL])
    here = terminal("run", "reviewer", "Hello")
    here.sees("[reason] no\n> ")
    here.until(lambda: here.echoes)
    here.types("\x04")

    assert here.ends() == 5
    said_no = [json.loads(line)["response"]["response"]["behavior"] for line in shell.notes()["stdin"][1:4]]
    assert said_no == ["deny", "deny", "deny"]


def test_lines_that_are_pasted_are_one_turn(shell, terminal):
    shell.script([LINE, {"frames": [INIT]}, said("Both."), {"frames": [RESULT]}, ALL])
    here = terminal("run", "reviewer", width=100)
    here.until(lambda: here.paper.lines == ["> "] and here.echoes)
    here.types("first\n\tsecond\n")
    here.sees("Both.")
    here.until(lambda: here.echoes)
    here.types("\x04")

    assert here.ends() == 0
    turn = json.loads(shell.notes()["stdin"][0])["message"]["content"][0]["text"]
    assert turn.endswith("\n\nfirst\n\tsecond")
    assert here.paper.lines[:3] == ["> first", "\tsecond", "Both."]


def test_a_failure_ends_it(shell, terminal, snapshot):
    recording = (RECORDINGS / "claude" / "err401.jsonl").read_text(encoding="utf-8")
    shell.script([LINE, {"text": recording}, {"exit": 1}])
    here = terminal("run", "reviewer", "Hello", width=100)

    assert here.ends() == 1
    assert steady(here.paper.lines) == snapshot


@pytest.mark.parametrize(("words", "variables"), [([], {"NO_COLOR": "1"}), (["--color", "never"], {})])
def test_without_colour_it_reads_the_same(shell, terminal, words, variables):
    shell.env |= variables
    shell.script(TURN)
    here = terminal("run", "reviewer", "Hello", *words, width=100)
    here.until(lambda: "[reason] no" in here.paper.lines[-2:][0] and here.echoes)
    here.types("y\n")

    assert here.ends() == 0
    assert not re.search(rb"\x1b\[[\d;]*m", here.raw)
    assert "• Bash ls  failed T" in steady(here.paper.lines)


@pytest.mark.parametrize("name", ["dumb", ""])
def test_a_terminal_that_cannot_draw_gets_plain_text(shell, terminal, name):
    shell.env["TERM"] = name
    shell.script([LINE, {"frames": [INIT]}, said("An answer."), {"frames": [RESULT]}, ALL])
    here = terminal("run", "reviewer", "Hello")

    assert here.ends() == 0
    assert here.raw.startswith(b"An answer.\r\n")
    assert b"\x1b" not in here.raw


def test_a_resize_in_the_middle_leaves_no_trace(shell, terminal):
    steps = [step for number in range(8) for step in (said(f"{number} {PARAGRAPH}", f"m{number}"), {"sleep": 0.25})]
    shell.script([LINE, {"frames": [INIT]}, *steps, {"frames": [RESULT]}, ALL])
    here = terminal("run", "reviewer", "Hello", width=100)
    for number, size in enumerate([(47, 12), (33, 24), (120, 10), (61, 30)]):
        here.sees(f"{2 * number} A paragraph")
        here.settles()
        here.resize(*size)

    assert here.ends() == 0
    *answer, closing, after = here.paper.lines
    assert answer == [f"{number} {PARAGRAPH}" for number in range(8)]
    assert (closing[:9], after) == ("1 turn · ", "")


def test_a_chat_its_interrupt_and_its_end(shell, terminal):
    interrupted = [{"frames": [{**RESULT, "subtype": "error_during_execution", "is_error": True}]}, ALL]
    shell.script(
        [LINE, {"frames": [INIT]}, stream(start("m1"), *pieces("text", "On and on")), LINE, LINE, *interrupted]
    )
    here = terminal("run", "reviewer", width=100)
    here.until(lambda: here.paper.lines == ["> "] and here.echoes)
    here.types("first\n")
    here.sees("On and on")
    here.until(lambda: not here.echoes)
    here.types("second\n")
    here.sees("> second")
    here.types("\x03")
    here.until(lambda: here.echoes)
    here.types("\x03")

    assert here.ends() == 128 + signal.SIGINT
    frames = [json.loads(line) for line in shell.notes()["stdin"][1:3]]
    assert frames[0]["message"]["content"][0]["text"] == "second"
    assert frames[1]["request"] == {"subtype": "interrupt"}
    assert here.paper.lines[:3] == ["> first", "On and on", "> second"]
    assert [line[:3] for line in here.paper.lines].count("> ^") == 1
    assert here.echoes


def test_tail_shows_a_recording_and_a_run_that_has_ended(shell, terminal):
    shell.script([LINE, {"frames": [INIT]}, said("An answer."), {"frames": [RESULT]}, ALL])
    first = terminal("run", "reviewer", "Hello", width=100)
    assert first.ends() == 0
    (run,) = (shell.project / ".agentmux" / "runs").glob("2*")

    second = terminal("tail", run.name, width=100)
    assert second.ends() == 0
    assert steady(second.paper.lines) == steady(first.paper.lines)
    third = terminal("tail", str(RECORDINGS / "claude" / "tool.jsonl"), "--provider", "claude", width=100)
    assert third.ends() == 0
    assert third.paper.lines == [
        "Calling a tool.",
        "• Bash echo tool-ran  ok",
        "MOCK-ANSWER ok",
        "1 turn · 40,024 tokens in, 50 out · cache 85% · $0.0189 · -",
        "",
    ]


@pytest.mark.parametrize("output", ["text", "json", "raw"])
def test_a_pipe_gets_what_it_always_got_and_never_loads_rich(shell, output):
    words = ["tail", str(RECORDINGS / "claude" / "tool.jsonl"), "--provider", "claude", "--output", output]
    code = "import sys\nfrom agentmux.cli import main\nmain(sys.argv[1:])\nassert 'rich' not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=shell.env, capture_output=True, check=True, timeout=60
    )

    first = done.stdout.splitlines()[0]
    assert first == b"Calling a tool." if output == "text" else json.loads(first)
    assert b"\x1b" not in done.stdout + done.stderr
