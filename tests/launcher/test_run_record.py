"""What a run leaves in the ledger: when its calls began, which followed a compaction, what its session holds."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agentmux_launcher import run_record
from agentmux_launcher.events import Compaction, End, Failure, FailureClass, Text, Thinking, Usage
from agentmux_launcher.ledger import Ledger, Run
from agentmux_launcher.processes import Known
from agentmux_launcher.run_folder import RunFolder
from agentmux_launcher.run_record import RunRecord
from agentmux_launcher.usage import FRESH

RUN = Run(
    run_id="r1",
    project="/p",
    agent="reviewer",
    provider="claude",
    controller="persistent",
    model="opus",
    effort="high",
    permission="ask",
    cli_version="2.1.332",
    plan="plan-2",
    prefix="prefix-2",
    folder="/p/run",
    pid=1,
    pid_started="never",
    held="prefix-1",
)
CONTROLLER = SimpleNamespace(session_id="s1", counters=None)


class Clock:
    """Stands still until it is moved."""

    def __init__(self):
        self.now = 0.0

    def time(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(run_record, "time", made)
    return made


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger.sqlite3") as opened:
        yield opened


@pytest.fixture
def record(tmp_path, ledger, clock):
    clock.now = 1.0
    made = RunRecord(RUN, RunFolder(tmp_path / "run"), ledger)
    yield made
    made.close(0)


def call(message, **more):
    return Usage("call", 1, 2, 3, None, 4, context_tokens=6, message_id=message, **more)


def test_a_call_began_with_the_first_that_was_seen_of_its_response(record, ledger, clock):
    events = (Thinking("Hm.", "m1"), Text("An ", "m1"), Text("answer.", "m1"), call("m1"), call("m2"), End("done"))
    for number, event in enumerate(events, 2):
        clock.now = float(number)
        record.event(event)
    record.turn(CONTROLLER)

    assert [(row.message_id, row.time) for row in ledger.usage("r1")] == [("m1", 2.0), ("m2", 6.0)]


def test_the_agents_own_first_call_after_a_compaction_is_marked(record, ledger):
    for event in (call("m1"), Compaction(), call("m2", parent="t1"), call("m3"), call("m4"), End("done")):
        record.event(event)
    record.turn(CONTROLLER)

    rows = ledger.usage("r1")
    assert [row.message_id for row in rows if row.after_compaction] == ["m3"]


def test_a_turn_begins_when_it_is_sent_and_not_when_the_one_before_ends(record, ledger, clock):
    record.started(Known(7, "then"), SimpleNamespace(start=FRESH, lasting=True))
    for sent, asked, ended in ((2.0, 3.0, 4.0), (60.0, 61.0, 62.0)):
        clock.now = sent
        record.sent({"type": "user"})
        record.event(Text("May I?"))
        clock.now = asked
        record.sent({"type": "control_response"})
        clock.now = ended
        record.event(End("done"))
        record.turn(CONTROLLER)

    assert [(turn.started, turn.ended) for turn in ledger.turns("r1")] == [(2.0, 4.0), (60.0, 62.0)]


def test_the_session_holds_the_prefix_that_it_goes_on_with(record, ledger):
    record.event(End("done"))
    record.turn(CONTROLLER)

    assert ledger.session("claude", "s1").prefix == "prefix-1"
    (run,) = ledger.runs()
    assert (run.prefix, run.held) == ("prefix-2", "prefix-1")


NOTHING_SAID = Failure(FailureClass.NO_OUTPUT, "nothing was said")


def test_a_failure_behind_the_end_of_a_turn_is_that_turns(record, ledger):
    for event in (call("m1"), End("done")):
        record.event(event)
    record.turn(CONTROLLER)
    record.event(NOTHING_SAID)
    record.turn(CONTROLLER)

    assert [(turn.turn, turn.calls, turn.output_tokens) for turn in ledger.turns("r1")] == [(1, 1, 4)]
    assert [row.message_id for row in ledger.usage("r1")] == ["m1"]
    assert [(row.turn, row.class_) for row in ledger.failures("r1")] == [(1, "no_output")]


def test_a_failure_of_the_next_turn_is_one_more_and_used_nothing(record, ledger):
    for event in (call("m1"), End("done")):
        record.event(event)
    record.turn(CONTROLLER)
    record.sent({"type": "user"})
    record.event(NOTHING_SAID)
    record.turn(CONTROLLER)

    assert [(turn.turn, turn.calls, turn.output_tokens) for turn in ledger.turns("r1")] == [(1, 1, 4), (2, 0, None)]
    assert [(row.turn, row.class_) for row in ledger.failures("r1")] == [(2, "no_output")]
