"""Shapes that no recording shows: older versions, forks that copy, lines that say too little."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from agentmux_launcher.usage import Convention, Tokens
from agentmux_usage.readers import reader

WITHOUT = Convention("test", "calls", input_includes_cached=False)
WITH = Convention("test", "calls", input_includes_cached=True)
APART = Convention("test", "calls", input_includes_cached=True, output_includes_reasoning=False)
NOON = "2026-11-30T12:00:00.000Z"
SECONDS = 1796040000.0


def read(name, values, convention=WITHOUT):
    """The responses of lines, and what was left out."""
    notes = Counter()
    reading = reader(name)(convention, notes)
    lines = [json.dumps(value, separators=(",", ":")).encode() for value in values]
    found = [each for line in lines if reading.wants(line) for each in reading.line(line)]
    return [*found, *reading.finish()], dict(notes)


def assistant(name="msg_1", output=5, **more):
    message = {"id": name, "model": "opus", "usage": {"input_tokens": 1, "output_tokens": output}}
    return {"type": "assistant", "timestamp": NOON, "sessionId": "s", "message": message} | more


def user(content="Go on.", **more):
    return {"type": "user", "timestamp": NOON, "sessionId": "s", "message": {"content": content}} | more


RESULT = user([{"type": "tool_result", "content": "x"}])


def places(values):
    return [(each.message_id, each.turn, each.kind) for each in read("claude", values)[0]]


def using(**usage):
    message = {"id": "m", "model": "opus", "usage": {"input_tokens": 1, "output_tokens": 5, **usage}}
    return {"type": "assistant", "timestamp": NOON, "sessionId": "s", "message": message}


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"cache_read_input_tokens": None}, Tokens(1, None, None, None, 5)),
        ({"cache_read_input_tokens": "9000"}, Tokens(None, None, None, None, 5)),
        ({"cache_read_input_tokens": -1}, Tokens(None, None, None, None, 5)),
        ({"cache_creation_input_tokens": 1.5}, Tokens(None, None, None, None, 5)),
        ({"cache_creation": {"ephemeral_1h_input_tokens": True}}, Tokens(None, None, None, None, 5)),
        (
            {"cache_creation_input_tokens": 70, "cache_creation": {"ephemeral_1h_input_tokens": 50}},
            Tokens(1, None, 20, 50, 5),
        ),
    ],
)
def test_claude_a_cache_figure_that_is_no_count_makes_the_input_unknown_and_not_less(usage, tokens):
    (found,), _ = read("claude", [using(**usage)])

    assert found.tokens == tokens


def test_others_too():
    gemini = [
        {"sessionId": "s"},
        {"type": "gemini", "id": "m", "timestamp": NOON, "tokens": {"input": 9, "cached": "8"}},
    ]
    record = {"event.name": "qwen-code.api_response", "response_id": "m", "input_token_count": 9}
    qwen = {
        "sessionId": "s",
        "timestamp": NOON,
        "systemPayload": {"uiEvent": record | {"cached_content_token_count": -8}},
    }
    usage = {"input_tokens": 9, "cached_input_tokens": [8]}
    codex = {
        "type": "token_usage_record",
        "timestamp": NOON,
        "payload": {"response_id": "m", "session_id": "s", "usage": usage},
    }

    for name, lines in (("gemini", gemini), ("qwen", [qwen]), ("codex", [codex])):
        (found,), _ = read(name, lines, WITH)
        assert (found.tokens.input, found.tokens.cache_read) == (None, None)


def test_claude_a_turn_begins_with_the_first_response_to_the_person():
    meta = user("A skill.", isMeta=True)

    said = [assistant("before"), user(), user(), assistant("a"), RESULT, assistant("b"), meta, assistant("c")]

    assert places([*said, user(turnOrigin="task_notification"), assistant("d"), user(), assistant("e")]) == [
        ("before", 0, "main"),
        ("a", 1, "main"),
        ("b", 1, "main"),
        ("c", 1, "main"),
        ("d", 1, "main"),
        ("e", 2, "main"),
    ]


def test_claude_what_a_tool_gave_back_is_no_turn_whatever_it_is_beside():
    beside = user([{"type": "tool_result", "content": "x"}], toolUseResult={"agentType": "assistant"})

    assert places([user(), assistant("a"), beside, assistant("b")]) == [("a", 1, "main"), ("b", 1, "main")]


def test_claude_inline_sidechains_threads_and_the_calls_of_the_cli_itself():
    assert places(
        [
            user(),
            assistant("a"),
            user("Look there.", isSidechain=True),
            assistant("inline", isSidechain=True),
            assistant("thread", isSidechain=True, agentId="a12"),
            assistant("summary", isSidechain=True, agentId="acompact-12"),
            assistant("b"),
        ]
    ) == [
        ("a", 1, "main"),
        ("inline", 1, "subagent"),
        ("thread", 1, "subagent"),
        ("summary", 1, "side"),
        ("b", 1, "main"),
    ]


def test_claude_the_first_response_after_a_summary():
    boundary = {"type": "system", "subtype": "compact_boundary", "sessionId": "s"}
    summary = user("What was before.", isCompactSummary=True)

    found, _ = read("claude", [user(), assistant("a"), boundary, summary, assistant("b"), assistant("c")])

    assert [(each.turn, each.after_compaction) for each in found] == [(1, False), (1, True), (1, False)]


def test_claude_a_response_grows_over_its_lines_and_keeps_its_first_time():
    later = {"timestamp": "2026-11-30T12:00:09.000Z", "requestId": "req_1"}
    lines = [assistant(output=2, requestId="req_1"), assistant(output=90, **later), assistant(output=90, **later)]

    (response,), notes = read("claude", lines)

    assert (response.time, response.tokens, notes) == (SECONDS, Tokens(1, None, None, None, 90, None), {})


def test_claude_lifetimes_cost_and_what_is_not_there():
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        "output_tokens": 7,
    }
    whole = assistant(costUSD=0.25, message={"id": "m", "usage": usage})
    nameless = {"type": "assistant", "timestamp": NOON, "sessionId": "s", "uuid": "u", "message": {"usage": {}}}
    synthetic = assistant("error", message={"id": "e", "model": "<synthetic>", "usage": {"output_tokens": 0}})

    found, notes = read("claude", [whole, synthetic, nameless])

    assert [(each.message_id, each.usd, each.tokens, each.model) for each in found] == [
        ("m", 0.25, Tokens(3, 4, 10, 20, 7), None),
        ("u", None, Tokens(), None),
    ]
    assert notes == {}


@pytest.mark.parametrize(
    "line",
    [
        assistant(timestamp="yesterday"),
        assistant(sessionId=7),
        assistant(message={"id": None, "usage": {}}),
        assistant(message={"id": "m", "usage": 5}),
        assistant(message=5, usage={}),
    ],
)
def test_claude_a_line_that_says_too_little_is_counted_as_unknown(line):
    assert read("claude", [line]) == ([], {"unknown": 1})


def test_a_line_that_is_no_json_is_counted_and_one_cut_in_a_character_is_read():
    notes = Counter()
    reading = reader("claude")(WITHOUT, notes)
    cut = json.dumps(assistant(cwd="/home/é"), separators=(",", ":"), ensure_ascii=False).encode().replace(b"\xa9", b"")

    assert list(reading.line(b'{"usage":1]')) == []
    assert list(reading.line(b'["usage"]')) == []
    assert [*reading.line(cut), *reading.finish()][0].cwd == "/home/�"
    assert dict(notes) == {"not json": 2}


def codex(kind, **payload):
    return {"timestamp": NOON, "type": kind, "payload": payload}


def event(kind, **payload):
    return codex("event_msg", type=kind, **payload)


def counted(total, last=None):
    def figures(all_input, cached, output):
        return {"input_tokens": all_input, "cached_input_tokens": cached, "output_tokens": output}

    info = {"total_token_usage": figures(*total)} | ({"last_token_usage": figures(*last)} if last else {})
    return event("token_count", info=info)


META = codex("session_meta", id="s", cli_version="0.40.0", cwd="/app")
ASKED = [event("user_message", message="Go."), codex("turn_context", model="gpt-5", effort="high", cwd="/app/lib")]


def test_codex_counters_are_counted_by_what_they_grow():
    lines = [META, *ASKED, event("token_count", info=None), counted((100, 0, 10), (100, 0, 10))]
    lines += [
        counted((100, 0, 10), (100, 0, 10)),
        counted((300, 90, 15), (200, 90, 5)),
        *ASKED,
        counted((450, 200, 20)),
    ]

    found, notes = read("codex", lines, WITH)

    assert [(each.turn, each.tokens) for each in found] == [
        (1, Tokens(100, 0, None, None, 10)),
        (1, Tokens(110, 90, None, None, 5)),
        (2, Tokens(40, 110, None, None, 5)),
    ]
    assert {(each.session_id, each.model, each.effort, each.cwd, each.cli_version) for each in found} == {
        ("s", "gpt-5", "high", "/app/lib", "0.40.0")
    }
    assert notes == {}


def test_codex_counters_that_begin_anew_tell_of_the_last_call():
    found, _ = read("codex", [META, counted((500, 0, 50), (500, 0, 50)), counted((80, 0, 8), (80, 0, 8))], WITH)

    assert [each.tokens for each in found] == [Tokens(500, 0, None, None, 50), Tokens(80, 0, None, None, 8)]


def test_codex_counters_of_a_session_that_went_on_elsewhere_tell_of_the_last_call():
    (response,), _ = read("codex", [META, counted((900, 0, 90), (80, 0, 8))], WITH)

    assert response.tokens == Tokens(80, 0, None, None, 8)


def test_codex_a_copy_is_known_by_the_first_session_and_its_counters():
    original, _ = read("codex", [META, counted((100, 0, 10), (100, 0, 10))], WITH)
    fork = codex("session_meta", id="t", forked_from_id="s")
    copied, _ = read(
        "codex", [fork, META, counted((100, 0, 10), (100, 0, 10)), counted((150, 0, 12), (50, 0, 2))], WITH
    )

    assert copied[0].message_id == original[0].message_id
    assert [each.session_id for each in copied] == ["t", "t"]
    assert copied[1].message_id != copied[0].message_id


def test_codex_a_spawned_thread_is_a_subagent_of_its_parent():
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "s", "depth": 1}}}

    (response,), _ = read("codex", [codex("session_meta", id="t", source=source), counted((9, 0, 1), (9, 0, 1))], WITH)

    assert (response.session_id, response.thread, response.kind) == ("s", "t", "subagent")


def test_codex_records_make_counters_void():
    record = codex(
        "token_usage_record",
        thread_id="t",
        session_id="s",
        response_id="resp",
        usage={"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2, "reasoning_output_tokens": 1},
    )

    found, notes = read("codex", [META, record, counted((9, 4, 2), (9, 4, 2)), codex("token_usage_record")], WITH)

    assert [(each.message_id, each.kind, each.thread, each.tokens) for each in found] == [
        ("resp", "subagent", "t", Tokens(5, 4, None, None, 2, 1))
    ]
    assert notes == {"unknown": 1}


GEMINI = {"sessionId": "s", "projectHash": "h", "startTime": NOON, "kind": "main"}


def gemini(name, **tokens):
    return {"id": name, "timestamp": NOON, "type": "gemini", "model": "pro", "tokens": tokens}


def test_gemini_thoughts_and_what_tools_put_into_the_prompt():
    (response,), notes = read("gemini", [GEMINI, gemini("a", input=10, cached=4, output=3, thoughts=2, tool=5)], APART)

    assert (response.tokens, notes) == (Tokens(11, 4, None, None, 5, 2), {})


def test_gemini_a_result_of_a_tool_is_no_turn_and_a_subagent_is_its_own_thread():
    asked = {"type": "user", "content": [{"text": "Go."}]}
    gave = {"type": "user", "content": [{"functionResponse": {}}]}
    lines = [asked, gemini("a", input=1, output=1), gave, gemini("b", input=1, output=1), asked]

    main, _ = read("gemini", [GEMINI, *lines, gemini("c", input=1, output=1)], APART)
    (beside,), _ = read("gemini", [GEMINI | {"kind": "subagent"}, gemini("a", input=1, output=1)], APART)

    assert [each.turn for each in main] == [1, 1, 2]
    assert (beside.kind, beside.thread) == ("subagent", "s")


def test_gemini_an_older_file_is_one_object(tmp_path):
    asked = {"id": "u", "type": "user", "content": "Go."}
    chat = GEMINI | {"messages": [asked, gemini("a", input=10, cached=0, output=3, thoughts=0, tool=0)]}
    path = tmp_path / "session-1.json"
    path.write_text(json.dumps(chat, indent=2), encoding="utf-8")

    (response,) = reader("gemini-json")(APART, Counter()).file(path)

    assert (response.session_id, response.turn, response.tokens) == ("s", 1, Tokens(10, 0, None, None, 3, 0))


def qwen(**more):
    return {"uuid": "u", "sessionId": "s", "timestamp": NOON, "version": "0.1"} | more


def qwen_line(**figures):
    names = {"input": "promptTokenCount", "output": "candidatesTokenCount"}
    usage = {names[name]: value for name, value in figures.items()}
    return qwen(type="assistant", model="coder", usageMetadata=usage)


def qwen_record(name, agent=None, **figures):
    names = {"input": "input_token_count", "output": "output_token_count"}
    said = {"event.name": "qwen-code.api_response", "response_id": name, "model": "coder"}
    beside = {} if agent is None else {"subagent_name": agent, "subagent_id": f"{agent}-1"}
    return qwen(type="system", systemPayload={"uiEvent": said | beside | {names[n]: v for n, v in figures.items()}})


def test_qwen_a_line_counts_only_where_no_record_says_the_same():
    lines = [qwen_record("a", input=5, output=2), qwen_line(input=5, output=2), qwen_line(input=5, output=2)]

    found, _ = read("qwen", lines, WITH)

    assert [(each.message_id, each.tokens) for each in found] == [
        ("a", Tokens(5, None, None, None, 2)),
        ("u", Tokens(5, None, None, None, 2)),
    ]


def test_qwen_agents_of_the_cli_are_side_calls_and_others_are_subagents():
    found, _ = read("qwen", [qwen_record("a", "managed-memory", input=1), qwen_record("b", "explorer", input=1)], WITH)

    assert [(each.kind, each.thread) for each in found] == [("side", "managed-memory-1"), ("subagent", "explorer-1")]


def test_a_state_goes_on_where_it_was():
    lines = [META, *ASKED, counted((100, 0, 10), (100, 0, 10)), counted((150, 0, 12), (50, 0, 2))]
    notes = Counter()
    first = reader("codex")(WITH, notes)
    before = [each for value in lines[:4] for each in first.value(value)]
    second = reader("codex")(WITH, notes, json.loads(json.dumps(first.state)))

    assert [*before, *second.value(lines[4])] == read("codex", lines, WITH)[0]
