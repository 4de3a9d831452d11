"""The live view on a terminal that is drawn here, at a time that is told here."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agentmux.launch.run_host import About
from agentmux.live import view as live
from agentmux.streams import Stream
from agentmux_launcher.events import (
    Compaction,
    Cost,
    End,
    Failure,
    FailureClass,
    Mode,
    Notice,
    Permission,
    PermissionOption,
    Plan,
    Retry,
    Session,
    Step,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)

ONCE = PermissionOption("allow_once", "allow_once", "allow once")
CALL = Usage("call", 12, 17_000, 3_000, 0, 25, context_tokens=20_012, model="sonnet", message_id="m1")
TURN = Usage("turn", 12, 17_000, 3_000, 0, 25, 0, context_window=200_000)
STATUS = " reviewer · claude · opus · context -/- - · cache - · $- · 0:00"


class Person:
    """Whoever sits there; `echo` is what their terminal was last told."""

    def __init__(self):
        self.shown = True

    def echo(self, *, on):
        self.shown = on


class Run:
    """A live view, its terminal, and its clock."""

    def __init__(self, paper, monkeypatch, *, color=False, chat=False):
        self.now = 100.0
        monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=lambda: self.now))
        self.paper = paper
        self.person = Person()
        self.writes = 0
        about = About("claude", "reviewer", "opus", lambda: self.now - 100, lambda: self.now)
        file = SimpleNamespace(write=self._write, flush=lambda: None)
        self.view = live.LiveView(Stream(file, color), about, lambda: (paper.width, paper.height))
        self.view.attend(self.person, chat=chat)

    def _write(self, text):
        self.writes += 1
        self.paper.feed(text.replace("\n", "\r\n"))

    def __call__(self, *events, after=0.0):
        """What happens, and what comes due until the next."""
        for event in events:
            self.view.event(event)
        end = self.now + after
        while (due := self.view.remaining()) is not None and self.now + due <= end:
            self.now += due
            self.view.tick()
        self.now = end

    @property
    def screen(self):
        return self.paper.screen


@pytest.fixture
def run(paper, monkeypatch):
    """A function that makes a view on a terminal of some size."""

    def make(width=90, height=24, **more):
        return Run(paper(width, height), monkeypatch, **more)

    return make


def test_the_status_line_stands_there_before_anything_is_said(run):
    here = run()
    here(after=0.0)
    assert here.screen == [STATUS]
    here(after=61.0)
    assert here.screen == [STATUS.replace("0:00", "1:01")]


def test_the_answer_streams_above_the_status_line_and_stays_as_it_was_written(run):
    here = run()
    here(Text("# One\n\n[red]two[/red] ", "m"), after=0.2)
    assert here.screen == ["# One", "", "[red]two[/red]", STATUS]
    here(Text("more\x1b[2J\u202e", "m"), Text("\tand\n", "m"), Text("end", "m"), End("end_turn"), after=0.2)
    here.view.close()

    assert here.paper.lines == [
        "# One",
        "",
        "[red]two[/red] more\\x1b[2J<U+202E>\tand",
        "end",
        "1 turn · - tokens in, - out · cache - · $- · 0:00",
        "",
    ]
    assert not here.paper.styled


def test_an_end_of_a_line_in_two_halves_is_one(run):
    here = run()
    here(Text("one\r", "m"), after=1)
    here(Text("\ntwo", "m"), after=1)
    here.view.close()

    assert here.paper.lines[:2] == ["one", "two"]


def test_messages_stand_on_lines_of_their_own_and_what_sub_agents_say_is_folded(run):
    here = run()
    here(Text("one", "m1"), Text("aside", "m2", "t"), Thinking("hm", "m2", "t"), Text("two", "m3"))
    here.view.close()

    assert here.paper.lines[:2] == ["one", "two"]


def test_a_tool_is_a_row_below_while_it_runs_and_a_line_once_it_has(run):
    here = run()
    here(Text("Looking.", "m"), ToolCall("t", "Bash", {"command": "ls"}), after=2.5)
    assert here.screen == ["Looking.", "• Bash ls  0:02", STATUS.replace("0:00", "0:02")]

    here(ToolResult("t", ok=True, output="a lot"), Text("Done.", "m"), after=0.2)
    assert here.screen == ["Looking.", "• Bash ls  ok 2.5 s", "Done.", STATUS.replace("0:00", "0:02")]


def test_tools_beside_each_other_are_lines_in_the_order_in_which_they_end(run):
    here = run()
    here(ToolCall("t1", "Read", {"path": "a"}), ToolCall("t2", "Read", {"path": "b"}), after=1)
    assert here.screen[0] == "• Read a  0:01, 1 more"
    here(ToolResult("t2", ok=None, output=""), after=1)
    here(ToolResult("t1", ok=False, output="no\x1b[2J\nsuch file"), ToolResult("t3", ok=True, output=""), after=1)

    assert here.screen[:5] == [
        "• Read b  done 1.0 s",
        "• Read a  failed 2.0 s",
        "    no\\x1b[2J",
        "    such file",
        "• tool  ok",
    ]


def test_what_a_sub_agent_calls_is_counted(run):
    here = run()
    here(ToolCall("a", "Agent", {"description": "look"}))
    for number in range(3):
        here(ToolCall(f"t{number}", "Read", {}, "a"), ToolResult(f"t{number}", ok=True, output="", parent="a"))
    here(ToolCall("deep", "Read", {}, "t1"), after=1)
    assert here.screen[0] == "• Agent look  0:01, 4 calls"

    here(ToolResult("a", ok=True, output=""), after=1)
    here(ToolCall("late", "Bash", {"command": "ls"}, "a"), ToolResult("late", ok=True, output="", parent="a"), after=1)
    assert here.screen[:2] == ["• Agent look  ok 1.0 s, 4 calls", "  ◦ Bash ls  ok 0.0 s"]


def test_a_call_without_a_result_says_so_at_the_end_of_the_turn(run):
    here = run()
    here(ToolCall("t", "Bash", {"command": "ls"}), Text("so", "m"), End("interrupted"), after=1)

    assert here.screen[:2] == ["so", "• Bash ls  no result"]


def test_a_thought_is_folded(run):
    here = run()
    here(Text("one ", "m"), Thinking("I should ", "m"), Thinking("look\ncloser", "m"), after=1.5)
    assert here.screen[:2] == ["one", "• thought I should look closer  1.0 s"]
    here(Text("two", "m"), after=1)

    assert here.screen[:3] == ["one", "• thought I should look closer  1.5 s", "two"]


def test_everything_else_is_a_dim_line_and_a_failure_its_card(run):
    here = run(120, color=True)
    here(
        Session("s", "sonnet"),
        Retry(1, 529, 500, "overloaded"),
        Compaction("auto", 180_000, 20_000),
        Notice("\x1b]0;title\x07words", "stderr"),
        Unknown({"type": "new"}),
        Mode("plan"),
        Permission("p", (), "reject_once", "Bash", "t", None, "not here"),
        Plan((Step("one", "in_progress"), Step("two"))),
        Plan((Step("one", "completed"), Step("two"))),
        Plan(),
        End("max_tokens"),
        Failure(FailureClass.AUTH, "the credentials were refused", "Invalid API key"),
        after=1,
    )
    here.view.close()

    assert here.paper.lines[:-2] == [
        "asking again in 500 ms: 529 overloaded",
        "conversation compacted (auto): 180,000 to 20,000 tokens",
        "\\x1b]0;title\\x07words",
        'unknown frame: {"type": "new"}',
        "mode: plan",
        "  Bash: denied: not here",
        "• plan: 0 of 2 done, now: one",
        "    [>] one",
        "    [ ] two",
        "• plan: 1 of 2 done",
        "the turn ended: max_tokens",
        "failed (auth): the credentials were refused: Invalid API key",
    ]
    assert here.paper.styled


def test_a_context_near_its_end_is_warned_of_once(run):
    here = run()
    near = Usage("call", 12, 168_000, 0, 0, 25, context_tokens=168_012, message_id="m2")
    here(CALL, TURN, End("end_turn"), near, Text("a", "m"), Cost(0.5), Text("b", "m"), after=1)

    assert here.screen == [
        "context 168k of 200k: the CLI will soon compact the conversation",
        "ab",
        " reviewer  claude  opus  168k/200k 84%, compacts soon  cache 100%  $0.5000  0:01",
    ]


def test_a_question_is_asked_with_nothing_below_and_what_it_took_is_not_the_tools_time(run):
    here = run()
    asked = Permission("p", (ONCE,), None, "Bash", "t", {"command": "touch x"})
    here(Text("Let me.", "m"), ToolCall("t", "Bash", {"command": "touch x"}), asked, after=1)
    assert not here.person.shown
    here.view.question(asked)
    question = ["Let me.", "? Bash wants to run", "  │ touch x", "  y once · n [reason] no"]
    assert (here.screen, here.person.shown, here.view.remaining()) == ([*question, ">"], True, None)

    here(after=60)
    here.paper.feed("y\r\n")
    here.view.typed("y")
    here(Permission("p", (ONCE,), "allow_once", "Bash", "t"), after=1.5)
    assert here.screen[4:6] == ["> y", "  Bash: allowed"]
    here(ToolResult("t", ok=True, output=""), after=1)
    assert here.screen[5:7] == ["  Bash: allowed", "• Bash touch x  ok 1.5 s"]
    assert not here.person.shown


def test_a_question_without_the_input_of_its_call_shows_it_all_the_same(run):
    here = run()
    asked = Permission("p", (ONCE,), None, "execute", "t", None, "Run it")
    here(ToolCall("t", "execute", {"command": "rm -r x"}), asked)
    here.view.question(asked)

    assert here.screen[:3] == ["? execute wants to run", "  │ rm -r x", "  │ Run it"]


def test_a_question_that_is_withdrawn_leaves_its_prompt_behind(run):
    here = run()
    asked = Permission("p", (ONCE,), None, "Bash", "t", {"command": "x"})
    here(asked)
    here.view.question(asked)
    here(Permission("p", (ONCE,), "cancelled", "Bash", "t"), End("interrupted"))
    here.view.close()

    assert here.paper.lines[3:] == ["> ", "  Bash: withdrawn", ""]


def test_a_chat_shows_what_a_turn_came_to_above_its_prompt(run):
    here = run(chat=True)
    here.view.ready()
    assert (here.screen, here.person.shown) == ([">"], True)
    here.paper.feed("first\r\n")
    here.view.typed("first")
    here(Text("one", "m1"), CALL, TURN, Cost(0.0094), after=5)
    here.view.typed("meanwhile")
    here(Text(" more", "m1"), End("end_turn"), after=0.05)
    here.view.ready()
    figures = " context 20.0k/200k 10% · cache 85% · $0.0094 · 0:05"
    assert here.screen == ["> first", "one", "> meanwhile", " more", figures, ">"]

    here.view.typed(None)
    here.view.close()
    assert here.paper.lines[5:] == ["> ", "1 turn · 20,012 tokens in, 25 out · cache 85% · $0.0094 · 0:05", ""]
    assert here.person.shown


def test_figures_that_did_not_change_are_not_said_again(run):
    here = run(chat=True)
    here.view.ready()
    here.paper.feed("\r\n")
    here.view.typed("")
    here.view.ready()

    assert here.screen == [">", ">"]


def test_what_is_said_while_a_person_writes_waits_for_its_line_to_end(run):
    here = run(chat=True)
    here.view.ready()
    here(Text("o", "m"), after=1)
    here(Text("k", "m"), after=1)
    assert here.screen == [">"]
    here(End("end_turn"), after=1)
    assert here.screen == [">", "ok", ">"]


def test_it_is_drawn_ten_times_a_second_at_most_and_once_where_nothing_happens(run):
    here = run()
    here(after=10)
    assert here.writes == 11
    for _ in range(1_000):
        here(Text("word ", "m"), after=0.01)
    assert here.writes <= 11 + 101


def test_closing_leaves_nothing_below_and_the_person_their_echo(run):
    here = run(40, 6)
    for number in range(20):
        here(Text(f"line {number}\n", "m"), after=0.2)
    here.view.close()

    assert here.paper.lines == [
        *(f"line {number}" for number in range(20)),
        "1 turn · - tokens in, - out · cache - · $- · 0:04",
        "",
    ]
    assert here.person.shown
