"""Sessions that both the ledger and a transcript tell are counted once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentmux_launcher.ledger import Run
from agentmux_launcher.usage import Tokens
from agentmux_usage.from_ledger import Kept
from agentmux_usage.joined import joined
from agentmux_usage.response import Response, Session

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
    plan="plan-1",
    prefix="prefix-1",
    folder="/p/run",
    pid=1,
    pid_started="never",
    session_id="s1",
    started=10.0,
    ended=20.0,
)
OURS = Response(
    provider="claude",
    session_id="s1",
    time=11.0,
    tokens=Tokens(5, 0, 100, 0, 30),
    model="claude-opus-5",
    turn=1,
    message_id="m1",
    agent="reviewer",
    effort="high",
    cli_version="2.1.332",
    usd=0.5,
    run_id="r1",
    plan="plan-1",
    prefix="prefix-1",
    vendor="anthropic",
)
TOLD = Response(
    provider="claude",
    session_id="s1",
    time=11.4,
    tokens=Tokens(5, 0, 100, 0, 30),
    model="claude-opus-5",
    turn=1,
    message_id="m1",
    request_id="q1",
    cwd="/p",
    source="/h/s1.jsonl",
)


def session(*responses):
    return Session(responses[0].provider, responses[0].session_id, responses)


def test_a_response_of_both_is_the_transcripts_with_what_the_ledger_knows():
    (found,) = joined(Kept((RUN,), (OURS,)), [session(TOLD)])

    assert found == session(replace(OURS, request_id="q1", cwd="/p", source="/h/s1.jsonl"))


@pytest.mark.parametrize(("ours", "told", "kept"), [(30, 200, 200), (200, 30, 200), (None, 30, 30), (30, None, 30)])
def test_the_larger_output_wins(ours, told, kept):
    ledger = replace(OURS, tokens=Tokens(5, 0, 100, 0, ours))
    (found,) = joined(Kept((RUN,), (ledger,)), [session(replace(TOLD, tokens=Tokens(5, 0, 100, 0, told)))])

    assert [each.tokens.output for each in found.responses] == [kept]


def test_what_only_the_transcript_has_belongs_to_the_run_of_its_time_and_what_is_older_to_none():
    before, within = (replace(TOLD, message_id=name, time=time) for name, time in (("m0", 1.0), ("m2", 15.0)))
    (found,) = joined(Kept((RUN,), (OURS,)), [session(before, TOLD, within)])

    assert [(each.message_id, each.agent, each.run_id, each.prefix) for each in found.responses] == [
        ("m0", None, None, None),
        ("m1", "reviewer", "r1", "prefix-1"),
        ("m2", "reviewer", "r1", "prefix-1"),
    ]


def test_what_only_the_ledger_has_stays():
    (found,) = joined(Kept((RUN,), (OURS, replace(OURS, message_id="m9", time=18.0))), [session(TOLD)])

    assert [each.message_id for each in found.responses] == ["m1", "m9"]


def test_a_call_that_a_cli_names_otherwise_in_its_frames_is_counted_once():
    (found,) = joined(Kept((RUN,), (replace(OURS, message_id="frame-1"),)), [session(TOLD)])

    assert [(each.message_id, each.agent, each.usd) for each in found.responses] == [("m1", "reviewer", 0.5)]


@pytest.mark.parametrize("more", [{"calls": None}, {"kind": "side", "calls": None}])
def test_the_sum_of_a_turn_gives_way_to_the_calls_that_a_transcript_has_of_its_run(more):
    turn = replace(OURS, message_id=None, **more)
    (found,) = joined(Kept((RUN,), (turn,)), [session(replace(TOLD, message_id=None))])

    assert [(each.calls, each.agent) for each in found.responses] == [(1, "reviewer")]


def test_the_sum_of_a_turn_stays_where_the_transcript_tells_of_other_times():
    turn = replace(OURS, message_id=None, calls=None)
    (found,) = joined(Kept((RUN,), (turn,)), [session(replace(TOLD, message_id=None, time=500.0))])

    assert [(each.calls, each.time) for each in found.responses] == [(None, 11.0), (1, 500.0)]


def test_a_session_of_the_ledger_alone_comes_last_unless_only_transcripts_are_asked_for():
    kept = Kept((RUN,), (OURS,))
    other = session(replace(TOLD, session_id="s0"))

    assert list(joined(kept, [other])) == [other, session(OURS)]
    assert list(joined(kept, [other], only_told=True)) == [other]


def test_the_same_id_of_another_provider_is_another_session():
    other = session(replace(TOLD, provider="qwen"))

    assert list(joined(Kept((RUN,), (OURS,)), [other])) == [other, session(OURS)]


SCREEN = replace(RUN, run_id="r2", controller="terminal", session_id=None, agent="writer")


@pytest.mark.parametrize(
    ("cwd", "time", "agent"),
    [("/p", 15.0, "writer"), ("/p/sub", 15.0, "writer"), ("/pp", 15.0, None), ("/p", 30.0, None), (None, 15.0, None)],
)
def test_a_screen_of_its_own_is_known_by_its_folder_and_time(cwd, time, agent):
    (found,) = joined(Kept((SCREEN,)), [session(replace(TOLD, cwd=cwd, time=time))])

    assert [each.agent for each in found.responses] == [agent]


def test_of_two_screens_in_one_folder_nobody_knows_which_it_was():
    (found,) = joined(Kept((SCREEN, replace(SCREEN, run_id="r3", agent="other"))), [session(replace(TOLD, time=15.0))])

    assert [each.agent for each in found.responses] == [None]


def test_a_run_whose_launcher_is_gone_claims_nothing_after_its_beginning():
    gone = replace(RUN, ended=None)
    (found,) = joined(Kept((gone,)), [session(replace(TOLD, time=15.0))])

    assert [each.agent for each in found.responses] == [None]


@pytest.mark.parametrize(
    ("time", "run"), [(10.1, "r1"), (19.9, "r1"), (20.1, "r1"), (20.6, "r2"), (21.0, "r2"), (30.5, "r2")]
)
def test_of_runs_that_follow_at_once_the_nearest_made_a_response(time, run):
    second = replace(RUN, run_id="r2", started=20.7, ended=30.0, prefix="prefix-2")
    told = Session("claude", "s1", (replace(TOLD, time=time, message_id="m9"),))

    (found,) = joined(Kept((RUN, second)), [told])

    assert [response.run_id for response in found.responses] == [run]


def test_a_run_whose_launcher_is_gone_lasted_until_its_last_call():
    gone = replace(RUN, ended=None)
    times = {"m2": 12.0, "m1": 15.0, "m3": 19.0}
    told = session(*(replace(TOLD, message_id=name, time=time) for name, time in times.items()))
    (found,) = joined(Kept((gone,), (replace(OURS, time=15.0),)), [told])

    agents = {each.message_id: each.agent for each in found.responses}
    assert agents == {"m2": "reviewer", "m1": "reviewer", "m3": None}
