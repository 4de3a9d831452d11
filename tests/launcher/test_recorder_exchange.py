from __future__ import annotations

import gzip
import importlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_launcher.recorder import Exchange, ServedUsage
from agentmux_launcher.recorder.body import UnknownEncodingError, decode
from agentmux_launcher.recorder.exchange import UnreadableRecordingError, dumps, loads, read
from agentmux_launcher.recorder.routes import Question, Route, route


def exchange(raw=b"{}", *, path="/v1/messages", headers=(), body=None, usage=None):
    return Exchange(7, "POST", path, headers, raw, raw if body is None else body, "main", 200, usage, "whole")


@given(st.binary())
def test_a_recording_gives_every_byte_back(raw):
    assert loads(dumps(exchange(raw))) == exchange(raw)


def test_a_packed_body_is_kept_packed_and_read_unpacked():
    raw = gzip.compress(b'{"input": "hi"}', mtime=0)
    given = exchange(raw, headers=(("Content-Encoding", "gzip"),), body=b'{"input": "hi"}', usage=ServedUsage(1, 2))

    assert loads(dumps(given)) == given
    assert loads(dumps(given)).prompt.parts[0].text == "hi"


def test_secrets_are_written_without_their_values():
    headers = (
        ("Authorization", "Bearer sk-1"),
        ("x-api-key", "sk-2"),
        ("x-goog-api-key", "sk-3"),
        ("Cookie", "sk-4"),
        ("User-Agent", "cli/1.0"),
    )
    text = dumps(exchange(headers=headers, path="/v1beta/models/m:countTokens?alt=sse&key=sk-5&x=1"))

    told = json.loads(text)
    assert "sk-" not in text
    assert told["headers"] == [
        ["Authorization", "<redacted>"],
        ["x-api-key", "<redacted>"],
        ["x-goog-api-key", "<redacted>"],
        ["Cookie", "<redacted>"],
        ["User-Agent", "cli/1.0"],
    ]
    assert told["path"] == "/v1beta/models/m:countTokens?alt=sse&key=<redacted>&x=1"
    assert "sk-" not in repr(exchange(headers=headers))


def test_a_bare_request_body_is_a_recording_too(tmp_path):
    (tmp_path / "a.json").write_text('{"model": "m", "input": "hi"}', encoding="utf-8")

    assert read(tmp_path / "a.json").prompt.parts[0].text == "hi"


@pytest.mark.parametrize("text", ["", "[]", "3", '{"format_version": 2}', '{"format_version": 1, "body": "x"}'])
def test_anything_else_is_no_recording(text):
    with pytest.raises(UnreadableRecordingError):
        loads(text)


def test_encodings_are_undone_from_the_last_applied_on():
    assert decode(gzip.compress(gzip.compress(b"x")), "gzip, GZIP") == b"x"
    assert decode(b"x", "identity") == decode(b"x", "") == b"x"
    with pytest.raises(UnknownEncodingError):
        decode(b"x", "br")
    with pytest.raises(ValueError, match="body is not gzip"):
        decode(b"x", "gzip")


def test_zstd_is_undone_where_this_python_can():
    try:
        zstd = importlib.import_module("compression.zstd")
    except ImportError:
        with pytest.raises(UnknownEncodingError, match=r"needs Python 3\.14"):
            decode(b"x", "zstd")
        return
    assert decode(zstd.compress(b"x"), "zstd") == b"x"
    with pytest.raises(ValueError, match="body is not zstd"):
        decode(b"x", "zstd")


@pytest.mark.parametrize(
    ("method", "path", "found"),
    [
        ("POST", "/v1/messages?beta=true", Route(Question.GENERATE, "anthropic")),
        ("POST", "/any/base/v1/messages/count_tokens", Route(Question.COUNT, "anthropic")),
        ("POST", "/responses", Route(Question.GENERATE, "responses")),
        ("POST", "/chat/completions", Route(Question.GENERATE, "chat")),
        ("POST", "/v1beta/models/g:generateContent", Route(Question.GENERATE, "gemini", stream=False)),
        ("POST", "/v1/models/g:streamGenerateContent?alt=sse", Route(Question.GENERATE, "gemini", stream=True)),
        ("POST", "/v1beta/models/g:countTokens", Route(Question.COUNT, "gemini")),
        ("GET", "/v1/models", Route(Question.MODELS)),
        ("GET", "/v1beta/models?pageSize=9", Route(Question.MODELS, "gemini")),
        ("GET", "/v1beta/models/g", Route(Question.MODEL, "gemini")),
        ("GET", "/v1/models/m", Route(Question.MODEL)),
        ("HEAD", "/", Route(Question.ALIVE)),
        ("GET", "/", Route(Question.UNKNOWN)),
        ("GET", "/v1/messages", Route(Question.UNKNOWN)),
        ("POST", "/v1/messages/batches", Route(Question.UNKNOWN)),
        ("POST", "/analytics/codex/turn-costs", Route(Question.UNKNOWN)),
    ],
)
def test_paths_lead_to_questions(method, path, found):
    assert route(method, path) == found
