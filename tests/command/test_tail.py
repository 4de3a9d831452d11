from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentmux.cli import main
from agentmux.launch.plain_view import aside, readable, used
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_launcher.accounting import account
from agentmux_launcher.events import (
    Commands,
    Compaction,
    Cost,
    End,
    Failure,
    FailureClass,
    Mode,
    Notice,
    Permission,
    Plan,
    Retry,
    Session,
    Step,
    Text,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)
from agentmux_launcher.translators import DIALECTS

RECORDINGS = Path(__file__).parent.parent / "launcher" / "fixtures" / "frames"
ACP = RECORDINGS.parent / "acp"


@pytest.fixture
def tail(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTMUX_HOME", str(tmp_path))
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments):
        code = main(["tail", *map(str, arguments)])
        return (code, *capsys.readouterr())

    return run


def test_the_answer_goes_to_standard_output_and_all_else_to_standard_error(tail):
    code, out, err = tail(RECORDINGS / "claude" / "tool.jsonl", "--provider", "claude")

    assert (code, out) == (0, "Calling a tool.\nMOCK-ANSWER ok\n")
    assert err == (
        'tool Bash {"command": "echo tool-ran", "description": "echo"}\n'
        "tokens: 24 uncached, 34,000 from the cache, 6,000 written for 5 min, 0 written for 1 h, 50 out, "
        "20,012 in the context of 1,000,000, $0.0189\n"
    )


def test_a_failure_is_said_with_the_words_that_show_it(tail):
    folder = RECORDINGS / "codex"
    code, out, err = tail(
        folder / "resume-bad-id.jsonl",
        "--provider",
        "codex-cli",
        "--stderr",
        folder / "resume-bad-id.stderr",
        "--exit-code",
        "1",
    )

    assert (code, out) == (0, "")
    assert err.splitlines()[-1] == (
        "failed (resume_not_found): the session to go on with does not exist: Error: thread/resume: thread/resume "
        "failed: no rollout found for thread id 00000000-0000-4000-8000-000000000000 (code -32600)"
    )


def test_json_is_one_event_per_line(tail):
    code, out, err = tail(
        RECORDINGS / "codex" / "err401.jsonl", "--provider", "codex", "--exit-code", "1", "--output", "json"
    )
    events = [json.loads(line) for line in out.splitlines()]

    assert (code, err) == (0, "")
    assert [event["event"] for event in events] == ["session", "retry", "end", "failure"]
    assert {event["format_version"] for event in events} == {1}
    assert (events[-1]["class"], events[-1]["exit_code"], events[-1]["signal"]) == ("auth", 1, None)


def test_an_exit_code_below_0_is_a_signal(tail):
    sigterm = RECORDINGS / "codex" / "sigterm.jsonl"
    _, out, _ = tail(sigterm, "--provider", "codex", "--exit-code", "-15", "--output", "json")
    failure = json.loads(out.splitlines()[-1])

    assert (failure["class"], failure["exit_code"], failure["signal"]) == ("killed", None, 15)


def test_raw_gives_the_frames_back(tail):
    recording = RECORDINGS / "claude" / "max-turns.jsonl"
    lines = recording.read_text(encoding="utf-8").splitlines()

    code, out, err = tail(recording, "--provider", "claude", "--output", "raw")

    assert (code, err) == (0, "")
    assert out.splitlines() == [line for line in lines if line.startswith("{")]
    assert len(out.splitlines()) < len(lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.jsonl", "--provider", "claude"], "error: no recording `missing.jsonl`\n"),
        (["missing.jsonl"], "error: no run `missing.jsonl`\n"),
        ([__file__], "error: whose recording is it?\n"),
    ],
)
def test_what_cannot_be_read_is_refused(tail, arguments, message):
    code, out, err = tail(*arguments)

    assert (code, out) == (2, "")
    assert err.startswith(message)


def test_a_recording_of_acp_is_read_by_its_providers_conventions(tail):
    code, out, err = tail(ACP / "opencode" / "full.jsonl", "--provider", "opencode")

    assert (code, out) == (0, "PONG\ntool done\ntool done\nslow0 slow1 slow2 slow3 slow4 slow5 \n")
    assert "failed (auth): the credentials were refused: Internal error: mock 401\n" in err
    assert err.endswith("1,234 in the context of 200,000\n")


def test_frames_of_the_agent_alone_are_read_as_well(tail, tmp_path):
    lines = [json.loads(line) for line in (ACP / "gemini" / "full.jsonl").read_bytes().splitlines()]
    alone = "".join(json.dumps(line["frame"]) + "\n" for line in lines if line["dir"] == "out")
    (tmp_path / "alone.jsonl").write_text(alone, "utf-8")
    code, out, _ = tail("alone.jsonl", "--provider", "gemini")

    assert (code, out.splitlines()[:2]) == (0, ["PONG", "tool done"])


@pytest.mark.parametrize(
    ("agent", "provider"), [("claude-agent-acp", "claude"), ("codex-acp", "codex"), ("grok", "grok")]
)
def test_a_recording_shows_that_another_mode_than_the_usual_one_wrote_it(tail, agent, provider):
    code, out, _ = tail(ACP / agent / "full.jsonl", "--provider", provider)

    assert (code, out.split()[0]) == (0, "PONG")


def test_a_misspelt_provider_is_refused_with_a_suggestion(tail, tmp_path):
    (tmp_path / "frames.jsonl").write_bytes(b"")
    code, out, err = tail("frames.jsonl", "--provider", "claud")

    assert (code, out) == (2, "")
    assert err.splitlines()[:2] == ["error: no provider `claud`", "  = help: did you mean `claude`?"]


def test_a_dialect_that_nobody_replays_is_refused(tail, tmp_path):
    (tmp_path / "frames.jsonl").write_bytes(b"")
    spoken = {name: load_provider(name).modes[load_provider(name).controller].frames for name in NAMES}
    for name, dialect in spoken.items():
        code, _, err = tail("frames.jsonl", "--provider", name)
        refused = f"error: what `{name}` writes (`{dialect}`) cannot be replayed\n"
        assert (code, err) == ((2, refused) if dialect not in DIALECTS else (0, err)), name


def test_every_dialect_of_the_catalog_is_read():
    spoken = {mode.frames for name in NAMES for mode in load_provider(name).modes.values() if mode}

    assert spoken <= set(DIALECTS)


def test_the_catalog_and_the_dialects_say_the_same_of_cached_input():
    for name in NAMES:
        for mode in load_provider(name).modes.values():
            known = DIALECTS.get(mode.frames) if mode and mode.frames != "acp" else None
            if mode and known and isinstance(mode.usage.input_includes_cached, bool):
                convention = known.convention
                assert mode.usage.input_includes_cached == convention.input_includes_cached, name


# The plain view


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (ToolCall("t", "Bash", {"command": "ls\x1b[31m"}), 'tool Bash {"command": "ls\\u001b[31m"}'),
        (ToolResult("t", ok=False, output="no\nway"), "tool failed: no\\nway"),
        (ToolResult("t", ok=True, output="yes"), None),
        (Permission("p", (), None, "Bash"), None),
        (Permission("p", (), "allow_once", "Bash"), "permission for Bash: allow_once"),
        (Retry(1, 529, 500, "overloaded"), "asking again in 500 ms: 529 overloaded"),
        (Retry(abandoned="m1"), "asking again"),
        (Plan((Step("Read", "completed"), Step("Write\n"))), "plan: Read (completed); Write\\n"),
        (Plan(), "plan: none any more"),
        (Mode("plan"), "mode plan"),
        (Commands(("compact",)), None),
        (Compaction("auto", 180_000, None), "conversation compacted (auto): 180,000 to ? tokens"),
        (Notice("\x1b]0;title\x07words", "stdout"), "\\x1b]0;title\\x07words"),
        (Unknown({"type": "new"}), 'unknown frame: {"type": "new"}'),
        (Failure(FailureClass.AUTH, "refused", ""), "failed (auth): refused"),
        (Failure(FailureClass.UNKNOWN, "it failed", "", 3), "failed (unknown): it failed (exit code 3)"),
        (Failure(FailureClass.INTERRUPTED, "stopped", "", None, 9), "failed (interrupted): stopped"),
        (Failure(FailureClass.KILLED, "killed", "", None, 9), "failed (killed): killed (signal 9)"),
        (Session("s"), None),
        (End("end_turn"), None),
    ],
)
def test_each_event_has_its_line(event, line):
    assert aside(event) == line


def test_a_long_line_is_cut_and_a_notice_later():
    assert len(aside(ToolResult("t", ok=False, output="x" * 500))) == 120
    assert len(aside(Notice("x" * 500, "stdout"))) == 400


def test_text_keeps_its_lines_and_tabs_and_nothing_that_drives_a_terminal():
    assert readable("a\tb\r\nc\x1b[2J\u202ed") == "a\tb\nc\\x1b[2J<U+202E>d"


def test_what_is_not_known_has_no_place_in_the_usage():
    assert used(account([Text("hi"), End("end_turn")])) is None
    assert used(account([Cost(0.5)])) == "tokens: $0.5000"
    assert used(account([Usage("turn", 1_000, None, None, None, 7)])) == "tokens: 1,000 uncached, 7 out"


def test_messages_stand_on_lines_of_their_own_and_sub_agents_apart(tail, tmp_path):
    def message(name, text, parent=None):
        content = {"id": name, "model": "opus", "content": [{"type": "text", "text": text}]}
        return json.dumps({"type": "assistant", "message": content, "parent_tool_use_id": parent}) + "\n"

    lines = message("m1", "one"), message("m2", "aside", "t1"), message("m3", "two"), '{"type": "result"}\n'
    (tmp_path / "frames.jsonl").write_text("".join(lines), encoding="utf-8")

    assert tail("frames.jsonl", "--provider", "claude") == (0, "one\ntwo\n", "")
