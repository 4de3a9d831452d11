"""Transcripts that the real CLIs left, against what the recorder had served them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentmux_launcher.usage import Tokens
from agentmux_usage.gather import gather
from agentmux_usage.places import own_sources

RECORDED = Path(__file__).parents[1] / "fixtures" / "transcripts"
FOLDERS = {
    "claude": {"CLAUDE_CONFIG_DIR": str(RECORDED / "claude")},
    "codex": {"CODEX_HOME": str(RECORDED / "codex")},
    "gemini": {"GEMINI_CLI_HOME": str(RECORDED / "gemini")},
    "qwen": {"QWEN_HOME": str(RECORDED / "qwen")},
}


@pytest.fixture
def told(tmp_path):
    """A function that gives the sessions of a provider, and checks that nothing was left out."""

    def tell(provider):
        notes = []
        environ = {"HOME": str(tmp_path), **FOLDERS[provider]}
        sessions = list(gather(own_sources(environ), None, notes))
        assert notes == []
        assert {session.provider for session in sessions} == {provider}
        return {session.session_id: session.responses for session in sessions}

    return tell


def shown(responses):
    return [(each.message_id, each.turn, each.kind, each.tokens) for each in responses]


def test_claude_with_a_subagent_a_fork_and_a_summary(told):
    sessions = told("claude")

    first, fork = sessions["ce6415a9-bf52-4896-86cd-a3365c63f9c7"], sessions["af46c233-2b89-40ff-bb73-f45ceea67c54"]
    assert list(map(len, sessions.values())) == [5, 1]
    assert shown(first) == [
        ("msg_4375b87e0001", 1, "main", Tokens(0, 0, 12113, 0, 23, 0)),
        ("msg_4375b87e0002", 1, "main", Tokens(0, 12113, 325, 0, 1, 0)),
        ("msg_4375b87e0003", 1, "subagent", Tokens(0, 0, 7014, 0, 1, 0)),
        ("msg_4375b87e0004", 1, "main", Tokens(0, 12438, 304, 0, 1, 0)),
        ("msg_4375b87e0008", 2, "main", Tokens(0, 9515, 2955, 0, 1, 0)),
    ]
    assert shown(fork) == [("msg_4375b87e0005", 2, "main", Tokens(0, 12742, 4, 0, 1, 0))]
    assert [each.thread for each in first] == [None, None, "a29b938e8c43b0203", None, None]
    assert [each.after_compaction for each in first] == [False, False, False, False, True]
    assert {(each.model, each.effort, each.cli_version, each.cwd, each.usd) for each in (*first, *fork)} == {
        ("claude-sonnet-5-5", "medium", "2.1.332", "/home/dev/app", None)
    }
    assert [Path(each.source).name for each in first[::2]] == [
        "ce6415a9-bf52-4896-86cd-a3365c63f9c7.jsonl",
        "agent-a29b938e8c43b0203.jsonl",
        "ce6415a9-bf52-4896-86cd-a3365c63f9c7.jsonl",
    ]
    assert first[0].time == 1796064043.396


def test_codex_with_a_fork_another_effort_and_a_summary(told):
    sessions = told("codex")

    first, fork = sessions["01a22dc9-fb05-7602-8fcb-d24a4e92e6a3"], sessions["01a22dc9-fe94-70a2-9301-73759d551aa1"]
    assert shown(first) == [
        ("resp_80e50ba60001", 1, "main", Tokens(8936, 0, 0, None, 13, 0)),
        ("resp_80e50ba60002", 1, "main", Tokens(194, 8832, 0, None, 1, 0)),
        ("resp_80e50ba60004", 2, "main", Tokens(9028, 0, 0, None, 1, 0)),
        ("resp_80e50ba60005", 3, "side", Tokens(6912, 0, 0, None, 15, 0)),
        ("resp_80e50ba60006", 3, "main", Tokens(1493, 7552, 0, None, 1, 0)),
        ("resp_80e50ba60007", 4, "main", Tokens(88, 8960, 0, None, 1, 0)),
    ]
    assert shown(fork) == [("resp_80e50ba60003", 1, "main", Tokens(70, 8960, 0, None, 1, 0))]
    assert [each.effort for each in first if each.kind == "main"] == [None, None, "high", None, None]
    assert [each.after_compaction for each in first] == [False, False, False, False, True, False]
    assert {(each.model, each.cli_version, each.cwd) for each in (*first, *fork)} == {
        ("gpt-5.5", "0.171.0", "/home/dev/app")
    }


def test_gemini_which_writes_its_history_again(told):
    (responses,) = told("gemini").values()

    assert shown(responses) == [
        ("213158d6-b438-4358-aa85-dd0c99044504", 1, "main", Tokens(8195, 0, None, None, 10, 3)),
        ("c9e68cb7-918f-4bc0-af8a-b396213149dc", 1, "main", Tokens(85, 8192, None, None, 3, 0)),
        ("f738f7d8-4933-40d4-9946-e4adaf156429", 2, "main", Tokens(135, 8192, None, None, 4, 0)),
    ]
    assert {each.model for each in responses} == {"gemini-2.5-pro"}


def test_qwen_with_a_side_call(told):
    (responses,) = told("qwen").values()

    assert shown(responses) == [
        ("chatcmpl-835999690001", 1, "main", Tokens(19489, 0, None, None, 23, 3)),
        ("chatcmpl-835999690002", 1, "main", Tokens(128, 19456, None, None, 3, 0)),
        ("chatcmpl-835999690003", 2, "main", Tokens(262, 19328, None, None, 4, 0)),
        ("chatcmpl-835999690004", 2, "side", Tokens(10979, 0, None, None, 4, 0)),
    ]
    assert {(each.model, each.cli_version, each.cwd) for each in responses} == {
        ("qwen3-coder-plus", "0.24.4", "/home/dev/app")
    }
