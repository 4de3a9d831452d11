from __future__ import annotations

import gzip
import http.client
import json
import socket
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from agentmux_launcher.recorder import Answer, Failure, Match, Recorder, Script, ServedUsage, ToolCall, Turn
from agentmux_launcher.recorder.answers import letters
from agentmux_launcher.recorder.failures import FAILURES
from agentmux_launcher.recorder.script import ScriptError, of

ANTHROPIC = "/v1/messages?beta=true"
RESPONSES = "/v1/responses"
CHAT = "/openai/v1/chat/completions"
GEMINI = "/v1beta/models/gemini-2.5-pro:generateContent"
GEMINI_STREAM = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"

BODIES = {
    ANTHROPIC: {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]},
    RESPONSES: {"model": "gpt", "input": [{"role": "user", "content": "hello"}]},
    CHAT: {"model": "qwen", "messages": [{"role": "user", "content": "hello"}]},
    GEMINI: {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]},
    GEMINI_STREAM: {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]},
}
STREAMING = {
    ANTHROPIC: {**BODIES[ANTHROPIC], "stream": True},
    RESPONSES: {**BODIES[RESPONSES], "stream": True},
    CHAT: {**BODIES[CHAT], "stream": True, "stream_options": {"include_usage": True}},
    GEMINI_STREAM: BODIES[GEMINI_STREAM],
}
USAGE = ServedUsage(
    input_tokens=10,
    cache_read_tokens=20,
    cache_write_tokens=30,
    cache_write_1h_tokens=40,
    output_tokens=50,
    reasoning_tokens=5,
)
RICH = Answer(
    text="Zwölf ☃ boxers",
    thinking="Let me see.",
    tool_calls=(ToolCall("look", {"where": "über"}), ToolCall("list")),
    usage=USAGE,
)


def connect(recorder):
    address = urlsplit(recorder.url)
    return http.client.HTTPConnection(address.hostname, address.port, timeout=20)


def ask(recorder, path, body, method="POST", **headers):
    connection = connect(recorder)
    try:
        raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(method, path, raw, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


def events(data):
    """The objects of a stream of server-sent events, `[DONE]` as that string."""
    blocks = data.decode().split("\n\n")
    assert blocks.pop() == ""
    lines = [[line for line in block.split("\n") if line.startswith("data: ")] for block in blocks]
    texts = [line.removeprefix("data: ") for (line,) in lines]
    return [text if text == "[DONE]" else json.loads(text) for text in texts]


def test_anthropic_streams_its_events_in_order():
    with Recorder(Script(default=RICH), name="n") as recorder:
        status, headers, data = ask(recorder, ANTHROPIC, STREAMING[ANTHROPIC])

    told = events(data)
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert data.startswith(b"event: message_start\ndata: ")
    assert [event["type"] for event in told] == [
        "message_start",
        "ping",
        "content_block_start",
        *["content_block_delta"] * 3,
        "content_block_stop",
        "content_block_start",
        *["content_block_delta"] * 2,
        "content_block_stop",
        "content_block_start",
        *["content_block_delta"] * 2,
        "content_block_stop",
        "content_block_start",
        *["content_block_delta"] * 2,
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    deltas = [event["delta"] for event in told if event["type"] == "content_block_delta"]
    assert "".join(delta.get("thinking", "") for delta in deltas) == "Let me see."
    assert "".join(delta.get("text", "") for delta in deltas) == "Zwölf ☃ boxers"
    assert "".join(delta.get("partial_json", "") for delta in deltas) == '{"where":"über"}{}'
    assert told[-2]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert told[-2]["usage"] == {
        "input_tokens": 10,
        "cache_creation_input_tokens": 70,
        "cache_read_input_tokens": 20,
        "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 40},
        "output_tokens": 50,
        "output_tokens_details": {"thinking_tokens": 5},
        "service_tier": "standard",
    }


def test_anthropic_answers_whole_too():
    with Recorder(Script(default=RICH), name="n") as recorder:
        _, _, data = ask(recorder, ANTHROPIC, BODIES[ANTHROPIC])

    message = json.loads(data)
    assert message["content"] == [
        {"type": "thinking", "thinking": "Let me see.", "signature": "sign0001"},
        {"type": "text", "text": "Zwölf ☃ boxers"},
        {"type": "tool_use", "id": "toolu_n00010", "name": "look", "input": {"where": "über"}},
        {"type": "tool_use", "id": "toolu_n00011", "name": "list", "input": {}},
    ]
    assert (message["id"], message["model"], message["stop_reason"]) == ("msg_n0001", "claude", "tool_use")


def test_responses_streams_items_that_add_up_to_the_completed_response():
    answer = Answer(
        text="done",
        thinking="hm",
        tool_calls=(ToolCall("look", {"a": 1}, namespace="mcp__x"), ToolCall("patch", text="*** Begin")),
        usage=USAGE,
    )
    with Recorder(Script(default=answer), name="n") as recorder:
        _, _, data = ask(recorder, RESPONSES, STREAMING[RESPONSES])
        _, _, whole = ask(recorder, RESPONSES, BODIES[RESPONSES])

    told = events(data)
    completed = told[-1]["response"]
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    assert [told[0]["type"], told[-1]["type"]] == ["response.created", "response.completed"]
    assert [event["item"] for event in told if event["type"] == "response.output_item.done"] == completed["output"]
    assert [(item["type"], item["id"]) for item in completed["output"]] == [
        ("reasoning", "rs_n0001"),
        ("message", "msg_n0001"),
        ("function_call", "fc_n00010"),
        ("custom_tool_call", "ctc_n00011"),
    ]
    assert completed["output"][2]["arguments"] == '{"a":1}'
    assert completed["output"][2]["namespace"] == "mcp__x"
    assert completed["output"][3]["input"] == "*** Begin"
    for kind, text in {
        "response.output_text": "done",
        "response.reasoning_summary_text": "hm",
        "response.function_call_arguments": '{"a":1}',
        "response.custom_tool_call_input": "*** Begin",
    }.items():
        assert "".join(event["delta"] for event in told if event["type"] == f"{kind}.delta") == text
    assert completed["usage"] == {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 70},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 150,
    }
    assert [item["type"] for item in json.loads(whole)["output"]] == [item["type"] for item in completed["output"]]


def test_chat_streams_chunks_then_usage_then_done():
    with Recorder(Script(default=RICH), name="n") as recorder:
        _, _, data = ask(recorder, CHAT, STREAMING[CHAT])

    told = events(data)
    assert told.pop() == "[DONE]"
    usage = told.pop()
    assert (usage["choices"], usage["usage"]) == (
        [],
        {
            "prompt_tokens": 100,
            "completion_tokens": 50,
            "total_tokens": 150,
            "prompt_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 70},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
    )
    deltas = [chunk["choices"][0]["delta"] for chunk in told]
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "Let me see."
    assert "".join(delta.get("content", "") for delta in deltas) == "Zwölf ☃ boxers"
    assert [call["id"] for call in calls if "id" in call] == ["call_n00010", "call_n00011"]
    assert "".join(call["function"]["arguments"] for call in calls if call["index"] == 0) == '{"where":"über"}'
    assert [chunk["choices"][0]["finish_reason"] for chunk in told] == [None] * (len(told) - 1) + ["tool_calls"]


def test_chat_tells_usage_in_a_stream_only_where_asked():
    with Recorder() as recorder:
        _, _, data = ask(recorder, CHAT, {**BODIES[CHAT], "stream": True})
        _, _, whole = ask(recorder, CHAT, BODIES[CHAT])

    assert all(chunk == "[DONE]" or chunk["choices"] for chunk in events(data))
    assert json.loads(whole)["choices"][0]["message"] == {"role": "assistant", "content": "ok"}
    assert json.loads(whole)["usage"]["prompt_tokens"] == 2


def test_gemini_streams_parts_and_counts_thoughts_apart():
    with Recorder(Script(default=RICH), name="n") as recorder:
        _, _, data = ask(recorder, GEMINI_STREAM, STREAMING[GEMINI_STREAM])
        _, _, whole = ask(recorder, GEMINI, BODIES[GEMINI])

    told = events(data)
    parts = [part for event in told for part in event["candidates"][0]["content"]["parts"]]
    assert "".join(part["text"] for part in parts if part.get("thought")) == "Let me see."
    assert "".join(part.get("text", "") for part in parts if not part.get("thought")) == "Zwölf ☃ boxers"
    assert [part["functionCall"]["name"] for part in parts if "functionCall" in part] == ["look", "list"]
    assert [event["candidates"][0].get("finishReason") for event in told][-2:] == [None, "STOP"]
    usage = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 20,
        "candidatesTokenCount": 45,
        "thoughtsTokenCount": 5,
        "totalTokenCount": 150,
    }
    assert told[-1]["usageMetadata"] == usage
    assert json.loads(whole)["usageMetadata"] == usage


def test_counting_counts_the_rendered_prompt():
    with Recorder() as recorder:
        _, _, anthropic = ask(recorder, "/v1/messages/count_tokens", BODIES[ANTHROPIC])
        _, _, gemini = ask(recorder, "/v1beta/models/gemini-2.5-pro:countTokens", BODIES[GEMINI])

    assert json.loads(anthropic) == {"input_tokens": 2}
    assert json.loads(gemini) == {"totalTokens": 2}


def test_models_are_listed_in_the_form_of_the_vendor_that_asks():
    with Recorder() as recorder:
        _, _, openai = ask(recorder, "/v1/models", None, "GET")
        _, _, anthropic = ask(recorder, "/v1/models?limit=9", None, "GET", anthropic_version="2023-06-01")
        _, _, gemini = ask(recorder, "/v1beta/models", None, "GET")
        _, _, goog = ask(recorder, "/v1/models", None, "GET", x_goog_api_key="k")
        _, _, one = ask(recorder, "/v1/models/gpt-5.5", None, "GET")

    assert json.loads(openai)["object"] == "list"
    assert json.loads(anthropic)["data"][0]["type"] == "model"
    assert json.loads(gemini)["models"][0]["name"] == json.loads(goog)["models"][0]["name"] == "models/claude-haiku-5-5"
    assert json.loads(one)["id"] == "gpt-5.5"


def test_unknown_paths_are_refused_and_recorded():
    with Recorder() as recorder:
        alive, _, nothing = ask(recorder, "/", None, "HEAD")
        hello, _, _ = ask(recorder, "/api/hello", None, "HEAD")
        status, _, _ = ask(recorder, "/v1/telemetry", b"\x00\x01", "PUT")

    assert (alive, nothing, hello, status) == (200, b"", 200, 404)
    assert [(e.method, e.path, e.kind, e.status, e.raw) for e in recorder.exchanges] == [
        ("HEAD", "/", "alive", 200, b""),
        ("HEAD", "/api/hello", "alive", 200, b""),
        ("PUT", "/v1/telemetry", "unknown", 404, b"\x00\x01"),
    ]


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"not json", {}, 400),
        (b"[]", {}, 400),
        (b"{}", {}, 400),
        (b"x", {"content_encoding": "gzip"}, 400),
        (b"x", {"content_encoding": "br"}, 415),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_and_kept(body, headers, status):
    with Recorder() as recorder:
        answered, _, data = ask(recorder, ANTHROPIC, body, **headers)

    assert answered == status
    assert json.loads(data)["error"]["message"]
    assert recorder.exchanges[0].raw == recorder.exchanges[0].body == body
    assert recorder.turns == ()


@pytest.mark.parametrize(
    ("pack", "name"),
    [(gzip.compress, "gzip"), (zlib.compress, "deflate"), (lambda body: zlib.compress(body)[2:-4], "deflate")],
)
def test_packed_bodies_are_unpacked_and_kept_as_they_came(pack, name):
    plain = json.dumps(BODIES[ANTHROPIC]).encode()
    packed = pack(plain)
    with Recorder() as recorder:
        status, _, _ = ask(recorder, ANTHROPIC, packed, content_encoding=name)

    (exchange,) = recorder.turns
    assert (status, exchange.raw, exchange.body) == (200, packed, plain)


def test_a_chunked_body_is_put_together():
    plain = json.dumps(BODIES[CHAT]).encode()
    with Recorder() as recorder:
        connection = connect(recorder)
        connection.request(
            "POST", CHAT, iter([plain[:5], plain[5:]]), {"transfer-encoding": "chunked"}, encode_chunked=True
        )
        status = connection.getresponse().status
        connection.close()

    assert (status, recorder.turns[0].raw) == (200, plain)


def test_a_connection_serves_many_requests():
    with Recorder(of("one", "two")) as recorder:
        connection = connect(recorder)
        texts = []
        for _ in range(2):
            connection.request("POST", ANTHROPIC, json.dumps(BODIES[ANTHROPIC]))
            texts.append(json.loads(connection.getresponse().read())["content"][0]["text"])
        connection.close()

    assert texts == ["one", "two"]


@pytest.mark.parametrize("kind", sorted(FAILURES))
@pytest.mark.parametrize("path", [ANTHROPIC, RESPONSES, CHAT, GEMINI_STREAM])
def test_every_failure_is_worded_as_its_vendor_does(path, kind, snapshot):
    with Recorder(Script(default=Answer(failure=Failure(kind))), name="n") as recorder:
        status, headers, data = ask(recorder, path, STREAMING[path])

    assert (status, json.loads(data)) == snapshot
    assert (headers["content-type"], headers.get("retry-after")) == ("application/json", None)
    assert (recorder.turns[0].status, recorder.turns[0].usage) == (status, None)


def test_a_failure_says_when_to_try_again_and_may_be_overridden():
    failure = Failure("rate_limited", status=420, message="slow down", retry_after=7)
    with Recorder(Script(default=Answer(failure=failure))) as recorder:
        status, headers, data = ask(recorder, GEMINI, BODIES[GEMINI])

    assert (status, headers["retry-after"]) == (420, "7")
    error = json.loads(data)["error"]
    assert (error["code"], error["message"], error["details"][0]["retryDelay"]) == (420, "slow down", "7s")


@pytest.mark.parametrize("path", [ANTHROPIC, RESPONSES, CHAT, GEMINI_STREAM])
def test_a_failure_can_come_in_the_middle_of_a_stream(path, snapshot):
    answer = Answer(text="half", deltas=1, failure=Failure("overloaded", in_stream=True))
    with Recorder(Script(default=answer), name="n") as recorder:
        status, _, data = ask(recorder, path, STREAMING[path])

    last = events(data)[-1]
    for told in (last, last.get("response", {})):
        told.pop("created", None)
        told.pop("created_at", None)
    assert status == 200
    assert b"half" in data
    assert last == snapshot


def raw_stream(recorder, path):
    """All bytes of a streamed reply, and whether the stream ended as it should."""
    connection = connect(recorder)
    connection.request("POST", path, json.dumps(STREAMING[path]))
    response = connection.getresponse()
    try:
        return response.read(), True
    except http.client.IncompleteRead as error:
        return error.partial, False
    finally:
        connection.close()


@pytest.mark.parametrize("path", [ANTHROPIC, RESPONSES, CHAT, GEMINI_STREAM])
def test_a_stream_can_be_cut_after_some_deltas(path):
    answer = Answer(text="XXYYZZ", deltas=3, cut_after=2)
    with Recorder(Script(default=answer)) as recorder:
        broken, ended = raw_stream(recorder, path)
        recorder.play(Script(default=Answer(text="XXYYZZ", deltas=3, cut_after=2, cut_ends=True)))
        polite, politely = raw_stream(recorder, path)

    assert (ended, politely) == (False, True)
    for data in (broken, polite):
        assert (b"XX" in data, b"YY" in data, b"ZZ" in data) == (True, True, False)
    assert [exchange.outcome for exchange in recorder.turns] == ["cut", "cut"]


def test_a_whole_answer_can_be_cut_too():
    with Recorder(Script(default=Answer(text="abcdef", cut_after=0))) as recorder:
        connection = connect(recorder)
        connection.request("POST", CHAT, json.dumps(BODIES[CHAT]))
        with pytest.raises(http.client.IncompleteRead):
            connection.getresponse().read()
        connection.close()


def test_a_megabyte_travels_in_one_delta():
    with Recorder(Script(default=Answer(size=1_000_000, deltas=1))) as recorder:
        _, _, data = ask(recorder, ANTHROPIC, STREAMING[ANTHROPIC])

    texts = [event["delta"]["text"] for event in events(data) if event["type"] == "content_block_delta"]
    assert texts == [letters(1_000_000)]


def test_an_answer_keeps_its_pace():
    answer = Answer(text="abc", deltas=3, wait=0.2, delay=0.2)
    with Recorder(Script(default=answer)) as recorder:
        start = time.monotonic()
        ask(recorder, CHAT, STREAMING[CHAT])
        taken = time.monotonic() - start

    assert 0.6 <= taken < 5


def test_leaving_ends_a_stream_under_way():
    start = time.monotonic()
    with Recorder(Script(default=Answer(text="abc", deltas=3, delay=60))) as recorder:
        thread = threading.Thread(target=raw_stream, args=(recorder, CHAT))
        thread.start()
        assert recorder.wait(1, 10)
    thread.join(10)

    assert not thread.is_alive()
    assert time.monotonic() - start < 10


def test_a_client_that_goes_away_is_seen(capfd):
    with Recorder(Script(default=Answer(size=50_000_000, deltas=1000))) as recorder:
        connection = connect(recorder)
        connection.request("POST", CHAT, json.dumps(STREAMING[CHAT]))
        connection.getresponse().read(10)
        connection.sock.close()
        connection.close()
        deadline = time.monotonic() + 10
        while recorder.turns[0].outcome == "pending" and time.monotonic() < deadline:
            time.sleep(0.02)
        outcome = recorder.turns[0].outcome

    assert outcome == "aborted"
    assert capfd.readouterr().err == ""


def test_answers_come_in_order_then_the_default():
    with Recorder(
        Script((Turn(Answer(text="twice"), times=2), Turn(Answer(text="then"))), Answer(text="ever"))
    ) as recorder:
        texts = [json.loads(ask(recorder, CHAT, BODIES[CHAT])[2])["choices"][0]["message"]["content"] for _ in range(5)]

    assert texts == ["twice", "twice", "then", "ever", "ever"]


def test_a_turn_waits_for_the_request_that_it_matches():
    turns = (
        Turn(Answer(text="for gpt"), Match(model="gpt")),
        Turn(Answer(text="for the path"), Match(path="/messages"), times=None),
        Turn(Answer(text="for the word"), Match(body="hello")),
    )
    with Recorder(Script(turns)) as recorder:
        chat = json.loads(ask(recorder, CHAT, BODIES[CHAT])[2])["choices"][0]["message"]["content"]
        messages = [json.loads(ask(recorder, ANTHROPIC, BODIES[ANTHROPIC])[2])["content"][0]["text"] for _ in range(2)]
        gpt = json.loads(ask(recorder, RESPONSES, BODIES[RESPONSES])[2])["output"][0]["content"][0]["text"]

    assert (chat, messages, gpt) == ("for the word", ["for the path"] * 2, "for gpt")


def test_a_side_request_takes_no_turn():
    title = {"model": "m", "messages": [{"role": "system", "content": "You are a title generator. Go."}]}
    quoting = {"model": "m", "messages": [{"role": "user", "content": "It says: You are a title generator."}]}
    with Recorder(of("first")) as recorder:
        aside = json.loads(ask(recorder, CHAT, title)[2])["choices"][0]["message"]["content"]
        first = json.loads(ask(recorder, CHAT, quoting)[2])["choices"][0]["message"]["content"]
        recorder.play(Script(side={"title": Answer(text="Mine")}))
        mine = json.loads(ask(recorder, CHAT, title)[2])["choices"][0]["message"]["content"]

    assert (aside, first, mine) == ("Recorded session", "first", "Mine")
    assert [exchange.kind for exchange in recorder.exchanges] == ["side:title", "main", "side:title"]
    assert len(recorder.turns) == 1


def test_an_unknown_failure_is_refused_before_anything_runs():
    with pytest.raises(ScriptError, match="unknown failure `boom`"):
        Recorder(Script(default=Answer(failure=Failure("boom"))))


def test_ids_differ_between_recorders_unless_named():
    ids = []
    for name in ("", "", "n", "n"):
        with Recorder(name=name) as recorder:
            ids.append(json.loads(ask(recorder, ANTHROPIC, BODIES[ANTHROPIC])[2])["id"])

    assert ids[0] != ids[1]
    assert ids[2:] == ["msg_n0001", "msg_n0001"]


def test_a_folder_gets_one_file_per_request(tmp_path):
    with Recorder(folder=tmp_path / "rec") as recorder:
        ask(recorder, "/", None, "HEAD")
        ask(recorder, ANTHROPIC, BODIES[ANTHROPIC], x_api_key="sk-live")

    assert sorted(path.name for path in (tmp_path / "rec").iterdir()) == ["0001.json", "0002.json"]
    told = json.loads((tmp_path / "rec" / "0002.json").read_bytes())
    assert (told["kind"], told["status"], told["path"]) == ("main", 200, ANTHROPIC)
    assert told["body"] == json.dumps(BODIES[ANTHROPIC])
    assert told["usage"]["input_tokens"] == recorder.turns[0].usage.input_tokens == 2
    assert b"sk-live" not in (tmp_path / "rec" / "0002.json").read_bytes()


def test_it_listens_on_loopback_alone():
    with Recorder() as recorder:
        address = urlsplit(recorder.url)
        with socket.socket() as other:
            other.settimeout(5)
            taken = other.connect_ex(("127.0.0.2", address.port))

    assert address.hostname == "127.0.0.1"
    assert taken != 0


def test_forty_clients_at_once_lose_nothing(tmp_path):
    def one(number):
        body = {"model": "m", "messages": [{"role": "user", "content": f"number {number}"}]}
        return ask(recorder, CHAT, body)[0]

    with Recorder(folder=tmp_path) as recorder, ThreadPoolExecutor(40) as pool:
        statuses = list(pool.map(one, range(200)))

    prompts = {exchange.prompt.parts[0].text for exchange in recorder.turns}
    assert statuses == [200] * 200
    assert prompts == {f"number {number}" for number in range(200)}
    assert [exchange.number for exchange in recorder.exchanges] == list(range(1, 201))
    assert len(list(tmp_path.glob("*.json"))) == 200
