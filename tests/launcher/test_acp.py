"""The ACP controller against a stand-in that plays recordings and faults; the SDK's schema checks all that is sent."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agentmux_launcher import events, processes
from agentmux_launcher.controllers.acp import Acp
from agentmux_launcher.conversation import Conversation
from agentmux_launcher.events import FailureClass
from agentmux_launcher.guard import Guard
from agentmux_launcher.launch import Launch
from agentmux_launcher.ledger import Ledger, Run
from agentmux_launcher.manifest import AcpPlan, Environment, LaunchPlan, Literal, SessionServer, SessionSetting
from agentmux_launcher.run_folder import RunFolder, parts
from agentmux_launcher.run_record import RunRecord
from agentmux_launcher.supervise import Grace, Inbox, Signalled, Typed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")

FAKE = Path(__file__).parents[1] / "fake_acp.py"
RECORDINGS = Path(__file__).parent / "fixtures" / "acp"
SHORT = Grace(asked=0.5, terminated=2.0, drained=0.5, finished=5)
GOES_ON = ("session/resume", "session/load")
PLAN = LaunchPlan(
    agent="tester",
    provider="opencode",
    display="Tester",
    executable="opencode",
    controller="acp",
    model=None,
    effort=None,
    permission="ask",
    delivery="file",
    cwd=".",
    argv=(Literal("acp"),),
    env=Environment(),
    files=(),
    startup=None,
    prompt_delivery="acp",
    frames="acp",
    session_id_field="sessionId",
    cli_version="1.2.3",
    stdio={"stdin": "pipe", "stdout": "pipe", "stderr": "pipe"},
    acp=AcpPlan("0.1.0", goes_on=GOES_ON, forks=True),
)
OPTIONS = [
    {"optionId": "for-ever", "kind": "allow_always", "name": "Always"},
    {"optionId": "yes", "kind": "allow_once", "name": "Once"},
    {"optionId": "no", "kind": "reject_once", "name": "No"},
]
END = {"end": {"stopReason": "end_turn"}}


def question(call="call-1", kind="execute", **more):
    tool = {"toolCallId": call, "title": "rm -r /", "kind": kind, "rawInput": {"command": "rm -r /"}, **more}
    return {"toolCall": tool, "options": OPTIONS}


class Case:
    """One run of the stand-in."""

    def __init__(self, folder, host):
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir()
        self.run_id = f"test-{folder.name}-{os.getpid()}-{time.monotonic_ns()}"
        self.inbox = Inbox()
        self.host_kind = host
        self.env = {}

    def script(self, *turns, **more):
        text = json.dumps({**({"turns": turns} if turns else {}), **more})
        (self.folder / "script.json").write_text(text, encoding="utf-8")

    def run(self, prompt="Hello", *, plan=PLAN, lines=None, person=False, **launch):
        chat, when, timeout = lines is not None and prompt is None, launch.pop("when", ()), launch.pop("timeout", None)
        self.host = self.host_kind(self.inbox, lines or (), chat=chat, person=person, when=when)
        executable = self.folder / "agent"
        executable.write_text(f"#!{sys.executable}\n{FAKE.read_text(encoding='utf-8')}", encoding="utf-8")
        executable.chmod(0o755)
        env = {"PATH": os.environ["PATH"], "FAKE_ACP": str(self.folder), "AGENTMUX_RUN_ID": self.run_id, **self.env}
        launch = Launch(
            **{"executable": str(executable), **launch}, plan=plan, project=self.work, env=env, run_id=self.run_id
        )
        row = dict.fromkeys({"model", "effort", "cli_version", "plan", "prefix"})
        row |= {"agent": plan.agent, "provider": plan.provider, "controller": "acp", "permission": plan.permission}
        row |= {"run_id": self.run_id, "project": str(self.work), "folder": "", "pid": 1, "pid_started": ""}
        with Ledger(self.folder / "ledger.sqlite3") as ledger:
            record = RunRecord(Run(**row), RunFolder(self.folder / "run"), ledger)
            conversation = Conversation(self.inbox, self.host, record, Guard(self.run_id), timeout)
            self.outcome = conversation.run(Acp(launch, self.inbox, conversation, SHORT), prompt)
            record.close(self.outcome.exit_code)
        return self.outcome.exit_code

    def received(self, number=0):
        """Every message that the stand-in got, with the method that an answer answers."""
        lines = (self.folder / f"received-{number}.jsonl").read_text(encoding="utf-8").splitlines()
        return [(frame["frame"], frame["of"]) for frame in map(json.loads, lines)]

    def methods(self, number=0):
        return [frame.get("method") or of for frame, of in self.received(number)]

    def sent(self, method, number=0):
        """The parameters, or the results, of what was sent under a method."""
        told = [(frame, frame.get("method") or of) for frame, of in self.received(number)]
        return [frame.get("params", frame.get("result")) for frame, name in told if name == method]

    @property
    def failure(self):
        return self.outcome.failure

    @property
    def left(self):
        return processes.of_run(self.run_id)


@pytest.fixture
def case(tmp_path, typing_host):
    """A run whose every sent message the schema of the SDK has to accept."""
    made = Case(tmp_path, typing_host)
    yield made
    assert made.left == []
    for path in sorted(tmp_path.glob("received-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            told = json.loads(line)
            check(told["frame"], told["of"])


REQUESTS = {
    "initialize": "InitializeRequest",
    "authenticate": "AuthenticateRequest",
    "session/new": "NewSessionRequest",
    "session/load": "LoadSessionRequest",
    "session/resume": "ResumeSessionRequest",
    "session/fork": "ForkSessionRequest",
    "session/set_mode": "SetSessionModeRequest",
    "session/set_config_option": "SetSessionConfigOptionSelectRequest",
    "session/prompt": "PromptRequest",
    "session/cancel": "CancelNotification",
}
RESULTS = {
    "session/request_permission": "RequestPermissionResponse",
    "fs/read_text_file": "ReadTextFileResponse",
    "fs/write_text_file": "WriteTextFileResponse",
    "terminal/create": "CreateTerminalResponse",
    "terminal/output": "TerminalOutputResponse",
    "terminal/wait_for_exit": "WaitForTerminalExitResponse",
    "terminal/kill": "KillTerminalResponse",
    "terminal/release": "ReleaseTerminalResponse",
}


def check(frame, of):
    """That the schema takes a message of ours, and knows everything in it."""
    from acp import schema  # noqa: PLC0415  takes a second

    assert frame["jsonrpc"] == "2.0"
    if "error" in frame:
        assert set(frame) == {"jsonrpc", "id", "error"}
        schema.Error.model_validate(frame["error"])
        return
    name, value = (REQUESTS[frame["method"]], frame["params"]) if "method" in frame else (RESULTS[of], frame["result"])
    shape = getattr(schema, name)
    known = shape.model_validate(value).model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert known == value
    assert set(frame) <= {"jsonrpc", "id", "method", "params", "result"}


def test_a_turn_from_the_first_frame_to_the_last(case):
    case.script([{"thought": "Hm."}, {"text": "Hel"}, {"text": "lo."}])

    assert case.run("Say hello") == 0

    assert case.methods() == ["initialize", "session/new", "session/prompt"]
    assert case.sent("session/new") == [{"cwd": str(case.work), "mcpServers": []}]
    assert case.sent("session/prompt") == [
        {"sessionId": "session-1", "prompt": [{"type": "text", "text": "Say hello"}]}
    ]
    assert case.host.events == [
        events.Session("session-1", None, "1.2.3"),
        events.Thinking("Hm."),
        events.Text("Hel"),
        events.Text("lo."),
        events.End("end_turn"),
    ]


def test_both_directions_are_kept_byte_for_byte(case):
    case.script([{"text": "☃"}])

    case.run()

    (part,) = parts(case.folder / "run")
    kept = [json.loads(line) for line in part.frames.splitlines()]
    assert [line["frame"] for line in kept if line.get("dir") == "in"] == [frame for frame, _ in case.received()]
    assert "☃".encode() in part.frames


def test_turns_of_one_session_share_a_process_and_wait_for_each_other(case):
    case.script([{"text": "One."}], [{"text": "Two."}])

    assert case.run(None, lines=["first", "second"], opening="OPENING ") == 0

    assert not (case.folder / "received-1.jsonl").exists()
    assert [params["prompt"][0]["text"] for params in case.sent("session/prompt")] == ["OPENING first", "second"]
    assert case.host.text == "One.Two."
    with Ledger(case.folder / "ledger.sqlite3") as ledger:
        assert [turn.stop_reason for turn in ledger.turns(case.run_id)] == ["end_turn", "end_turn"]


def test_a_turn_said_while_one_runs_waits_for_its_end(case):
    case.script([{"text": "One."}, {"sleep": 0.3}], [{"text": "Two."}])
    said = [(lambda event: event == events.Text("One."), Typed("second"))]

    assert case.run(None, lines=["first"], when=said) == 0

    ends = [type(event).__name__ for event in case.host.events if isinstance(event, events.Text | events.End)]
    assert ends == ["Text", "End", "Text", "End"]


SETTINGS = (
    SessionSetting("model", "session/set_config_option", "value", "big", "model"),
    SessionSetting("effort", "session/set_config_option", "value", "high", "effort"),
    SessionSetting("permission", "session/set_mode", "modeId", "plan"),
)


def test_model_effort_and_permission_are_set_before_the_first_prompt(case):
    case.script()
    plan = replace(PLAN, acp=replace(PLAN.acp, settings=SETTINGS))

    assert case.run(plan=plan) == 0

    assert case.methods()[2:5] == ["session/set_config_option", "session/set_config_option", "session/set_mode"]
    assert case.sent("session/set_config_option") == [
        {"sessionId": "session-1", "configId": "model", "value": "big"},
        {"sessionId": "session-1", "configId": "effort", "value": "high"},
    ]
    assert case.sent("session/set_mode") == [{"sessionId": "session-1", "modeId": "plan"}]


def test_what_a_session_is_already_is_not_set_again(case):
    options = [{"id": "model", "currentValue": "big"}, {"id": "effort", "currentValue": "low"}]
    made = {"sessionId": "session-1", "configOptions": options, "modes": {"currentModeId": "plan"}}
    case.script(answers={"session/new": made})

    assert case.run(plan=replace(PLAN, acp=replace(PLAN.acp, settings=SETTINGS))) == 0

    assert case.methods() == ["initialize", "session/new", "session/set_config_option", "session/prompt"]


def test_a_setting_that_the_agent_refuses_ends_the_run_before_the_prompt(case):
    case.script(answers={"session/set_mode": {"error": {"code": -32602, "message": "no such mode"}}})

    assert case.run(plan=replace(PLAN, acp=replace(PLAN.acp, settings=SETTINGS[2:]))) == 1

    assert "session/prompt" not in case.methods()
    assert case.failure.detail == "`session/set_mode` was answered with the error -32602: no such mode"


@pytest.mark.parametrize(("env", "called"), [({"A_KEY": "sk"}, True), ({}, False), ({"OTHER": "sk"}, False)])
def test_a_variable_that_is_there_authenticates(env, called, case):
    case.script()
    case.env = env

    assert case.run(plan=replace(PLAN, acp=replace(PLAN.acp, authenticate={"A_KEY": "key", "OTHER": "other"}))) == 0

    assert case.sent("authenticate") == ([{"methodId": "key"}] if called else [])


def test_servers_get_values_and_the_folder_of_the_run_gets_names(case):
    case.script()
    case.env = {"TOKEN": "what-no-file-holds"}
    servers = (
        SessionServer("local", "probe", ("--x",), {"TOKEN": "${TOKEN}"}),
        SessionServer("far", url="https://example.com/mcp", headers={"Authorization": "Bearer ${TOKEN}"}),
    )

    assert case.run(plan=replace(PLAN, mcp_servers=servers)) == 0

    (made,) = case.sent("session/new")
    assert made["mcpServers"] == [
        {"name": "local", "command": "probe", "args": ["--x"], "env": [{"name": "TOKEN", "value": case.env["TOKEN"]}]},
        {
            "type": "http",
            "name": "far",
            "url": "https://example.com/mcp",
            "headers": [{"name": "Authorization", "value": f"Bearer {case.env['TOKEN']}"}],
        },
    ]
    kept = [path.read_bytes() for path in (case.folder / "run").iterdir()]
    assert not any(b"what-no-file-holds" in text for text in kept)
    assert any(b"Bearer ${TOKEN}" in text for text in kept)


CAPABILITIES = {"loadSession": True, "sessionCapabilities": {"list": {}}}
WAYS = {
    "session/resume": {"loadSession": True, "sessionCapabilities": {"resume": {}}},
    "session/load": CAPABILITIES,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_session_is_gone_on_with_by_the_best_way_that_is_offered(way, case):
    case.script([{"text": "Again."}], answers={"initialize": {"protocolVersion": 1, "agentCapabilities": WAYS[way]}})

    assert case.run("More", session_id="old") == 0

    assert case.methods() == ["initialize", way, "session/prompt"]
    assert case.sent(way) == [{"sessionId": "old", "cwd": str(case.work), "mcpServers": []}]
    assert case.sent("session/prompt")[0]["sessionId"] == "old"


def test_a_copy_of_a_session_has_its_own_id(case):
    case.script()

    assert case.run("More", session_id="old", fork=True) == 0

    assert case.methods() == ["initialize", "session/fork", "session/prompt"]
    assert case.sent("session/prompt")[0]["sessionId"] == "session-2"
    assert case.host.all(events.Session)[-1].session_id == "session-2"


@pytest.mark.parametrize("fork", [True, False])
def test_what_is_played_again_is_not_told(fork, case):
    played = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Said before."}}
    offers = {"loadSession": True, "sessionCapabilities": {"fork": {}}}
    agent = {"protocolVersion": 1, "agentCapabilities": offers}
    case.script([{"text": "New."}], plays=[played], answers={"initialize": agent})

    assert case.run("More", session_id="old", fork=fork) == 0

    assert case.host.text == "New."


@pytest.mark.parametrize(("fork", "words"), [(True, "fork"), (False, "go on with")])
def test_what_an_agent_does_not_offer_is_refused_before_it_is_asked(fork, words, case):
    case.script(answers={"initialize": {"protocolVersion": 1, "agentCapabilities": {}}})

    assert case.run("More", session_id="old", fork=fork) == 1

    assert case.methods() == ["initialize"]
    assert case.failure.class_ is FailureClass.BAD_ARGUMENTS
    assert case.failure.detail == f"this agent does not offer to {words} a session"


def test_a_session_that_is_not_there_is_no_new_session(case):
    agent = {"protocolVersion": 1, "agentCapabilities": CAPABILITIES}
    refused = {"error": {"code": -32002, "message": "Resource not found"}}
    case.script(answers={"initialize": agent, "session/load": refused})

    assert case.run("More", session_id="old") == 1

    assert case.methods() == ["initialize", "session/load"]
    assert case.failure.class_ is FailureClass.RESUME_NOT_FOUND


@pytest.mark.parametrize(
    ("permission", "typed", "chosen", "code"),
    [
        ("bypass", None, "yes", 0),
        ("ask", None, "no", 5),
        ("plan", None, "no", 5),
        ("ask", ["y"], "yes", 0),
        ("ask", ["a"], "for-ever", 0),
        ("ask", ["n"], "no", 0),
    ],
)
def test_a_permission_is_answered_by_kind(permission, typed, chosen, code, case):
    case.script([{"ask": [question()]}, {"text": "Done."}])

    assert case.run(plan=replace(PLAN, permission=permission), lines=typed, person=typed is not None) == code

    assert case.sent("session/request_permission") == [{"outcome": {"outcome": "selected", "optionId": chosen}}]
    assert [event.chosen for event in case.host.all(events.Permission)] == [None, chosen]


@pytest.mark.parametrize(
    ("call", "passes"),
    [
        ({"kind": "edit", "locations": [{"path": "{}/made.py"}]}, True),
        ({"kind": "edit", "content": [{"type": "diff", "path": "{}/a.py", "oldText": None, "newText": ""}]}, True),
        ({"kind": "edit", "locations": [{"path": "{}/../made.py"}]}, False),
        ({"kind": "edit", "locations": [{"path": "{}/made.py"}, {"path": "/etc/passwd"}]}, False),
        ({"kind": "edit"}, False),
        ({"kind": "execute", "locations": [{"path": "{}/made.py"}]}, False),
    ],
)
def test_an_edit_below_the_folder_passes_where_edits_do(call, passes, case):
    asked = json.loads(json.dumps(question(**call)).replace("{}", str(case.work)))
    case.script([{"ask": [asked]}, {"text": "Done."}])
    plan = replace(PLAN, permission="edit", acp=replace(PLAN.acp, passes=("edit",)))

    assert case.run(plan=plan) == (0 if passes else 5)

    ((outcome),) = case.sent("session/request_permission")
    assert outcome["outcome"]["optionId"] == ("yes" if passes else "no")


def test_two_requests_at_once_are_both_answered(case):
    case.script([{"ask": [question("call-1"), question("call-2")]}, {"text": "Done."}])

    assert case.run(lines=["y", "n"], person=True) == 0

    answers = [answer["outcome"]["optionId"] for answer in case.sent("session/request_permission")]
    assert answers == ["yes", "no"]


def test_a_request_without_an_option_that_fits_is_cancelled(case):
    only = {**question(), "options": OPTIONS[:2]}
    case.script([{"ask": [only, {**question(), "options": []}]}, {"text": "Done."}])

    assert case.run() == 5

    assert case.sent("session/request_permission") == [{"outcome": {"outcome": "cancelled"}}] * 2


def test_an_interrupted_turn_answers_all_its_requests_and_the_next_one_runs(case):
    case.script([{"asks": [question("call-1"), question("call-2")]}, {"till_cancelled": True}], [{"text": "Two."}])
    stopped = [(lambda event: isinstance(event, events.Permission), Signalled(signal.SIGINT))]

    assert case.run(None, lines=["first", ""], when=stopped, person=True) == 0, case.host.events

    assert case.sent("session/cancel") == [{"sessionId": "session-1"}]
    assert case.sent("session/request_permission") == [{"outcome": {"outcome": "cancelled"}}] * 2
    assert [event.stop_reason for event in case.host.all(events.End)] == ["interrupted"]


def test_what_is_asked_after_the_interrupt_is_cancelled_too(case):
    late = [{"till_cancelled": True}, {"ask": [question("call-2")]}]
    case.script([{"asks": [question("call-1")]}, *late], [{"text": "Two."}])
    stopped = [(lambda event: isinstance(event, events.Permission), Signalled(signal.SIGINT))]

    assert case.run(None, lines=["first", "", "second"], when=stopped, person=True) == 0, case.host.events

    assert case.sent("session/request_permission") == [{"outcome": {"outcome": "cancelled"}}] * 2
    assert case.host.text == "Two."


def test_a_stop_waits_for_what_the_turn_used_and_the_second_one_kills(case):
    case.script([{"text": "Begun."}, {"till_cancelled": True}, {"sleep": 0.3}, {"end": {"stopReason": "cancelled"}}])
    begun = lambda event: isinstance(event, events.Text)  # noqa: E731  a condition

    assert case.run(when=[(begun, Signalled(signal.SIGTERM))]) == 128 + signal.SIGTERM
    assert [end.stop_reason for end in case.host.all(events.End)] == ["interrupted"]
    assert case.failure.class_ is FailureClass.INTERRUPTED

    case.script([{"text": "Begun."}, {"wait": True}], ignores=["SIGTERM", "EOF"])
    began = time.monotonic()
    twice = [(begun, Signalled(signal.SIGINT)), (begun, Signalled(signal.SIGINT))]
    assert case.run(when=twice) == 128 + signal.SIGINT
    assert time.monotonic() - began < 5


def test_an_agent_that_asks_and_vanishes_is_a_failure(case):
    case.script([{"asks": [question()]}, {"exit": 3}])

    assert case.run(lines=[], person=True, when=()) == 1

    assert case.failure.exit_code == 3
    assert "while `session/prompt` waited for its answer" in case.failure.detail


def test_an_error_that_answers_a_prompt_is_told_as_it_is_and_the_chat_goes_on(case):
    error = {"code": -32603, "message": "Internal error", "data": {"details": "401 no such key"}}
    case.script([{"stderr": "noise\n"}, {"fail": error}], [{"text": "Two."}])

    assert case.run(None, lines=["first", "second"]) == 0

    (failure,) = case.host.all(events.Failure)
    assert failure.detail == "Internal error\n401 no such key"
    assert [end.stop_reason for end in case.host.all(events.End)] == ["error", "end_turn"]


def test_an_agent_that_dies_in_mid_turn_names_the_signal_and_shows_stderr(case):
    case.script([{"text": "Half a"}, {"stderr": "out of luck\n"}, {"die": "SIGKILL"}])

    assert case.run() == 128 + signal.SIGKILL

    assert case.failure.class_ is FailureClass.KILLED
    assert "out of luck" in case.failure.detail


def test_a_second_answer_to_one_question_changes_nothing(case):
    case.script([{"text": "One."}, END, END], [{"text": "Two."}])

    assert case.run(None, lines=["first", "second"]) == 0

    assert case.host.text == "One.Two."
    assert len(case.host.all(events.End)) == 2


def test_an_update_that_nobody_knows_is_told_and_the_turn_goes_on(case):
    case.script([{"update": {"sessionUpdate": "weather", "sky": "blue"}}, {"raw": "{broken\nwords\n"}, {"text": "Hi."}])

    assert case.run() == 0

    (unknown,) = case.host.all(events.Unknown)
    assert unknown.frame["params"]["update"] == {"sessionUpdate": "weather", "sky": "blue"}
    assert [notice.text for notice in case.host.all(events.Notice)] == ["{broken", "words"]
    assert case.host.text == "Hi."


def test_a_flood_arrives_whole(case):
    case.script([{"flood": 20_000}])

    assert case.run() == 0

    assert case.host.text == "".join(f"word{number} " for number in range(20_000))


@pytest.mark.parametrize(("method", "start"), [("initialize", 2), ("session/new", 60), ("session/set_mode", 60)])
def test_an_answer_that_does_not_come_is_a_failure_that_names_it(method, start, case):
    case.script(answers={method: None}, greets="the model list is slow\n")
    quick = replace(PLAN.acp, start_seconds=start, session_seconds=2, settings=SETTINGS[2:])

    assert case.run(plan=replace(PLAN, acp=quick)) == 1

    assert case.failure.class_ is FailureClass.TIMEOUT
    assert case.failure.detail == f"`{method}` was not answered within 2 seconds\nthe model list is slow"


def test_a_silent_turn_is_remarked_upon_and_then_ended(case):
    case.script([{"till_cancelled": True}, {"wait": True}])
    quick = replace(PLAN.acp, quiet_seconds=0.5, silent_seconds=3)

    assert case.run(plan=replace(PLAN, acp=quick)) == 1

    (notice,) = case.host.all(events.Notice)
    assert notice.text.startswith("nothing was heard of the agent for ")
    assert case.failure.class_ is FailureClass.TIMEOUT
    assert case.failure.detail == "`session/prompt` was not answered, and nothing was heard for 3 seconds"
    assert case.sent("session/cancel") == [{"sessionId": "session-1"}]


def test_a_person_may_think_longer_than_an_agent_may_be_silent(case, typing_host):
    case.script([{"ask": [question()]}, {"text": "Done."}])
    quick = replace(PLAN.acp, quiet_seconds=0.1, silent_seconds=0.2)
    case.host_kind = type("Slow", (typing_host,), {"slow": 0.6})

    assert case.run(plan=replace(PLAN, acp=quick), person=True) == 0


def test_the_time_of_a_run_includes_its_beginning(case):
    case.script(answers={"session/new": None})

    assert case.run(timeout=3) == 124

    assert case.failure.detail == "after 3 seconds, while `session/new` waited for its answer"


@pytest.mark.parametrize(
    ("ignores", "heeds"), [(["EOF"], True), (["EOF", "SIGTERM"], True), (["EOF", "SIGTERM"], False)]
)
def test_an_agent_that_ignores_its_end_is_ended(ignores, heeds, case):
    case.script(ignores=ignores)
    plan = replace(PLAN, acp=replace(PLAN.acp, ends_at_sigterm=heeds))

    began = time.monotonic()
    assert case.run(plan=plan) == 0

    assert time.monotonic() - began < 12


def test_what_an_agent_leaves_behind_is_ended_and_named(case):
    case.script([{"spawn": 60}, {"text": "Done."}])

    assert case.run() == 0

    pid = (case.folder / "spawned").read_text(encoding="utf-8")
    assert [notice.text for notice in case.host.all(events.Notice) if f"(process {pid})" in notice.text] != []


def test_what_an_agent_may_not_ask_is_refused(case):
    asked = ["fs/read_text_file", "fs/write_text_file", "terminal/create", "elicitation/create", "x/y"]
    case.script(
        [*({"request": {"method": method, "params": {"path": "/etc/passwd"}}} for method in asked), {"text": "."}]
    )

    assert case.run() == 0

    answers = [json.loads(line) for line in (case.folder / "answered.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [answer["error"]["code"] for answer in answers] == [-32601] * 5


def lent(case, *requests, permission="ask", lends=("files", "terminals")):
    case.script([*({"request": {"method": method, "params": params}} for method, params in requests), {"text": "."}])
    assert case.run(plan=replace(PLAN, permission=permission, acp=replace(PLAN.acp, lends=lends))) == 0
    lines = (case.folder / "answered.jsonl").read_text(encoding="utf-8").splitlines()
    return [answer.get("result", answer.get("error")) for answer in map(json.loads, lines)]


def test_files_are_lent_below_the_folder_only(case):
    (case.work / "notes.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (case.folder / "secret").write_text("secret", encoding="utf-8")
    (case.work / "link").symlink_to(case.folder / "secret")
    (case.work / "folder").symlink_to(case.folder)
    os.mkfifo(case.work / "pipe")
    work = str(case.work)

    answers = lent(
        case,
        ("fs/read_text_file", {"path": f"{work}/notes.txt"}),
        ("fs/read_text_file", {"path": f"{work}/notes.txt", "line": 2, "limit": 1}),
        ("fs/write_text_file", {"path": f"{work}/new/made.txt", "content": "☃"}),
        ("fs/read_text_file", {"path": f"{work}/../secret"}),
        ("fs/read_text_file", {"path": f"{work}/link"}),
        ("fs/write_text_file", {"path": f"{work}/link", "content": "no"}),
        ("fs/read_text_file", {"path": f"{work}/folder/secret"}),
        ("fs/write_text_file", {"path": f"{work}/folder/made", "content": "no"}),
        ("fs/read_text_file", {"path": f"{work}/pipe"}),
        ("fs/read_text_file", {"path": "notes.txt"}),
        ("fs/read_text_file", {"path": work}),
        ("fs/read_text_file", {"path": f"{work}/not-there"}),
    )

    assert answers[:3] == [{"content": "one\ntwo\nthree\n"}, {"content": "two\n"}, {}]
    assert [answer.get("code") for answer in answers[3:]] == [-32602] * 8 + [-32002]
    assert (case.work / "new" / "made.txt").read_text(encoding="utf-8") == "☃"
    assert (case.folder / "secret").read_text(encoding="utf-8") == "secret"
    assert not (case.folder / "made").exists()


def test_commands_are_lent_and_end_with_the_run(case):
    answers = lent(
        case,
        ("terminal/create", {"command": "/bin/sh", "args": ["-c", "echo $WORD; pwd; exit 3"], "env": WORD}),
        ("terminal/wait_for_exit", {"terminalId": "1"}),
        ("terminal/output", {"terminalId": "1"}),
        ("terminal/create", {"command": "sleep", "args": ["100"]}),
        ("terminal/kill", {"terminalId": "2"}),
        ("terminal/wait_for_exit", {"terminalId": "2"}),
        ("terminal/release", {"terminalId": "2"}),
        ("terminal/output", {"terminalId": "2"}),
        ("terminal/create", {"command": "sleep", "args": ["100"]}),
        ("terminal/create", {"command": "pwd", "cwd": "/"}),
        ("terminal/create", {"command": "/no/such/command"}),
    )

    assert answers[:3] == [
        {"terminalId": "1"},
        {"exitCode": 3, "signal": None},
        {"output": f"hey\n{case.work}\n", "truncated": False, "exitStatus": {"exitCode": 3, "signal": None}},
    ]
    assert answers[4:7] == [{}, {"exitCode": None, "signal": "9"}, {}]
    assert [answer.get("code") for answer in (answers[7], *answers[9:])] == [-32602] * 3


WORD = [{"name": "WORD", "value": "hey"}]


def test_the_output_of_a_command_keeps_its_end(case):
    code = "printf '☃%.0s' $(seq 100)"
    answers = lent(
        case,
        ("terminal/create", {"command": "/bin/sh", "args": ["-c", code], "outputByteLimit": 10}),
        ("terminal/wait_for_exit", {"terminalId": "1"}),
        ("terminal/output", {"terminalId": "1"}),
    )

    assert answers[2]["output"] == "☃☃☃"
    assert answers[2]["truncated"] is True


def test_an_agent_that_may_only_read_writes_and_runs_nothing(case):
    path = str(case.work / "made")

    answers = lent(
        case,
        ("fs/write_text_file", {"path": path, "content": "no"}),
        ("terminal/create", {"command": "touch", "args": [path]}),
        permission="plan",
    )

    assert [answer["code"] for answer in answers] == [-32602, -32602]
    assert not (case.work / "made").exists()


@pytest.mark.parametrize(
    "path", sorted(RECORDINGS.glob("*/*.jsonl")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_recording_is_played_to_its_end(path, case):
    frames = [json.loads(line)["frame"] for line in path.read_bytes().splitlines()]
    prompts = [frame["id"] for frame in frames if frame.get("method") == "session/prompt"]
    answered = {frame["id"] for frame in frames if "method" not in frame and ({"result", "error"} & frame.keys())}
    questions = [frame for frame in frames if frame.get("method") == "session/request_permission"]
    session = {"session_id": "old"} if any(frame.get("method") == "session/load" for frame in frames) else {}
    case.script(recording=str(path))
    silence = 60 if set(prompts) <= answered else 4
    quick = replace(PLAN.acp, goes_on=("session/load",), silent_seconds=silence)
    plan = replace(PLAN, permission="bypass", provider=path.parent.name, acp=quick)

    case.run(None, lines=[f"prompt {number}" for number in prompts], plan=plan, **session)

    ends = [event for event in case.host.events if isinstance(event, events.End)]
    assert case.methods().count("session/prompt") == len(prompts)
    assert len(ends) == len(answered & set(prompts))
    assert len(case.sent("session/request_permission")) == len(questions)
    if session:
        opened = next(number for number, event in enumerate(case.host.events) if isinstance(event, events.Session))
        assert not any(isinstance(event, events.Text | events.ToolCall) for event in case.host.events[:opened])
