from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_launcher.events import (
    NAMES,
    Commands,
    Compaction,
    Cost,
    End,
    Mode,
    Notice,
    Permission,
    Plan,
    Retry,
    Session,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    to_line,
    to_object,
)
from agentmux_launcher.failure_table import table_for
from agentmux_launcher.reading import Ended, Reader, Reading, replay
from agentmux_launcher.translators import DIALECTS, translator
from agentmux_launcher.trouble import Trouble
from agentmux_launcher.usage import Start, Tokens

RECORDINGS = Path(__file__).parent / "fixtures" / "frames"
DIALECT = {
    "aider": "none",
    "claude": "claude-stream-json",
    "codex": "codex-json",
    "gemini": "gemini-json",
    "grok": "claude-stream-json",
    "kimi": "kimi-stream-json",
    "qwen": "qwen-stream-json",
}
# Recordings of sessions that went on, and what their counters stood at before.
BEFORE = {
    ("claude", "resume"): None,
    ("codex", "fork"): Tokens(10, 68_000, 0, None, 100, 28),
    ("codex", "resume"): Tokens(12, 17_000, 0, None, 25, 7),
    ("codex", "resume-nomodel"): Tokens(24, 34_000, 0, None, 50, 14),
    ("qwen", "resume"): Tokens(24, 34_000, None, None, 50, None),
}


def recordings():
    paths = sorted(RECORDINGS.glob("*/*.jsonl"))
    return [pytest.param(path, id=f"{path.parent.name}-{path.stem}") for path in paths]


def read(path):
    known = path.with_suffix(".stderr")
    return path.read_bytes(), known.read_bytes() if known.exists() else b""


def reading(path):
    provider, resumed = path.parent.name, (path.parent.name, path.stem) in BEFORE
    start = Start(resumed, BEFORE[provider, path.stem]) if resumed else Start()
    return Reading(DIALECT[provider], table_for(provider, DIALECT[provider]), start)


def translated(dialect, *frames, **more):
    reader = translator(dialect, **more)
    return [each for frame in frames for each in reader.translate(frame)] + list(reader.finish())


def stream(event, **more):
    return {"type": "stream_event", "event": event, "parent_tool_use_id": None, **more}


def message_start(name, **usage):
    return stream({"type": "message_start", "message": {"id": name, "model": "opus", "usage": usage}})


def delta(**fields):
    return stream({"type": "content_block_delta", "index": 0, "delta": fields})


def assistant(name, *content, parent=None, **more):
    message = {"id": name, "model": "opus", "content": list(content), **more}
    return {"type": "assistant", "message": message, "parent_tool_use_id": parent}


def result(**fields):
    return {"type": "result", "subtype": "success", "is_error": False, "stop_reason": "end_turn", **fields}


def step(index, kind, state="DONE", **fields):
    return {
        "event": "step_update",
        "step_update": {"conversation_id": "c", "step_index": index, "state": state, "step_type": kind, **fields},
    }


def agy_turn():
    """A turn with one tool, in the shape of the public recordings of agy 1.1.11."""
    call = {"name": "run", "parameters": {"CommandLine": "ls"}}

    def usage(given, out, cached):
        figures = {"input_tokens": given, "output_tokens": out, "thinking_tokens": 1, "cache_read_tokens": cached}
        return {**figures, "total_tokens": given + out}

    return [
        {"event": "init", "conversation_id": "c", "init": {"tools": []}},
        step(0, "user_input"),
        step(1, "agent_response", usage=usage(1_000, 30, 0)),
        step(2, "tool", "ACTIVE", tool_name="run", tool_info=call),
        step(2, "tool", tool_info={**call, "output": "a\r\n"}),
        step(3, "agent_response", "ACTIVE", text_delta="Do"),
        step(3, "agent_response", text_delta="ne", usage=usage(100, 5, 950)),
        {"event": "result", "result": {"status": "SUCCESS", "response": "Done", "usage": usage(9_999, 999, 9_999)}},
    ]


def shown(event):
    """An event as one readable line: what is not null."""
    fields = {name: value for name, value in to_object(event).items() if value not in (None, {}, [])}
    name = fields.pop("event")
    del fields["format_version"]
    return " ".join([name, *(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in fields.items())])


@pytest.mark.parametrize("path", recordings())
def test_recordings_become_events(path, snapshot):
    events = list(replay(*read(path), Ended(), reading(path)))

    assert [event for event in events if isinstance(event, Unknown)] == []
    assert "\n".join(map(shown, events)) == snapshot


@pytest.mark.parametrize("path", recordings())
def test_a_recording_cut_anywhere_gives_the_same(path):
    out, err = read(path)
    reader = Reader(reading(path))
    pieces = [out[n : n + 997] for n in range(0, len(out), 997)]
    events = [event for piece in pieces for event in reader.stdout(piece)]
    events += [event for n in range(len(err)) for event in reader.stderr(err[n : n + 1])]

    assert [*events, *reader.close(Ended())] == list(replay(out, err, Ended(), reading(path)))


@pytest.mark.parametrize("path", recordings())
def test_a_recording_that_breaks_off_anywhere_is_read_to_there(path):
    out, _ = read(path)
    for size in range(0, len(out), max(1, len(out) // 12)):
        for event in replay(out[:size], b"", Ended(), reading(path)):
            assert to_line(event)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def mutations(value, path=()):
    """Every place in a JSON value."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from mutations(item, (*path, key))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from mutations(item, (*path, index))


def changed(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@given(data=st.data())
def test_no_frame_makes_a_translator_raise(dialect, data):
    folder = next((name for name, known in DIALECT.items() if known == dialect), "agy")
    paths = sorted((RECORDINGS / folder).glob("*tool*.jsonl"))
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    samples = [json.loads(line) for line in lines] or agy_turn()
    frames = data.draw(st.lists(st.sampled_from(samples), min_size=1, max_size=6))
    place = data.draw(st.sampled_from(list(mutations(frames))))
    reader = translator(dialect)
    for frame in changed(frames, place, data.draw(JSON)) if place else frames:
        if isinstance(frame, dict):
            for event in (*reader.translate(frame), *reader.sent(frame)):
                assert isinstance(event, Trouble) or to_line(event)
    assert isinstance(list(reader.finish()), list)


def test_every_one_of_twenty_thousand_text_frames_is_an_event():
    frame = json.dumps(
        stream({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}})
    )
    data = (json.dumps(message_start("m1", input_tokens=1)) + "\n" + (frame + "\n") * 20_000).encode()
    reader = Reader(Reading("claude-stream-json"))
    lines = [to_line(event) for n in range(0, len(data), 4096) for event in reader.stdout(data[n : n + 4096])]

    assert len(lines) == 20_000


# Claude's dialect


def test_text_that_streamed_does_not_come_again_with_the_whole_message():
    events = translated(
        "claude-stream-json",
        message_start("m1", input_tokens=3),
        delta(type="text_delta", text="Hel"),
        delta(type="text_delta", text="lo"),
        assistant("m1", {"type": "text", "text": "Hello"}),
        delta(type="text_delta", text="!"),
        assistant("m1", {"type": "text", "text": "!"}),
    )

    assert [event.text for event in events if isinstance(event, Text)] == ["Hel", "lo", "!"]


def test_what_did_not_stream_comes_with_the_whole_message():
    events = translated(
        "claude-stream-json",
        message_start("m1", input_tokens=3),
        delta(type="text_delta", text="Hel"),
        assistant("m1", {"type": "text", "text": "Hello"}, {"type": "thinking", "thinking": "hm"}),
        assistant("m2", {"type": "text", "text": "Hello"}),
    )

    assert [event for event in events if isinstance(event, Text | Thinking)] == [
        Text("Hel", "m1"),
        Text("lo", "m1"),
        Thinking("hm", "m1"),
        Text("Hello", "m2"),
    ]


def test_a_result_is_the_answer_only_where_nothing_else_was():
    spoke = translated("claude-stream-json", assistant("m1", {"type": "text", "text": "yes"}), result(result="yes"))
    quiet = translated("claude-stream-json", result(result="## Context Usage", num_turns=0))
    later = translated("claude-stream-json", result(result="said before the turn ended", num_turns=1))

    assert [event.text for event in spoke if isinstance(event, Text)] == ["yes"]
    assert [event.text for event in later if isinstance(event, Text)] == []
    assert [event.text for event in quiet if isinstance(event, Text)] == ["## Context Usage"]


def test_a_tool_is_called_once_with_its_whole_input():
    tool = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    streamed = (
        message_start("m1", input_tokens=3),
        stream({"type": "content_block_start", "index": 0, "content_block": tool}),
        delta(type="input_json_delta", partial_json='{"command":'),
        delta(type="input_json_delta", partial_json=' "ls"}'),
        stream({"type": "content_block_stop", "index": 0}),
        assistant("m1", {**tool, "input": {"command": "ls"}}),
    )

    assert [event for event in translated("claude-stream-json", *streamed) if isinstance(event, ToolCall)] == [
        ToolCall("t1", "Bash", {"command": "ls"})
    ]


@pytest.mark.parametrize(("text", "value"), [("", {}), ("{no json", "{no json"), ("[1]", [1])])
def test_a_tools_input_may_be_empty_or_no_json(text, value):
    tool = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    events = translated(
        "claude-stream-json",
        stream({"type": "content_block_start", "index": 0, "content_block": tool}),
        delta(type="input_json_delta", partial_json=text),
        stream({"type": "content_block_stop", "index": 0}),
    )

    assert events == [ToolCall("t1", "Bash", value)]


def test_a_sub_agent_speaks_under_its_call_and_its_output_is_not_known():
    usage = {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 1}
    frame = assistant("m9", {"type": "text", "text": "found it"}, parent="t1", usage=usage, stop_reason=None)

    assert translated("claude-stream-json", frame, frame) == [
        Text("found it", "m9", "t1"),
        Usage("call", 5, 7, None, None, None, None, context_tokens=12, model="opus", message_id="m9", parent="t1"),
        Text("found it", "m9", "t1"),
    ]


def test_a_sub_agent_that_goes_on_after_the_turn_is_not_said_twice():
    events = translated(
        "claude-stream-json",
        {**message_start("m2", input_tokens=1), "parent_tool_use_id": "t1"},
        result(),
        {**delta(type="text_delta", text="late"), "parent_tool_use_id": "t1"},
        assistant("m2", {"type": "text", "text": "late"}, parent="t1"),
    )

    assert [event for event in events if isinstance(event, Text)] == [Text("late", "m2", "t1")]


def test_an_abandoned_message_is_named_by_the_retry():
    given_up = stream({"type": "message_stop"}, abandoned_blocks={"from_block_index": 0})
    block = stream({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
    retry = {"type": "system", "subtype": "api_retry", "attempt": 1, "retry_delay_ms": 500, "error_status": 529}

    assert translated("claude-stream-json", message_start("m1"), block, given_up, retry) == [
        Retry(1, 529, 500, None, "m1"),
        Trouble("", 529, (), "retry"),
    ]
    assert translated("claude-stream-json", message_start("m1"), block, given_up, message_start("m2")) == [
        Retry(abandoned="m1")
    ]


def test_the_closing_figures_of_a_call_keep_the_split_of_what_was_written():
    events = translated(
        "claude-stream-json",
        message_start(
            "m1",
            input_tokens=2,
            cache_read_input_tokens=10,
            cache_creation_input_tokens=7,
            cache_creation={"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4},
            output_tokens=1,
        ),
        stream(
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn"},
                "usage": {
                    "input_tokens": 2,
                    "cache_read_input_tokens": 10,
                    "cache_creation_input_tokens": 7,
                    "output_tokens": 9,
                    "output_tokens_details": {"thinking_tokens": 6},
                },
            }
        ),
        stream({"type": "message_stop"}),
        stream({"type": "message_stop"}),
    )

    assert events == [Usage("call", 2, 10, 3, 4, 9, 6, context_tokens=19, model="opus", message_id="m1")]


def test_counters_of_older_versions_become_differences():
    def closing(tokens, usd):
        return result(modelUsage={"opus": {"inputTokens": tokens, "outputTokens": 1}}, total_cost_usd=usd)

    events = translated("claude-stream-json", closing(100, 0.5), closing(250, 0.75))

    assert [event.input_tokens for event in events if isinstance(event, Usage)] == [100, 150]
    assert [event.usd for event in events if isinstance(event, Cost)] == [0.5, 0.25]


def test_where_a_session_goes_on_only_the_turns_own_figures_are_certain():
    usage = {"input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 0, "output_tokens": 5}
    frame = result(modelUsage={"opus": {"inputTokens": 900}}, total_cost_usd=7.0, usage=usage)

    assert translated("claude-stream-json", frame, start=Start(resumed=True, counters=None)) == [
        Usage("turn", 3, 4, 0, None, 5, None),
        End("end_turn"),
    ]


def test_a_turn_counts_every_model_and_the_window_is_the_sessions_models():
    init = {"type": "system", "subtype": "init", "session_id": "s", "model": "opus[1m]"}
    models = {
        "opus": {"inputTokens": 1, "outputTokens": 2, "contextWindow": 200_000, "costUSD": 0.1},
        "opus[1m]": {"inputTokens": 3, "outputTokens": 4, "contextWindow": 1_000_000, "costUSD": 0.2},
        "haiku": {"inputTokens": 5, "outputTokens": 6, "contextWindow": 9_000_000, "costUSD": 0.3},
    }
    events = translated("claude-stream-json", init, result(modelUsage=models, model_usage_since_last_result=models))

    assert events[1:] == [
        Usage("turn", 9, None, None, None, 12, None, context_window=1_000_000, model="opus[1m]"),
        Cost(0.6),
        End("end_turn"),
    ]


def test_a_permission_is_asked_and_answered():
    request = {
        "subtype": "can_use_tool",
        "tool_name": "Bash",
        "tool_use_id": "t1",
        "input": {"command": "rm x"},
        "permission_suggestions": [{"type": "addRules"}],
    }
    reader = translator("claude-stream-json")
    (asked,) = reader.translate({"type": "control_request", "request_id": "r1", "request": request})
    answer = {"subtype": "success", "request_id": "r1", "response": {"behavior": "allow", "updatedInput": {}}}
    (answered,) = reader.sent({"type": "control_response", "response": answer})

    assert [(option.id, option.kind) for option in asked.options] == [
        ("allow_once", "allow_once"),
        ("allow_always", "allow_always"),
        ("reject_once", "reject_once"),
    ]
    assert (asked.id, asked.chosen, asked.tool, asked.tool_call_id, asked.input) == (
        "r1",
        None,
        "Bash",
        "t1",
        {"command": "rm x"},
    )
    assert (answered.id, answered.chosen) == ("r1", "allow_once")
    assert list(reader.sent({"type": "control_response", "response": answer})) == []


def test_a_permission_that_is_withdrawn_was_not_denied():
    reader = translator("claude-stream-json")
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "t1", "input": {}}
    list(reader.translate({"type": "control_request", "request_id": "r1", "request": request}))
    (withdrawn,) = reader.translate({"type": "control_cancel_request", "request_id": "r1"})

    assert withdrawn.chosen == "cancelled"


def test_a_denial_that_only_the_result_lists_is_told_once():
    denial = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls"}}
    told = {"type": "system", "subtype": "permission_denied", "tool_name": "Bash", "tool_use_id": "t2"}
    listed = result(permission_denials=[denial, {**denial, "tool_use_id": "t2"}])

    events = translated("claude-stream-json", told, listed)

    assert [event.id for event in events if isinstance(event, Permission)] == ["t2", "t1"]


def test_a_conversation_that_is_dropped_is_a_compaction_to_nothing():
    frame = {"type": "conversation_reset", "new_conversation_id": "n", "trigger": "clear"}

    assert translated("claude-stream-json", frame) == [Compaction("clear", None, 0)]


def test_a_compaction_is_told_in_both_spellings():
    old = {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", "preTokens": 9}}
    new = {
        "type": "system",
        "subtype": "compact_boundary",
        "compact_metadata": {"trigger": "manual", "pre_tokens": 12_126, "post_tokens": 2_548},
    }

    assert translated("claude-stream-json", old, new) == [
        Compaction("auto", 9, None),
        Compaction("manual", 12_126, 2_548),
    ]


def test_a_session_is_told_again_only_if_it_changed():
    init = {"type": "system", "subtype": "init", "session_id": "s1", "model": "opus", "cwd": "/elsewhere"}

    assert translated("claude-stream-json", init, {**init, "cwd": "/x"}, {**init, "model": "haiku"}) == [
        Session("s1", "opus"),
        Session("s1", "haiku"),
    ]


def test_success_as_subtype_says_nothing():
    failed = result(is_error=True, api_error_status=401, result="Invalid API key", terminal_reason="api_error")

    assert translated("claude-stream-json", failed) == [
        Trouble("Invalid API key", 401, ("api_error",), "final"),
        End("error"),
    ]


def test_words_of_the_cli_are_not_the_models():
    error = {**assistant("m1", {"type": "text", "text": "Invalid API key"}, model="<synthetic>"), "error": "auth"}
    other = assistant("m2", {"type": "text", "text": "No response requested."}, model="<synthetic>")
    note = {"type": "system", "subtype": "informational", "content": "Loaded."}

    assert translated("claude-stream-json", error, other, note) == [
        Trouble("Invalid API key", None, ("auth",), "error"),
        Notice("No response requested.", "cli"),
        Notice("Loaded.", "cli"),
    ]
    qwen = translated("qwen-stream-json", delta(type="text_delta", text="[API Error: 401 no]"))
    assert qwen == [Notice("[API Error: 401 no]", "cli")]


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "brand_new"},
        {"type": "system", "subtype": "brand_new"},
        stream({"type": "brand_new"}),
        {"type": "control_request", "request_id": "r", "request": {"subtype": "hook_callback"}},
        {},
    ],
)
def test_a_frame_nobody_knows_is_kept(frame):
    assert translated("claude-stream-json", frame) == [Unknown(frame)]


def test_qwen_counts_a_call_by_its_whole_message_and_a_turn_over_the_session():
    usage = {"input_tokens": 100, "output_tokens": 5, "cache_read_input_tokens": 80}
    whole = assistant("m1", {"type": "text", "text": "ok"}, usage=usage, stop_reason=None)
    closing = result(usage={"input_tokens": 500, "output_tokens": 20, "cache_read_input_tokens": 400})
    start = Start(resumed=True, counters=Tokens(60, 240, None, None, 9, None))
    reader = translator("qwen-stream-json", start)
    events = [each for frame in (message_start("m1"), whole, closing) for each in reader.translate(frame)]

    assert [event for event in events if isinstance(event, Usage)] == [
        Usage("call", 20, 80, None, None, 5, None, context_tokens=100, model="opus", message_id="m1"),
        Usage("turn", 40, 160, None, None, 11, None),
    ]
    assert reader.counters == Tokens(100, 400, None, None, 20, None)


# Codex


def item(kind, phase="completed", **fields):
    return {"type": f"item.{phase}", "item": {"id": "item_0", "type": kind, **fields}}


def test_codex_says_only_what_a_snapshot_adds():
    events = translated(
        "codex-json",
        item("agent_message", "started", text=""),
        item("agent_message", "updated", text="Hel"),
        item("agent_message", "completed", text="Hello"),
    )

    assert events == [Text("Hel", "item_0"), Text("lo", "item_0")]


def test_codex_counts_over_the_thread():
    def done(given, cached, out):
        usage = {"input_tokens": given, "cached_input_tokens": cached, "output_tokens": out}
        return {"type": "turn.completed", "usage": {**usage, "cache_write_input_tokens": 0}}

    assert translated("codex-json", done(100, 80, 5), done(250, 200, 9)) == [
        Usage("turn", 20, 80, 0, None, 5, None),
        End("end_turn"),
        Usage("turn", 30, 120, 0, None, 4, None),
        End("end_turn"),
    ]
    assert translated("codex-json", done(100, 80, 5), start=Start(resumed=True, counters=None)) == [End("end_turn")]
    anew = Start(resumed=True, counters=Tokens(900, 900, 900, None, 900, None))
    assert translated("codex-json", done(100, 80, 5), start=anew)[0] == Usage("turn", 20, 80, 0, None, 5, None)


def test_codex_tools_of_every_kind():
    events = translated(
        "codex-json",
        item("file_change", changes=[{"path": "a.py", "kind": "add"}], status="completed"),
        item("mcp_tool_call", server="s", tool="t", arguments={}, error={"message": "no"}, status="failed"),
        item("web_search", query="agentmux"),
        item("command_execution", "started", command="ls", status="in_progress"),
        item("command_execution", command="ls", aggregated_output="a\n", exit_code=0, status="completed"),
    )

    assert events == [
        ToolCall("item_0", "file_change", {"changes": [{"path": "a.py", "kind": "add"}]}),
        ToolResult("item_0", ok=True, output=""),
        ToolCall("item_0", "mcp__s__t", {}),
        ToolResult("item_0", ok=False, output="no"),
        ToolCall("item_0", "web_search", {"query": "agentmux"}),
        ToolResult("item_0", ok=None, output=""),
        ToolCall("item_0", "command_execution", {"command": "ls"}),
        ToolResult("item_0", ok=True, output="a\n"),
    ]


def test_codex_thinks_its_list_of_things_to_do():
    first = item("todo_list", "started", items=[{"text": "look", "completed": False}])
    then = item("todo_list", "updated", items=[{"text": "look", "completed": True}])

    assert translated("codex-json", first, first, then) == [
        Thinking("[ ] look", "item_0"),
        Thinking("[x] look", "item_0"),
    ]


def test_codex_reconnects():
    frame = {"type": "error", "message": "Reconnecting... 2/5 (unexpected status 503 Service Unavailable: (busy))"}

    assert translated("codex-json", frame) == [
        Retry(2, 503, None, "unexpected status 503 Service Unavailable: (busy)"),
        Trouble("unexpected status 503 Service Unavailable: (busy)", 503, (), "retry"),
    ]


# Gemini, Kimi, Antigravity


def test_gemini_forgets_what_it_used_after_an_error():
    stats = {"total_tokens": 0, "input_tokens": 0, "output_tokens": 0, "cached": 0}
    failed = {"type": "result", "status": "error", "stats": stats}

    assert translated("gemini-json", failed) == [Trouble("", None, (), "final"), End("error")]


def test_gemini_counts_over_the_process():
    def done(total, given, out, cached):
        stats = {"total_tokens": total, "input_tokens": given, "output_tokens": out, "cached": cached}
        return {"type": "result", "status": "success", "stats": stats}

    assert translated("gemini-json", done(130, 100, 20, 60), done(260, 200, 40, 150)) == [
        Usage("turn", 40, 60, None, None, 30, 10),
        End("end_turn"),
        Usage("turn", 10, 90, None, None, 30, 10),
        End("end_turn"),
    ]


def test_gemini_warns_and_fails():
    warning = {"type": "error", "severity": "warning", "message": "Loop detected, stopping execution"}
    error = {"type": "error", "severity": "error", "message": "Maximum session turns exceeded"}

    assert translated("gemini-json", warning, error) == [
        Notice("Loop detected, stopping execution", "cli"),
        Trouble("Maximum session turns exceeded", None, (), "error"),
    ]


def test_the_older_kimi_speaks_in_parts_and_has_no_last_frame():
    said = {
        "role": "assistant",
        "content": [{"type": "think", "think": "hm"}, {"type": "text", "text": "Hello"}],
        "tool_calls": [{"type": "function", "id": "c1", "function": {"name": "ReadFile", "arguments": '{"path":"a"}'}}],
    }
    failed = {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "<system>ERROR: no</system>"}]}
    note = {"category": "task", "type": "done", "title": "t", "body": "A task is done."}
    lines = b"".join(json.dumps(frame).encode() + b"\n" for frame in (said, failed, note))

    assert list(replay(lines, b"", Ended(0), Reading("kimi-stream-json"))) == [
        Thinking("hm"),
        Text("Hello"),
        ToolCall("c1", "ReadFile", {"path": "a"}),
        ToolResult("c1", ok=False, output="<system>ERROR: no</system>"),
        Notice("A task is done.", "cli"),
    ]


def test_antigravity_adds_its_steps_up():
    events = translated("agy-stream-json", *agy_turn())

    assert events == [
        Session("c"),
        Usage("call", 1_000, 0, None, None, 30, 1, context_tokens=1_000, message_id="c-1"),
        ToolCall("c-2", "run", {"CommandLine": "ls"}),
        ToolResult("c-2", ok=True, output="a\r\n"),
        Text("Do", "c-3"),
        Text("ne", "c-3"),
        Usage("call", 100, 950, None, None, 5, 1, context_tokens=1_050, message_id="c-3"),
        Usage("turn", 1_100, 950, None, None, 35, 2),
        End("end_turn"),
    ]


def test_antigravity_fails():
    failed = {"event": "result", "result": {"status": "ERROR", "response": ""}}

    assert translated("agy-stream-json", failed) == [Trouble("", None, (), "final"), End("error")]


# The registry


def test_every_dialect_says_where_its_figures_were_seen():
    assert sorted(DIALECTS) == [
        "acp",
        "agy-stream-json",
        "claude-stream-json",
        "codex-json",
        "gemini-json",
        "kimi-stream-json",
        "none",
        "qwen-stream-json",
    ]
    assert all(dialect.convention.source for dialect in DIALECTS.values())


def test_recordings_show_every_kind_of_event_but_the_unknown_and_those_of_acp_alone():
    paths = sorted(RECORDINGS.glob("*/*.jsonl"))
    seen = {type(event) for path in paths for event in replay(*read(path), Ended(), reading(path))}

    assert set(NAMES) - seen == {Unknown, Plan, Mode, Commands}
