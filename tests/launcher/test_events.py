from __future__ import annotations

import json
from typing import get_args

import pytest

from agentmux_launcher.events import (
    NAMES,
    Commands,
    Compaction,
    Cost,
    End,
    Event,
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
    to_line,
)

EVENTS = [
    Session("s1", "opus", "2.1.332", {"issues": "connected"}),
    Text("Zwölf ☃", "m1"),
    Thinking("hm", "m1", parent="t0"),
    ToolCall("t1", "Bash", {"command": "ls"}),
    ToolResult("t1", ok=None, output="a\nb"),
    Permission("p1", (PermissionOption("a", "allow_once", "allow once"),), "a", "Bash", "t1", {"command": "ls"}),
    Usage("call", 1, 2, 3, 4, 5, 0, context_tokens=10, model="opus", message_id="m1"),
    Cost(0.25),
    Retry(1, 529, 500, "overloaded", "m1"),
    Compaction("auto", 180_000, 2_000),
    Plan((Step("Read it", "completed", "high"), Step("Write it"))),
    Mode("plan"),
    Commands(("compact", "review")),
    End("end_turn"),
    Failure(FailureClass.RATE_LIMITED, "too many", "429", 1, None, retryable=True, retry_after_ms=1_000),
    Notice("Ripgrep is not available", "stderr"),
    Unknown({"type": "new"}),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: NAMES[type(event)])
def test_each_event_is_one_line_of_json(event, snapshot):
    line = to_line(event)

    assert line.count("\n") == 1
    assert line.endswith("\n")
    assert line == snapshot


def test_every_kind_of_event_has_a_name_and_a_sample():
    assert set(NAMES) == set(get_args(Event)) == {type(event) for event in EVENTS}


def test_classes_of_failure_are_those_of_the_contract():
    assert " ".join(FailureClass) == (
        "auth rate_limited usage_limit overloaded server_error network context_exceeded max_turns model_not_found "
        "permission_denied bad_arguments cli_missing cli_too_old resume_not_found truncated no_output killed timeout "
        "interrupted unknown"
    )


def test_half_a_surrogate_pair_is_written_as_an_escape():
    line = to_line(Text("\ud83d and ☃"))

    assert line.encode()
    assert json.loads(line)["text"] == "\ud83d and ☃"


def test_a_number_too_large_for_json_is_null():
    assert json.loads(to_line(Unknown({"n": [1e999, 2.5]})))["frame"] == {"n": [None, 2.5]}


def test_keys_are_sorted_at_every_depth():
    line = to_line(ToolCall("t1", "look", {"b": 1, "a": {"d": 2, "c": 3}}))

    assert line.index('"a"') < line.index('"b"')
    assert line.index('"c"') < line.index('"d"')
