from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_compiler.lowering.figures import convention_of, own_words
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_launcher.accounting import account
from agentmux_launcher.events import (
    Commands,
    Compaction,
    Cost,
    End,
    Failure,
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
    to_object,
)
from agentmux_launcher.failure_table import table_for
from agentmux_launcher.reading import Ended, Reader, Reading, replay
from agentmux_launcher.translators import translator
from agentmux_launcher.trouble import Trouble
from agentmux_launcher.usage import Convention, Start, Tokens

RECORDINGS = Path(__file__).parent / "fixtures" / "acp"
PROVIDER = {"claude-agent-acp": "claude", "codex-acp": "codex"}
AGENTS = sorted(path.name for path in RECORDINGS.iterdir())
# What agents ask that no protocol has: whoever drives one refuses it.
UNKNOWN = {("qwen", "craft/drainMidTurnQueue")}
# What the endpoint said of each call when these were recorded.
OPENAI, ANTHROPIC = Tokens(234, 1_000, None, None, 56, 7), Tokens(184, 1_000, 50, None, 56, None)


def recordings():
    paths = sorted(RECORDINGS.glob("*/*.jsonl"))
    return [pytest.param(path, id=f"{path.parent.name}-{path.stem}") for path in paths]


def read(path):
    known = path.with_suffix(".stderr")
    return path.read_bytes(), known.read_bytes() if known.exists() else b""


def reading(agent, **more):
    provider = PROVIDER.get(agent, agent)
    mode = load_provider(provider).modes["acp"]
    words = own_words(mode)
    return Reading(
        "acp", table_for(provider, "acp"), convention=convention_of(mode), lasting=True, own_words=words, **more
    )


def events_of(agent, name, **more):
    return list(replay(*read(RECORDINGS / agent / f"{name}.jsonl"), Ended(), reading(agent, **more)))


def turns(events):
    """The events of each turn, its end and its failure among them."""
    pieces, rest = [], []
    for event in events:
        if isinstance(event, Failure) and pieces and not [each for each in rest if not isinstance(each, Notice)]:
            pieces[-1].append(event)
            continue
        rest.append(event)
        if isinstance(event, End):
            pieces.append(rest)
            rest = []
    return pieces


def only(kind, events):
    return [event for event in events if isinstance(event, kind)]


def shown(event):
    """An event as one readable line: what is not null."""
    fields = {name: value for name, value in to_object(event).items() if value not in (None, {}, [])}
    name = fields.pop("event")
    del fields["format_version"]
    return " ".join([name, *(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in fields.items())])


# Frames


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def result(number, **fields):
    return {"jsonrpc": "2.0", "id": number, "result": fields}


def error(number, code, message, data=None):
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message, "data": data}}


def update(name, /, **fields):
    params = {"sessionId": "s", "update": {"sessionUpdate": name, **fields}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def said(text, kind="agent_message_chunk", **fields):
    return update(kind, content={"type": "text", "text": text}, **fields)


def tool(call_id, **fields):
    return update("tool_call", toolCallId=call_id, **fields)


def tool_update(call_id, **fields):
    return update("tool_call_update", toolCallId=call_id, **fields)


def asks(number, call_id, **call):
    options = [
        {"optionId": "no", "kind": "reject_once", "name": "No"},
        {"optionId": "yes", "kind": "allow_once", "name": "Yes"},
    ]
    return request(number, "session/request_permission", toolCall={"toolCallId": call_id, **call}, options=options)


def chosen(number, option):
    return result(number, outcome={"outcome": "selected", "optionId": option})


PROMPT = request(3, "session/prompt", sessionId="s", prompt=[{"type": "text", "text": "hello"}])


def end(number=3, reason="end_turn", **fields):
    return result(number, stopReason=reason, **fields)


def told(*frames, words=(), convention=None, start=None):
    """What is made of frames of both sides; ours are marked by a tuple."""
    made = translator("acp", start or Start(), convention, words)
    pairs = [made.sent(frame[0]) if isinstance(frame, tuple) else made.translate(frame) for frame in frames]
    return [event for events in pairs for event in events] + list(made.finish())


def events(*frames, **more):
    return [event for event in told(*frames, **more) if not isinstance(event, Trouble)]


def troubles(*frames, **more):
    return [event for event in told(*frames, **more) if isinstance(event, Trouble)]


def stream(*frames):
    """Frames as they stand in a recording of both sides."""
    lines = [
        {"dir": "in", "frame": frame[0]} if isinstance(frame, tuple) else {"dir": "out", "frame": frame}
        for frame in frames
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def failures(*frames, agent="opencode", stderr=b""):
    read_of = replay(stream(*frames), stderr, Ended(0), reading(agent))
    return [event.class_.value for event in read_of if isinstance(event, Failure)]


def convention(turn="turn", **more):
    fields = {"input_includes_cached": False, "field": "usage", **more}
    return Convention("measured", turn, **fields)


def usage(**figures):
    return {"usage": figures}


# The recordings


@pytest.mark.parametrize("path", recordings())
def test_recordings_become_events(path, snapshot):
    made = list(replay(*read(path), Ended(), reading(path.parent.name)))
    unknown = {(path.parent.name, event.frame.get("method")) for event in only(Unknown, made)}

    assert unknown <= UNKNOWN
    assert "\n".join(map(shown, made)) == snapshot


@pytest.mark.parametrize("path", recordings())
def test_a_recording_cut_anywhere_gives_the_same(path):
    out, err = read(path)
    reader = Reader(reading(path.parent.name))
    pieces = [out[n : n + 997] for n in range(0, len(out), 997)]
    made = [event for piece in pieces for event in reader.stdout(piece)]
    made += [event for n in range(0, len(err), 7) for event in reader.stderr(err[n : n + 7])]

    assert [*made, *reader.close(Ended())] == list(replay(out, err, Ended(), reading(path.parent.name)))


@pytest.mark.parametrize("path", recordings())
def test_what_the_agent_wrote_is_enough_but_for_what_was_chosen(path):
    """Only what we send says that a session is loaded, that a turn is called off, which mode we set."""
    lines = [json.loads(line) for line in read(path)[0].splitlines()]
    sent = {line["frame"].get("method") for line in lines if line["dir"] == "in"}
    if sent & {"session/load", "session/cancel", "session/set_mode"}:
        return
    alone = "".join(json.dumps(line["frame"]) + "\n" for line in lines if line["dir"] == "out")
    both, one = (
        list(replay(data, b"", Ended(), reading(path.parent.name))) for data in (read(path)[0], alone.encode())
    )
    kinds = (Text, Thinking, ToolCall, ToolResult, Usage, Cost, Plan, Mode, Commands, End)

    assert only(kinds, one) == only(kinds, both)


def test_recordings_of_every_agent_are_here():
    assert AGENTS == [
        "claude-agent-acp",
        "cline",
        "codex-acp",
        "copilot",
        "gemini",
        "grok",
        "kilo",
        "openclaw",
        "opencode",
        "pi",
        "qwen",
    ]


def words_of(turn):
    return "".join(event.text for event in only(Text, turn))


@pytest.mark.parametrize("agent", AGENTS)
def test_a_first_turn_says_what_the_model_said_and_nothing_else(agent):
    name = "full" if (RECORDINGS / agent / "full.jsonl").exists() else "load"
    first, *_ = turns(events_of(agent, name))

    assert words_of(first) == "PONG"


@pytest.mark.parametrize("path", recordings())
def test_every_call_of_a_tool_is_told_once_with_its_input_and_before_its_result(path):
    made = list(replay(*read(path), Ended(), reading(path.parent.name)))
    calls, results = [event.id for event in only(ToolCall, made)], [event.id for event in only(ToolResult, made)]

    assert len(set(calls)) == len(calls)
    assert set(results) <= set(calls)
    assert all(event.input not in ({}, None) for event in only(ToolCall, made))
    assert [event.id for event in made if isinstance(event, ToolCall | ToolResult)] == [
        each for call in calls for each in [call] * (2 if call in results else 1)
    ]


# What agents report


def times(tokens, calls):
    numbers = (tokens.input, tokens.cache_read, tokens.cache_write, None, tokens.output, tokens.reasoning)
    return Tokens(*(None if number is None else number * calls for number in numbers))


def with_no_write(tokens):
    return Tokens(tokens.input, tokens.cache_read, 0, None, tokens.output, tokens.reasoning)


@pytest.mark.parametrize(
    ("agent", "per_call", "calls"),
    [
        ("claude-agent-acp", ANTHROPIC, [1, 2, 1]),
        ("codex-acp", with_no_write(OPENAI), [1, 2, 2]),
        ("copilot", with_no_write(OPENAI), [1, 2, 1]),
        ("grok", with_no_write(OPENAI), [1, 2, 1]),
        ("gemini", Tokens(1_234, None, None, None, 49, None), [1, 2, 1]),
    ],
)
def test_turns_add_up_to_what_the_endpoint_served(agent, per_call, calls):
    """Gemini says nothing of the cache, and leaves the thoughts out of what came out."""
    known = account(events_of(agent, "full")).turns

    assert [turn.tokens for turn in known[:3]] == [times(per_call, count) for count in calls]
    assert known[3].tokens in (None, Tokens())  # called off, and nobody counted it


@pytest.mark.parametrize("agent", ["opencode", "kilo"])
def test_who_reports_the_last_call_alone_gives_a_turn_with_tools_no_sum(agent):
    known = account(events_of(agent, "full"))

    assert [turn.tokens for turn in known.turns[:3]] == [OPENAI, Tokens(), Tokens()]
    assert [call.tokens for call in known.calls] == [OPENAI, OPENAI, OPENAI]
    assert [call.context for call in known.calls] == [1_234, 1_234, 1_234]
    assert known.tokens is None


@pytest.mark.parametrize("agent", ["pi", "openclaw", "cline"])
def test_who_reports_nothing_is_not_counted_as_nothing(agent):
    name = "reject" if agent == "cline" else "full"
    known = account(events_of(agent, name))

    assert {turn.tokens for turn in known.turns} <= {None, Tokens()}
    assert (known.context, known.reported_window) == {
        "pi": (1_306, 200_000),
        "openclaw": (1_234, 200_000),
        "cline": (None, None),
    }[agent]


def test_qwen_reports_each_call_and_its_turn_is_their_sum():
    (turn,) = account(events_of("qwen", "load")).turns

    assert turn.tokens == OPENAI
    assert [call.context for call in turn.calls] == [1_234]


def test_copilots_counters_begin_anew_with_each_session_of_a_process():
    by = convention("process", input_includes_cached=True)
    frames = [
        (request(2, "session/new"),),
        result(2, sessionId="s"),
        (PROMPT,),
        end(**usage(inputTokens=100, cachedReadTokens=60, outputTokens=5)),
        (request(4, "session/load", sessionId="t"),),
        result(4),
        (request(5, "session/prompt"),),
        end(5, **usage(inputTokens=70, cachedReadTokens=60, outputTokens=1)),
        (request(6, "session/prompt"),),
        end(6, **usage(inputTokens=80, cachedReadTokens=60, outputTokens=3)),
    ]

    assert only(Usage, events(*frames, convention=by)) == [
        Usage("turn", 40, 60, None, None, 5, None),
        Usage("turn", 10, 60, None, None, 1, None),
        Usage("turn", 10, 0, None, None, 2, None),
    ]


@pytest.mark.parametrize("agent", AGENTS)
def test_what_loading_a_session_plays_again_is_no_news(agent):
    if not (RECORDINGS / agent / "load.jsonl").exists():
        return
    made = events_of(agent, "load")

    assert words_of(made) == "PONG"
    assert only((ToolCall, ToolResult, Permission, Plan, Cost, Failure), made) == []
    assert len(only(End, made)) == 1


@given(st.data())
def test_updates_in_any_order_never_raise_and_tell_each_call_once(data):
    path = data.draw(st.sampled_from(sorted(RECORDINGS.glob("*/*.jsonl"))))
    lines = read(path)[0].splitlines(keepends=True)
    made = list(replay(b"".join(data.draw(st.permutations(lines))), b"", Ended(), reading(path.parent.name)))
    calls = [event.id for event in only(ToolCall, made)]

    assert "".join(map(to_line, made)).count("\n") == len(made)
    assert len(calls) <= len(lines)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
KINDS = [
    "agent_message_chunk",
    "agent_thought_chunk",
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "plan",
    "plan_removed",
    "plan_update",
    "session_info_update",
    "tool_call",
    "tool_call_update",
    "usage_update",
    "user_message_chunk",
]
NAMES_OF_FIELDS = """
content messageId toolCallId title kind status rawInput rawOutput _meta used size cost entries
plan name availableCommands configOptions currentModeId stopReason usage sessionId models
modes agentInfo outcome protocolVersion options toolCall code message data update
sessionUpdate codex error willRetry
"""
FIELDS = st.sampled_from(NAMES_OF_FIELDS.split())
SHAPE = st.dictionaries(FIELDS, JSON | st.dictionaries(FIELDS, JSON, max_size=4), max_size=6)
METHODS = st.sampled_from(
    [
        "initialize",
        "session/new",
        "session/load",
        "session/prompt",
        "session/cancel",
        "session/set_mode",
        "session/set_config_option",
        "session/update",
        "session/request_permission",
        "_x.ai/session_notification",
        "_x.ai/mcp/server_status",
        "fs/read_text_file",
    ]
)
UPDATES = st.builds(
    lambda kind, fields: {"sessionId": "s", "update": {**fields, "sessionUpdate": kind}},
    st.sampled_from(KINDS) | JSON,
    SHAPE,
)
FRAME = st.one_of(
    st.fixed_dictionaries({"method": st.just("session/update"), "params": UPDATES}),
    st.fixed_dictionaries({"method": st.just("_x.ai/session_notification"), "params": UPDATES}),
    st.fixed_dictionaries({"id": st.integers(0, 2) | JSON, "method": METHODS | JSON, "params": SHAPE | JSON}),
    st.fixed_dictionaries({"id": st.integers(0, 2), "result": SHAPE | JSON}),
    st.fixed_dictionaries({"id": st.integers(0, 2), "error": SHAPE | JSON}),
    st.dictionaries(st.text(max_size=6), JSON, max_size=4),
)


@given(
    st.lists(st.tuples(st.booleans(), FRAME), max_size=12),
    st.sampled_from(["copilot", "opencode", "qwen", "claude-agent-acp", "gemini"]),
)
def test_no_object_raises_in_either_direction(frames, agent):
    by = reading(agent)
    made = translator("acp", Start(), by.convention, by.own_words)
    told_of = [event for ours, frame in frames for event in (made.sent(frame) if ours else made.translate(frame))]
    told_of += made.finish()

    assert all(to_line(event) for event in told_of if not isinstance(event, Trouble))


# Sessions, modes, plans, commands


def test_a_session_is_told_once_it_has_an_id_and_again_where_it_changed():
    frames = [
        (request(1, "initialize"),),
        result(1, protocolVersion=1, agentInfo={"name": "x", "version": "1.2.3"}),
        (request(2, "session/load", sessionId="s7"),),
        result(2, modes={"currentModeId": "ask"}, models={"currentModelId": "opus"}),
        update("current_mode_update", currentModeId="plan"),
        update("current_mode_update", currentModeId="plan"),
        (request(3, "session/set_mode", modeId="ask"),),
        result(3),
        (request(4, "session/set_model", modelId="haiku"),),
        result(4),
        (request(5, "session/set_config_option"),),
        result(5, configOptions=[{"id": "m", "category": "model", "currentValue": "sonnet"}]),
        update("config_option_update", configOptions=[{"id": "mode", "category": "mode", "currentValue": "bypass"}]),
    ]

    assert events(*frames) == [
        Session("s7", "opus", "1.2.3"),
        Mode("ask"),
        Mode("plan"),
        Mode("ask"),
        Session("s7", "haiku", "1.2.3"),
        Session("s7", "sonnet", "1.2.3"),
        Mode("bypass"),
    ]


def test_what_became_of_a_server_is_told_of_its_session():
    ready = {"method": "_x.ai/mcp/server_status", "params": {"name": "issues", "status": "ready"}}

    assert events((request(2, "session/new"),), result(2, sessionId="s"), ready) == [
        Session("s"),
        Session("s", mcp_servers={"issues": "ready"}),
    ]


def test_a_plan_is_told_as_a_whole_in_each_of_its_forms():
    entries = [{"content": "Read", "status": "completed", "priority": "high"}, {"content": "Write"}]

    assert events(
        update("plan", entries=entries),
        update("plan_update", plan={"type": "items", "id": "p", "entries": entries[1:]}),
        update("plan_update", plan={"type": "markdown", "id": "p", "content": "# To do"}),
        update("plan_removed", id="p"),
    ) == [
        Plan((Step("Read", "completed", "high"), Step("Write"))),
        Plan((Step("Write"),)),
        Plan((Step("# To do"),)),
        Plan(),
    ]


def test_commands_are_told_again_only_where_they_changed():
    def listed(*names):
        return update("available_commands_update", availableCommands=[{"name": name} for name in names])

    assert events(listed("a", "b"), listed("a", "b"), listed("a")) == [Commands(("a", "b")), Commands(("a",))]


# Text


def test_text_and_thoughts_keep_the_name_of_their_message():
    assert events(
        said("Hal", messageId="m"), said("lo", messageId="m"), said("hm", "agent_thought_chunk"), said("")
    ) == [Text("Hal", "m"), Text("lo", "m"), Thinking("hm")]


def test_a_piece_without_words_is_told_by_its_kind():
    assert events(update("agent_message_chunk", content={"type": "image", "data": "AAAA"})) == [Text("[image]")]


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        ([said("Error: no")], [Notice("Error: no", "cli")]),
        ([said("an "), said("Error: in it")], [Text("an "), Text("Error: in it")]),
        ([said("line\n"), said("Error: no")], [Text("line\n"), Notice("Error: no", "cli")]),
        ([said("half"), update("usage_update"), said("Error: no")], [Text("half"), Notice("Error: no", "cli")]),
        ([said("Error: of a model", messageId="m")], [Text("Error: of a model", "m")]),
        ([said("Err"), said("or: no")], [Text("Err"), Text("or: no")]),
    ],
)
def test_the_clis_own_words_are_no_answer_where_they_begin_a_line_outside_of_a_message(frames, expected):
    assert events(*frames, words=("Error:",)) == expected


def test_an_attempt_that_the_cli_tells_of_in_words_is_one():
    text = "Retrying (attempt 2/3, waiting 4s)..."

    assert told(said(text), words=("Retrying",)) == [Retry(2, None, 4_000, text), Trouble(text, weight="retry")]
    assert events(said(text)) == [Text(text)]


# Compactions


def test_a_compaction_is_told_when_it_is_done():
    frames = [
        update("compaction_update", compactionId="c", status="in_progress"),
        update("compaction_summary_chunk", compactionId="c", content={"type": "text", "text": "So far"}),
        update("compaction_update", compactionId="c", status="completed"),
        update("compaction_update", compactionId="d", status="failed", error="no room"),
        update("compaction_update", compactionId="e", status="cancelled"),
    ]

    assert told(*frames) == [Compaction(), Notice("the conversation could not be compacted: no room", "cli")]


def test_a_tool_that_stands_for_a_compaction_is_no_call():
    own = {"_meta": {"claudeCode": {"toolName": "compact"}}}
    facts = {"trigger": "auto", "preTokens": 180_000, "postTokens": 9_000}
    frames = [
        tool("c", title="Compact conversation", kind="think", status="in_progress", **own),
        tool_update("c", status="in_progress", **own),
        tool_update("c", status="completed", rawOutput=facts, **own),
    ]

    assert told(*frames) == [Compaction("auto", 180_000, 9_000)]


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        ("codex-acp", "*Context compacted to fit the model's context window.*\n\n"),
        ("pi", "Automatic compaction finished; context was summarized to continue the session."),
    ],
)
def test_a_compaction_may_be_told_in_words(agent, text):
    assert told(said(text), words=reading(agent).own_words) == [Compaction()]


# Tools


def test_a_call_is_told_when_its_arguments_are_whole():
    frames = [
        tool("t", title="bash", kind="execute", status="pending", rawInput={"cwd": "/w"}),
        tool_update("t", title="ls", status="in_progress", rawInput={"command": "ls", "cwd": "/w"}),
        tool_update("t", status="in_progress", rawInput={"command": "ls", "cwd": "/w"}),
        tool_update("t", status="completed", content=[{"type": "content", "content": {"type": "text", "text": "a"}}]),
        tool_update("t", status="completed"),
    ]

    assert events(*frames) == [
        ToolCall("t", "bash", {"command": "ls", "cwd": "/w"}),
        ToolResult("t", ok=True, output="a"),
    ]


def test_an_update_may_come_before_its_call():
    frames = [
        tool_update("t", title="run_commands: ls", status="pending", rawInput={"commands": ["ls"]}),
        tool("t", title="run_commands: ls", status="pending", rawInput={"commands": ["ls"]}),
        tool_update("t", status="failed"),
        tool_update("t", status="failed", rawOutput="no"),
    ]

    assert events(*frames) == [
        ToolCall("t", "run_commands", {"commands": ["ls"]}),
        ToolResult("t", ok=False, output=""),
    ]


def test_an_update_may_have_no_call_at_all():
    frames = [
        asks(0, "t", title="ls -l", kind="execute"),
        (chosen(0, "yes"),),
        tool_update("t", title="ls -l", kind="execute", status="completed", content=[]),
    ]
    options = (PermissionOption("no", "reject_once", "No"), PermissionOption("yes", "allow_once", "Yes"))

    assert events(*frames) == [
        ToolCall("t", "execute", "ls -l"),
        Permission("0", options, None, "execute", "t", None, "ls -l"),
        Permission("0", options, "yes", "execute", "t"),
        ToolResult("t", ok=True, output=""),
    ]


def test_calls_may_be_interleaved():
    frames = [
        tool("a", name="Read", rawInput={}),
        tool("b", name="Bash", rawInput={}),
        tool_update("b", rawInput={"command": "ls"}),
        tool_update("a", rawInput={"path": "x"}),
        tool_update("a", status="completed", rawOutput="of a"),
        tool_update("b", status="failed", rawOutput={"error": "of b"}),
    ]

    assert events(*frames) == [
        ToolCall("b", "Bash", {"command": "ls"}),
        ToolCall("a", "Read", {"path": "x"}),
        ToolResult("a", ok=True, output="of a"),
        ToolResult("b", ok=False, output="of b"),
    ]


@pytest.mark.parametrize(
    ("said_of_it", "output"),
    [
        (
            {"rawOutput": "raw", "content": [{"type": "content", "content": {"type": "text", "text": "```raw```"}}]},
            "raw",
        ),
        ({"_meta": {"terminal_output_delta": {"data": "x\n"}}}, "x\n"),
        ({"rawOutput": {"output": "o", "metadata": {}}}, "o"),
        ({"rawOutput": {"exit": 3}}, '{"exit": 3}'),
        ({"content": [{"type": "diff", "path": "a.py", "newText": "x"}]}, "[diff] a.py"),
        ({"content": [{"type": "terminal", "terminalId": "t"}]}, ""),
    ],
)
def test_what_a_tool_gave_back_stands_in_several_places(said_of_it, output):
    *_, last = events(tool("t", name="x", rawInput={"a": 1}), tool_update("t", status="completed", **said_of_it))

    assert last == ToolResult("t", ok=True, output=output)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"name": "Bash", "title": "Terminal"}, "Bash"),
        ({"title": "Shell", "_meta": {"toolName": "run_shell_command"}}, "run_shell_command"),
        ({"title": "x", "_meta": {"claudeCode": {"toolName": "Read"}}}, "Read"),
        ({"title": "probe_probe_echo", "kind": "other"}, "probe_probe_echo"),
        ({"title": "exec: command: ls", "kind": "execute"}, "exec"),
        ({"title": "print the marker", "kind": "execute"}, "execute"),
        ({"title": "print the marker"}, "print the marker"),
        ({}, "tool"),
    ],
)
def test_a_tool_has_the_name_that_its_agent_gives_it(fields, name):
    (call,) = events(tool("t", rawInput={"a": 1}, **fields))

    assert call.name == name


# Ids and answers


def test_ids_of_both_sides_are_kept_apart():
    frames = [
        (request(0, "session/prompt"),),
        asks(0, "t", name="Bash", rawInput={"command": "ls"}),
        (chosen(0, "no"),),
        said("well"),
        end(0),
    ]
    made = events(*frames)

    assert [event.chosen for event in only(Permission, made)] == [None, "no"]
    assert made[-1] == End("end_turn")


def test_a_request_that_is_called_off_is_answered_by_that():
    frames = [asks("q-1", "t", name="Bash"), (result("q-1", outcome={"outcome": "cancelled"}),), (result("q-1"),)]

    assert [(event.id, event.chosen) for event in only(Permission, events(*frames))] == [
        ("q-1", None),
        ("q-1", "cancelled"),
    ]


def test_a_second_answer_is_nobodys():
    assert events((PROMPT,), said("x"), end(), end()) == [Text("x"), End("end_turn"), Unknown(end())]


def test_an_interleaved_prompt_without_a_word_has_failed():
    second = request(4, "session/prompt")
    called = tool("t", name="Bash", rawInput={"command": "ls"})

    assert failures((PROMPT,), called, (second,), end(3), end(4)) == ["no_output"]


def test_a_call_that_is_said_to_have_ended_again_after_its_turn_is_not_told_again():
    done = tool_update("t", title="ls", kind="execute", status="completed")

    assert len(only(ToolCall, events((PROMPT,), done, end(), done))) == 1


def test_prompts_may_be_interleaved():
    second = request(4, "session/prompt")
    frames = [(PROMPT,), said("one"), (second,), end(3), said("two"), end(4)]

    assert told(*frames) == [Text("one"), End("end_turn"), Text("two"), End("end_turn")]


def test_requests_of_the_protocol_that_we_serve_say_nothing_and_others_are_unknown():
    served, other = request(1, "fs/read_text_file", path="x"), request(2, "nope/method")

    assert events(served, other, update("new_kind")) == [Unknown(other), Unknown(update("new_kind"))]


def test_a_refusal_that_ends_nothing_is_a_notice():
    refused = error(5, -32601, "Method not found")

    assert told((request(5, "session/list"),), refused) == [
        Notice("`session/list` was refused: Method not found", "cli")
    ]


# Replays


def gemini_plays_late(*live):
    return [
        (request(2, "session/load", sessionId="s"),),
        result(2, modes={"currentModeId": "default"}),
        (PROMPT,),
        said("of old", "user_message_chunk"),
        said("an old answer"),
        *live,
    ]


def test_history_that_comes_after_its_answer_is_no_news_either():
    frames = gemini_plays_late(update("available_commands_update", availableCommands=[]), said("new"), end())

    assert words_of(events(*frames)) == "new"


def test_what_gemini_plays_while_the_prompt_comes_in_is_no_news():
    """Recorded of the controller itself: part of the history came before the prompt was sent, part of it behind."""
    assert words_of(events_of("gemini", "late")) == "SECOND answer."


def test_history_may_come_on_both_sides_of_the_prompt():
    frames = [
        (request(2, "session/load", sessionId="s"),),
        said("context", "user_message_chunk"),
        result(2, modes={"currentModeId": "default"}),
        said("of old", "user_message_chunk"),
        (PROMPT,),
        said("an old answer"),
    ]
    commands = update("available_commands_update", availableCommands=[])

    assert words_of(events(*frames, commands, said("new"), end())) == "new"
    assert words_of(events(*frames[:3], frames[4], said("new"), end())) == "new"
    assert words_of(events(*frames[:4], commands, frames[4], said("new"))) == "new"


def test_an_agent_that_repeats_the_prompt_after_a_load_loses_no_word():
    assert words_of(events(*gemini_plays_late(said(" and more"), end()))) == "an old answer and more"
    assert words_of(events(*gemini_plays_late())) == "an old answer"


def test_a_request_for_permission_is_no_history():
    made = events(*gemini_plays_late(asks(0, "t", name="Bash")))

    assert [type(event) for event in made[2:]] == [Text, ToolCall, Permission]


def test_what_a_session_has_cost_before_it_was_loaded_is_not_paid_again():
    by = convention(cost="usage_update.cost")

    def cost(amount):
        return update("usage_update", used=1, size=2, cost={"amount": amount, "currency": "USD"})

    load = [(request(2, "session/load", sessionId="s"),), cost(0.5), result(2)]

    assert only(Cost, events(*load, (PROMPT,), cost(0.75), end(), convention=by)) == [Cost(0.25)]
    assert only(Cost, events((PROMPT,), cost(0.25), end(), convention=by, start=Start(resumed=True))) == []
    assert only(Cost, events((PROMPT,), cost(0.25), end(), convention=by)) == [Cost(0.25)]
    assert only(Cost, events((PROMPT,), cost(0), end(), convention=by)) == []
    assert only(Cost, events((PROMPT,), cost(0.25), end(), convention=convention())) == []


def test_how_full_the_window_is_counts_only_where_the_catalog_says_what_that_means():
    frames = [(PROMPT,), update("usage_update", used=1_290, size=200_000), end(**usage(inputTokens=5, outputTokens=1))]

    assert only(Usage, events(*frames, convention=convention(context="usage_update.used"))) == [
        Usage("turn", 5, output_tokens=1, context_tokens=1_290, context_window=200_000)
    ]
    assert only(Usage, events(*frames, convention=convention())) == [
        Usage("turn", 5, output_tokens=1, context_window=200_000)
    ]
    assert only(Usage, events(*frames)) == []


def test_a_turn_whose_calls_are_reported_has_no_figures_of_its_own():
    by = convention("calls", field="agent_message_chunk._meta.usage", context="usage_update.used")
    call = said("", _meta={"usage": {"inputTokens": 5, "outputTokens": 1}})
    frames = [(PROMPT,), call, update("usage_update", used=6, size=200_000), end()]

    assert only(Usage, events(*frames, convention=by)) == [Usage("call", 5, output_tokens=1, context_tokens=5)]


def test_a_figure_that_may_hold_another_is_not_known():
    by = convention(input_includes_cached=None, output_includes_reasoning=None)
    figures = usage(inputTokens=9, cachedReadTokens=4, outputTokens=5, thoughtTokens=2)

    assert only(Usage, events((PROMPT,), end(**figures), convention=by)) == [
        Usage("turn", None, 4, None, None, None, 2)
    ]


# Ends and failures


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        ("end_turn", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("max_turn_requests", "max_turns"),
        ("refusal", "refusal"),
        ("new_reason", "new_reason"),
    ],
)
def test_a_turn_ends_in_the_words_of_every_other_dialect(reason, word):
    assert events((PROMPT,), said("x"), end(reason=reason))[-1] == End(word)


def test_only_a_turn_that_we_called_off_was_interrupted():
    cancel = {"method": "session/cancel", "params": {"sessionId": "s"}}
    rejected = [asks(0, "t", name="Bash"), (chosen(0, "no"),)]

    assert told((PROMPT,), (cancel,), end(reason="cancelled")) == [End("interrupted")]
    assert told((PROMPT,), end(reason="cancelled")) == [Trouble("cancelled"), End("cancelled")]
    assert told((PROMPT,), *rejected, end(reason="cancelled"))[-1] == End("cancelled")
    assert troubles((PROMPT,), *rejected, end(reason="cancelled")) == []


def test_a_turn_without_a_word_has_failed_also_behind_one_that_went_well():
    well = [(PROMPT,), said("x"), end()]
    silent = [(request(4, "session/prompt"),), end(4)]

    assert failures(*silent) == failures(*well, *silent) == ["no_output"]
    assert failures(*well) == failures(*silent[:1], tool("t", name="x", rawInput={"a": 1}), end(4)) == []


def test_what_stderr_says_explains_a_silent_turn():
    table = table_for("copilot", "acp")
    stderr = b'Session "x" not found\n'
    made = list(
        replay(stream((PROMPT,), end()), stderr, Ended(), Reading("acp", table_for("grok", "acp"), lasting=True))
    )

    assert table.also == "acp"
    assert only(Failure, made)[0].class_ == "no_output"


def test_an_agent_that_ends_in_the_middle_of_a_turn_was_cut_off_also_behind_one_that_went_well():
    well = [(PROMPT,), said("x"), end()]

    assert failures(*well, (request(4, "session/prompt"),)) == ["truncated"]


@pytest.mark.parametrize(
    ("agent", "name", "expected"),
    [
        ("claude-agent-acp", "full", "truncated"),
        ("claude-agent-acp", "reject", "truncated"),
        ("cline", "reject", "no_output"),
        ("codex-acp", "full", "auth"),
        ("codex-acp", "reject", "rate_limited"),
        ("copilot", "full", "auth"),
        ("gemini", "full", "auth"),
        ("grok", "full", "auth"),
        ("kilo", "full", "auth"),
        ("kilo", "reject", "rate_limited"),
        ("openclaw", "full", "no_output"),
        ("openclaw", "reject", "truncated"),
        ("opencode", "full", "auth"),
        ("opencode", "reject", "rate_limited"),
        ("pi", "full", "no_output"),
        ("pi", "reject", "unknown"),
        ("qwen", "reject", "unknown"),
    ],
)
def test_what_an_agent_makes_of_401_and_429_has_its_class(agent, name, expected):
    """A prompt that was not answered before the process ended was cut off."""
    assert [failure.class_.value for failure in only(Failure, events_of(agent, name))] == [expected]


@pytest.mark.parametrize(
    ("agent", "answer", "means"),
    [
        ("cline", error(3, -32000, "Authentication required: Call authenticate before starting a session"), "auth"),
        ("codex-acp", error(3, -32000, "Authentication required"), "auth"),
        ("codex-acp", error(3, -32603, "Internal error", {"codexErrorInfo": "usageLimitExceeded"}), "usage_limit"),
        ("codex-acp", error(3, -32603, "Internal error", {"codexErrorInfo": {"unauthorized": {}}}), "auth"),
        ("claude-agent-acp", error(3, -32000, "Authentication required"), "auth"),
        ("claude-agent-acp", error(3, -32603, "x", {"errorKind": "authentication_failed"}), "auth"),
        ("claude-agent-acp", error(3, -32603, "x", {"errorKind": "rate_limit"}), "rate_limited"),
        ("gemini", error(3, 401, '{"error":{"code":401,"message":"mock 401","status":"UNAUTHENTICATED"}}'), "auth"),
        ("gemini", error(3, 429, "slow down"), "rate_limited"),
        ("grok", error(3, -32003, "Rate limited"), "rate_limited"),
        ("grok", error(3, -32603, "Internal error", "Unauthorized (401) from http://x/v1: no"), "auth"),
        ("qwen", error(3, -32603, "Internal error", {"details": "401 mock 401"}), "auth"),
        ("opencode", error(3, -32603, "Internal error: Incorrect API key provided: sk-x."), "auth"),
        ("kilo", error(3, -32603, "Internal error: Rate limit reached for gpt-5 on tokens"), "rate_limited"),
        ("kilo", error(3, -32603, "Internal error: Overloaded"), "overloaded"),
        ("pi", error(3, -32002, "Resource not found: session"), "resume_not_found"),
        ("openclaw", error(3, -32603, "something else"), "unknown"),
        ("opencode", error(3, -32603, None), "unknown"),
        ("opencode", end(reason="max_turn_requests"), "max_turns"),
    ],
)
def test_an_error_that_answers_a_prompt_has_its_class(agent, answer, means):
    assert failures((PROMPT,), answer, agent=agent) == [means]


def test_an_error_of_the_handshake_is_told_when_the_agent_ends():
    refused = error(2, -32603, "ACP bridge mode does not support per-session MCP servers")

    assert failures((request(2, "session/new"),), refused, agent="openclaw") == ["bad_arguments"]


def test_words_that_mean_a_failure_in_any_case_are_one_behind_a_tool_that_ran():
    frames = [(PROMPT,), tool("t", title="ls", kind="execute", rawInput={"command": "ls"})]

    assert failures(*frames, said("Error: Failed to get response from the AI model"), end(), agent="copilot") == [
        "server_error"
    ]
    assert failures(*frames, said("Info: Operation cancelled by user"), end(), agent="copilot") == []
    assert failures(*frames, said("stream disconnected before completion: x\n\n"), end(), agent="codex-acp") == [
        "network"
    ]


def test_an_attempt_that_was_overcome_is_no_failure():
    again = {"message": "Reconnecting... 1/5", "additionalDetails": "unexpected status 503 Busy", "willRetry": True}
    frames = [(PROMPT,), update("session_info_update", _meta={"codex": {"error": again}}), said("Done.", messageId="m")]

    assert only(Retry, events(*frames, end())) == [Retry(1, None, None, "unexpected status 503 Busy")]
    assert failures(*frames, end(), agent="codex-acp") == []


# The catalog


def test_every_agent_of_the_catalog_says_what_its_figures_mean():
    modes = {name: load_provider(name).modes["acp"] for name in NAMES}
    known = {name: convention_of(mode) for name, mode in modes.items() if mode}
    scopes = {name: by.turn for name, by in known.items() if by}

    assert scopes == {
        "claude": "turn",
        "cline": "none",
        "codex": "turn",
        "copilot": "process",
        "dsh": "none",
        "gemini": "turn",
        "goose": "none",
        "grok": "turn",
        "kilo": "last-call",
        "kimi": "none",
        "openclaw": "none",
        "opencode": "last-call",
        "pi": "none",
        "qwen": "calls",
    }
    assert all(by is None or by.field for by in known.values() if by and by.turn != "none")
