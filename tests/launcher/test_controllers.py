"""Runs of a scripted stand-in under every controller and dialect: what is heard, what goes to it, how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux_launcher import events, processes, run_folder
from agentmux_launcher.controllers.per_turn import PerTurn
from agentmux_launcher.controllers.persistent import Persistent
from agentmux_launcher.conversation import Conversation
from agentmux_launcher.guard import Guard
from agentmux_launcher.launch import Launch
from agentmux_launcher.ledger import Ledger, Run
from agentmux_launcher.manifest import Environment, LaunchPlan, Literal, Slot
from agentmux_launcher.run_folder import RunFolder
from agentmux_launcher.run_record import RunRecord
from agentmux_launcher.supervise import Grace, Inbox, Signalled, Typed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")

FAKE = Path(__file__).parents[1] / "fake_cli.py"
SHORT = Grace(asked=0.5, terminated=2.0, drained=0.5, finished=5)
FRAMES = {
    "claude": "claude-stream-json",
    "codex": "codex-json",
    "gemini": "gemini-json",
    "kimi": "kimi-stream-json",
    "qwen": "qwen-stream-json",
}
PER_TURN = ["codex", "gemini", "kimi", "qwen"]
OPENING = "# Session Context\n\n"


def plan_for(provider, **changes):
    lasting = provider == "claude"
    plan = LaunchPlan(
        agent="tester",
        provider=provider,
        display="Tester",
        executable=provider,
        controller="persistent" if lasting else "subprocess",
        model=None,
        effort=None,
        permission="ask",
        delivery="flag",
        cwd=".",
        argv=(Literal("go"), Slot("resume", ("--resume", "{}")), Slot("fork", ("--fork", "{}"))),
        env=Environment(),
        files=(),
        startup=None,
        prompt_delivery="stream-json" if lasting else "stdin",
        frames=FRAMES[provider],
        session_id_field=None,
        cli_version="1.2.3",
        stdio={"stdin": "pipe", "stdout": "raw-pty", "stderr": "pipe"},
    )
    return replace(plan, **changes)


class Case:
    """One run of the stand-in."""

    def __init__(self, folder, host):
        self.host_kind = host
        self.folder = folder
        self.run_id = f"test-{folder.name}-{os.getpid()}-{time.monotonic_ns()}"
        self.inbox = Inbox()
        self.host = host(self.inbox)

    def script(self, *of_processes):
        (self.folder / "script.json").write_text(json.dumps([list(steps) for steps in of_processes]), encoding="utf-8")

    def run(self, provider, prompt="Hello", *, lines=None, person=False, when=(), **launch):
        timeout, plan = launch.pop("timeout", None), launch.pop("plan", None) or plan_for(provider)
        chat = lines is not None and prompt is None
        self.host = self.host_kind(self.inbox, lines or (), chat=chat, person=person, when=when)
        executable = self.folder / "cli"
        executable.write_text(f"#!{sys.executable}\n{FAKE.read_text(encoding='utf-8')}", encoding="utf-8")
        executable.chmod(0o755)
        env = {"PATH": os.environ["PATH"], "FAKE_CLI": str(self.folder), "AGENTMUX_RUN_ID": self.run_id}
        launch = Launch(
            **{"executable": str(executable), **launch}, plan=plan, project=self.folder, env=env, run_id=self.run_id
        )
        row = {
            name: None
            for name in Run.__dataclass_fields__
            if name in {"model", "effort", "cli_version", "plan", "prefix"}
        }
        row |= {"agent": plan.agent, "provider": provider, "controller": plan.controller, "permission": plan.permission}
        row |= {"run_id": self.run_id, "project": str(self.folder), "folder": "", "pid": 1, "pid_started": ""}
        with Ledger(self.folder / "ledger.sqlite3") as ledger:
            record = RunRecord(Run(**row), RunFolder(self.folder / "run"), ledger)
            conversation = Conversation(self.inbox, self.host, record, Guard(self.run_id), timeout)
            kind = Persistent if plan.controller == "persistent" else PerTurn
            outcome = conversation.run(kind(launch, self.inbox, conversation, SHORT), prompt)
            record.close(outcome.exit_code)
        self.account = record.account
        return outcome.exit_code

    def ledger(self):
        return Ledger(self.folder / "ledger.sqlite3")

    def notes(self, number=0):
        return json.loads((self.folder / f"note-{number}.json").read_text(encoding="utf-8"))

    @property
    def started(self):
        return len(list(self.folder.glob("note-*.json")))

    @property
    def failure(self):
        return self.host.all(events.Failure)[-1]


@pytest.fixture
def case(tmp_path, typing_host):
    made = Case(tmp_path, typing_host)
    yield made
    assert processes.of_run(made.run_id) == []


def answer(dialect, text, **more):
    return {"answer": {"dialect": dialect, "text": text, **more}}


READ = {"claude": {"read": "line"}}
ALL = {"read": "all"}


@pytest.mark.parametrize("provider", sorted(FRAMES))
def test_a_prompt_is_answered(case, provider):
    read = READ.get(provider, ALL)
    used = {"input": 7, "read": 1000, "write": 0, "output": 9}
    case.script([read, answer(provider, "An answer, ☃.", session="s-1", usage=used)])

    assert case.run(provider, "Hello, é") == 0

    assert case.host.text == "An answer, ☃."
    assert "".join(case.notes()["stdin"]).endswith("Hello, é\n") or "Hello, é" in case.notes()["stdin"][0]
    with case.ledger() as ledger:
        (turn,) = ledger.turns(case.run_id)
        session = ledger.last_session(str(case.folder), "tester", provider)
        assert ledger.run(case.run_id).exit_code == 0
    assert (turn.turn, turn.session_id, session.session_id) == (1, "s-1", "s-1")
    if provider != "kimi":
        assert (turn.input_tokens, turn.cache_read_tokens, turn.output_tokens) == (7, 1000, 9)
        assert turn.prefill_tokens == 1007


@pytest.mark.parametrize("provider", PER_TURN)
def test_every_turn_is_a_process_that_goes_on_with_the_session(case, provider):
    case.script([ALL, answer(provider, "one", session="s-1")], [ALL, answer(provider, "two", session="s-1")])

    assert case.run(provider, None, lines=["first", "second"], opening=OPENING) == 0

    assert case.host.text == "onetwo"
    assert [case.notes(number)["stdin"] for number in (0, 1)] == [[f"{OPENING}first\n"], ["second\n"]]
    assert [case.notes(number)["argv"] for number in (0, 1)] == [["go"], ["go", "--resume", "s-1"]]


def test_one_process_takes_all_turns(case):
    turn = [{"read": "line"}, answer("claude", "one", id="m1")]
    case.script([*turn, {"read": "line"}, answer("claude", "two", id="m2"), ALL])

    assert case.run("claude", None, lines=["first", "", "second"], opening=OPENING) == 0

    said = [json.loads(line)["message"]["content"][0]["text"] for line in case.notes()["stdin"][:2]]
    assert said == [f"{OPENING}first", "second"]
    assert (case.started, case.host.text) == (1, "onetwo")
    with case.ledger() as ledger:
        assert [turn.turn for turn in ledger.turns(case.run_id)] == [1, 2]


@pytest.mark.parametrize("provider", sorted(FRAMES))
@pytest.mark.parametrize(("fork", "argv"), [(False, ["--resume", "s-0"]), (True, ["--fork", "s-0"])])
def test_nothing_opens_a_session_that_goes_on(case, provider, fork, argv):
    case.script([READ.get(provider, ALL), answer(provider, "ok", session="s-1")])

    assert case.run(provider, "Go on", opening=OPENING, session_id="s-0", fork=fork) == 0

    assert case.notes()["argv"] == ["go", *argv]
    assert OPENING not in json.loads(json.dumps(case.notes()["stdin"][0]))


def test_a_prompt_that_is_an_argument_goes_there_alone(case):
    case.script([ALL, answer("kimi", "ok")])
    plan = plan_for("kimi", prompt_delivery="argument", argv=(Slot("prompt", ("-p", "{}")),))

    assert case.run("kimi", "Say\n'hello'", plan=plan) == 0
    assert (case.notes()["argv"], case.notes()["stdin"]) == (["-p", "Say\n'hello'"], [""])


def test_a_command_of_the_clis_own_begins_its_turn(case):
    case.script([ALL, answer("codex", "ok")])

    case.run("codex", "/review", opening=OPENING)

    assert case.notes()["stdin"] == ["/review\n"]


def test_text_that_is_cut_inside_a_character_arrives_whole(case):
    line = json.dumps(
        {"type": "message", "role": "assistant", "content": "☃é🙂" * 20, "delta": True}, ensure_ascii=False
    )
    case.script([ALL, {"slowly": {"text": line + "\n", "size": 7, "pause": 0.002}}, answer("gemini", ".")])

    assert case.run("gemini") == 0
    assert case.host.text == "☃é🙂" * 20 + "."


@pytest.mark.parametrize("provider", sorted(FRAMES))
def test_a_line_of_five_megabytes_arrives_whole(case, provider):
    case.script([READ.get(provider, ALL), {"big": {"dialect": provider, "size": 5_000_000}}])

    assert case.run(provider) == 0
    assert len(case.host.text) == 5_000_000


def test_garbage_and_colours_are_told_and_cost_nothing(case):
    case.script(
        [
            ALL,
            {"text": "not a frame\n\x1b[31mred\x1b[0m words\n"},
            {"bytes": "fffe00c3280a"},
            {"text": "\x1b[?25h"},
            answer("codex", "ok"),
            {"text": "\x1b[?25h"},
        ]
    )

    assert case.run("codex") == 0
    assert case.host.text == "ok"
    told = [notice.text for notice in case.host.all(events.Notice)]
    assert told[:2] == ["not a frame", "red words"]
    assert all("\x1b" not in text for text in told)


def test_half_a_frame_and_death_is_a_truncation(case):
    case.script([ALL, {"text": '{"type":"thread.started","thread_id":"t"}\n{"type":"item.comp'}, {"die": "SIGKILL"}])

    assert case.run("codex") == 128 + signal.SIGKILL
    assert (case.failure.class_, case.failure.signal) == (events.FailureClass.KILLED, signal.SIGKILL)
    assert case.host.all(events.Unknown) == [events.Unknown('{"type":"item.comp')]


@pytest.mark.parametrize("provider", sorted(FRAMES))
def test_an_end_without_a_word_is_a_failure_whatever_its_code(case, provider):
    case.script([READ.get(provider, ALL), {"exit": 0}])

    assert case.run(provider) == 1
    assert case.failure.class_ is events.FailureClass.NO_OUTPUT


def test_an_end_without_its_last_frame_is_a_truncation_whatever_its_code(case):
    case.script([ALL, {"frames": [{"type": "init", "session_id": "s"}]}, {"exit": 0}])

    assert case.run("gemini") == 1
    assert case.failure.class_ is events.FailureClass.TRUNCATED


def test_a_failure_has_the_words_of_stderr(case):
    case.script([ALL, {"stderr": "error: unexpected argument '--nope' found\n"}, {"exit": 2}])

    assert case.run("codex") == 1
    assert (case.failure.class_, case.failure.exit_code) == (events.FailureClass.BAD_ARGUMENTS, 2)
    assert "--nope" in case.failure.detail
    with case.ledger() as ledger:
        (row,) = ledger.failures(case.run_id)
    assert (row.turn, row.class_) == (1, "bad_arguments")


@pytest.mark.parametrize(
    ("executable", "code", "means"),
    [("/no/such/cli", 127, "cli_missing"), ("/etc/passwd", 126, "cli_missing")],
)
@pytest.mark.parametrize("provider", ["claude", "codex"])
def test_what_cannot_be_started_is_a_failure_of_the_run(case, provider, executable, code, means):
    assert case.run(provider, executable=executable) == code
    assert (case.failure.class_.value, case.failure.exit_code) == (means, code)


def test_a_prompt_too_long_for_an_argument_fails_before_the_child(case):
    plan = plan_for("kimi", prompt_delivery="argument", argv=(Slot("prompt", ("-p", "{}")),))

    assert case.run("kimi", "x" * 40_000, plan=plan) == 125
    assert case.started == 0


@pytest.mark.parametrize("provider", ["claude", "codex"])
def test_when_the_time_is_up_the_child_is_stopped_however_deaf(case, provider):
    beside = {"stderr": "Ignoring 1 permissions.allow entry\n"}
    case.script([{"ignore": "SIGTERM"}, {"ignore": "SIGHUP"}, READ.get(provider, ALL), beside, {"wait": True}])

    assert case.run(provider, timeout=1.0) == 124
    assert (case.failure.class_, case.failure.detail) == (events.FailureClass.TIMEOUT, "after 1 second")
    assert case.failure.signal == signal.SIGKILL


@pytest.mark.parametrize("signals", [1, 2])
@pytest.mark.parametrize("provider", ["claude", "codex"])
def test_a_signal_stops_the_run_and_a_second_one_kills_at_once(case, provider, signals):
    case.script([{"ignore": "SIGTERM"}, READ.get(provider, ALL), {"stderr": "here\n"}, {"wait": True}])
    here = (lambda event: isinstance(event, events.Notice), Signalled(signal.SIGINT))
    began = time.monotonic()

    assert case.run(provider, when=[here] * signals) == 130
    assert case.failure.class_ is events.FailureClass.INTERRUPTED
    assert (time.monotonic() - began > SHORT.terminated) == (signals == 1)


def test_what_a_turn_left_running_is_ended_and_named(case):
    case.script(
        [ALL, {"ignore": "SIGHUP"}, {"spawn": {"seconds": 60, "detach": True, "keep": True}}, answer("codex", "ok")]
    )

    assert case.run("codex") == 0
    (notice,) = case.host.all(events.Notice)
    (child,) = case.notes()["children"]
    assert str(child) in notice.text
    assert not processes.alive(processes.known(child))


def test_what_one_turn_leaves_running_is_there_for_the_next(case):
    child = {"spawn": {"seconds": 60, "detach": True}}
    case.script([ALL, child, answer("codex", "one")], [ALL, answer("codex", "two")])
    seen = []

    def look(event):
        if isinstance(event, events.Text) and event.text == "two":
            seen.append(processes.look(case.notes()["children"][0]))
        return False

    assert case.run("codex", None, lines=["a", "b"], when=[(look, None)]) == 0
    assert seen[0] is not None


def test_what_is_said_while_a_turn_runs_waits_for_a_process_of_its_own(case):
    case.script(
        [ALL, {"frames": [{"type": "thread.started", "thread_id": "t"}]}, {"sleep": 0.3}, answer("codex", "one")],
        [ALL, answer("codex", "two")],
    )
    now = (lambda event: isinstance(event, events.Session), Typed("second"))

    assert case.run("codex", None, lines=["first"], when=[now]) == 0
    assert (case.host.text, case.notes(1)["stdin"]) == ("onetwo", ["second\n"])


def test_what_is_said_while_a_turn_runs_goes_to_a_lasting_process_at_once(case):
    begun = {"frames": [{"type": "system", "subtype": "init", "session_id": "s", "model": "m"}]}
    case.script([{"read": "line"}, begun, {"read": "line"}, answer("claude", "both"), ALL])
    now = (lambda event: isinstance(event, events.Session), Typed("second"))

    assert case.run("claude", None, lines=["first"], when=[now]) == 0
    assert "second" in case.notes()["stdin"][1]


INTERRUPTED = {
    "type": "result",
    "subtype": "error_during_execution",
    "is_error": True,
    "terminal_reason": "aborted_streaming",
    "session_id": "s",
}


def test_an_interrupt_ends_the_turn_and_the_session_goes_on(case):
    begun = {"frames": [{"type": "system", "subtype": "init", "session_id": "s", "model": "m"}]}
    ended = {"frames": [INTERRUPTED]}
    case.script([{"read": "line"}, begun, {"read": "line"}, ended, {"read": "line"}, answer("claude", "again"), ALL])
    stop = (lambda event: isinstance(event, events.Session), Signalled(signal.SIGINT))

    assert case.run("claude", None, lines=["first", "second"], when=[stop]) == 0

    asked = json.loads(case.notes()["stdin"][1])
    assert asked["request"] == {"subtype": "interrupt"}
    assert [end.stop_reason for end in case.host.all(events.End)] == ["interrupted", "end_turn"]


def test_to_interrupt_a_turn_that_is_a_process_ends_it_and_the_next_goes_on(case):
    begun = {"frames": [{"type": "thread.started", "thread_id": "t"}]}
    case.script([ALL, begun, {"wait": True}], [ALL, answer("codex", "again")])
    stop = (lambda event: isinstance(event, events.Session), Signalled(signal.SIGINT))

    assert case.run("codex", None, lines=["first", "second"], when=[stop]) == 0
    assert case.notes(1)["argv"] == ["go", "--resume", "t"]
    assert [failure.class_.value for failure in case.host.all(events.Failure)] == ["interrupted"]


def ask(tool="Bash", given=None, request="r1", **more):
    body = {"subtype": "can_use_tool", "tool_name": tool, "input": given or {"command": "touch x"}, **more}
    suggested = [{"type": "addRules", "rules": [], "behavior": "allow", "destination": "localSettings"}]
    frame = {"type": "control_request", "request_id": request}
    return {"frames": [{**frame, "request": {**body, "tool_use_id": "toolu_1", "permission_suggestions": suggested}}]}


def permitted(case, *, lines=None, permission="ask", question=None):
    asked = question or ask()
    case.script([{"read": "line"}, asked, {"read": "line"}, answer("claude", "ok"), ALL])
    code = case.run("claude", plan=plan_for("claude", permission=permission), lines=lines, person=lines is not None)
    return code, json.loads(case.notes()["stdin"][1])["response"]


def test_without_anybody_to_ask_a_tool_is_denied_and_the_run_says_so(case):
    code, response = permitted(case)

    assert code == 5
    assert response["request_id"] == "r1"
    assert response["response"]["behavior"] == "deny"
    assert case.host.all(events.Permission)[-1].chosen == "reject_once"


def test_bypass_asks_nobody(case):
    code, response = permitted(case, permission="bypass")

    assert (code, response["response"]) == (0, {"behavior": "allow", "updatedInput": {"command": "touch x"}})


@pytest.mark.parametrize(
    ("lines", "response"),
    [
        (["y"], {"behavior": "allow", "updatedInput": {"command": "touch x"}}),
        (["what?", "n not here"], {"behavior": "deny", "message": "not here"}),
        (["no"], {"behavior": "deny", "message": "The user denied this."}),
        (
            ["a"],
            {
                "behavior": "allow",
                "updatedInput": {"command": "touch x"},
                "updatedPermissions": [
                    {
                        "type": "addRules",
                        "rules": [{"toolName": "Bash", "ruleContent": "touch x"}],
                        "behavior": "allow",
                        "destination": "session",
                    }
                ],
            },
        ),
    ],
)
def test_a_person_decides(case, lines, response):
    code, given = permitted(case, lines=lines)

    assert (code, given["response"]) == (0, response)
    assert len(case.host.questions) == len(lines)


def test_where_the_person_has_gone_a_tool_is_denied_and_the_run_says_so(case):
    code, given = permitted(case, lines=[])

    denied = "Nobody is there who could be asked. Go on without it, or say what you would need."
    assert (code, given["response"]) == (5, {"behavior": "deny", "message": denied})
    assert len(case.host.questions) == 1


QUESTIONS = {
    "questions": [
        {"question": "Which?", "options": [{"label": "Red"}, {"label": "Blue"}]},
        {"question": "Why?", "options": [{"label": "Taste"}]},
    ]
}


def test_a_question_of_the_clis_own_gets_answers(case):
    code, given = permitted(case, lines=["1,2; because"], question=ask("AskUserQuestion", QUESTIONS))

    answers = given["response"]["updatedInput"]["answers"]
    assert (code, answers) == (0, {"Which?": "Red, Blue", "Why?": "because"})


@pytest.mark.parametrize("permission", ["ask", "bypass"])
def test_a_question_to_nobody_is_no_permission_that_was_denied(case, permission):
    code, given = permitted(case, permission=permission, question=ask("AskUserQuestion", QUESTIONS))

    assert (code, given["response"]["behavior"]) == (0, "deny")


def test_to_stay_in_plan_mode_is_what_was_asked_for(case):
    code, given = permitted(case, permission="plan", question=ask("ExitPlanMode", {"plan": "1. Do it"}))

    assert (code, given["response"]["behavior"]) == (0, "deny")


def test_what_nobody_answers_is_refused_so_that_the_cli_does_not_wait(case):
    frame = {"type": "control_request", "request_id": "r9", "request": {"subtype": "mcp_message"}}
    _, response = permitted(case, question={"frames": [frame]})

    assert (response["subtype"], response["request_id"]) == ("error", "r9")


def test_the_folder_of_a_run_reads_like_the_run(case):
    case.script(
        [ALL, answer("codex", "one", session="t"), {"stderr": "aside\n"}],
        [ALL, answer("codex", "two"), {"text": "rest"}],
    )
    case.run("codex", None, lines=["a", "b"])

    one, two = run_folder.parts(case.folder / "run")
    assert b"one" in one.frames
    assert (one.stderr, one.ended.code, one.begun.start.resumed) == (b"aside\n", 0, False)
    assert two.frames.endswith(b"\nrest\n")
    assert (two.stderr, two.ended.code, two.begun.start.resumed) == (b"", 0, True)


def test_what_was_sent_stands_in_the_folder_between_whole_lines(case):
    permitted(case)

    lines = (case.folder / "run" / "frames.jsonl").read_bytes().splitlines()
    directions = [json.loads(line).get("dir", "out") for line in lines]
    assert (directions.count("in"), directions[0]) == (2, "in")


@pytest.mark.skipif(sys.platform != "linux", reason="has no /dev/full")
def test_a_run_whose_folder_is_full_goes_on_and_says_so_once(case):
    (case.folder / "run").mkdir()
    (case.folder / "run" / "frames.jsonl").symlink_to("/dev/full")
    case.script([ALL, answer("codex", "one")], [ALL, answer("codex", "two")])

    assert case.run("codex", None, lines=["a", "b"]) == 0
    told = [notice.text for notice in case.host.all(events.Notice)]
    assert (case.host.text, told) == ("onetwo", ["this run cannot be kept: its folder takes no more"])


def test_a_run_whose_ledger_fails_goes_on_and_says_so_once(case):
    with case.ledger(), contextlib.closing(sqlite3.connect(case.folder / "ledger.sqlite3")) as raw:
        raw.execute("DROP TABLE turns")
    case.script([ALL, answer("codex", "one")], [ALL, answer("codex", "two")])

    assert case.run("codex", None, lines=["a", "b"]) == 0
    told = [notice.text for notice in case.host.all(events.Notice)]
    assert told == ["this run cannot be kept: the ledger fails: no such table: turns"]
