from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentmux_launcher.events import End, Failure, FailureClass, Text
from agentmux_launcher.failure import TITLES, Evidence, classify
from agentmux_launcher.failure_table import NO_TABLE, FailureTable, Kind, Pattern, table_for, tables
from agentmux_launcher.reading import Ended, Reader, Reading, ended, replay
from agentmux_launcher.translators import DIALECTS
from agentmux_launcher.trouble import Trouble

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
CLAUDE = table_for("claude", "claude-stream-json")
TIMED_OUT = Ended(signal=9, by="timed_out")

# Each recording with what its process returned, as `subprocess` has it, and the class it must have.
FAILED = {
    "aider/ctx400": (0, "context_exceeded"),
    "claude/bad-permission-mode": (1, "bad_arguments"),
    "claude/ctx400": (1, "context_exceeded"),
    "claude/err401": (1, "auth"),
    "claude/err403": (1, "auth"),
    "claude/err404": (1, "model_not_found"),
    "claude/err429": (1, "rate_limited"),
    "claude/err500": (1, "server_error"),
    "claude/err529": (1, "overloaded"),
    "claude/interrupt": (1, "interrupted"),
    "claude/max-turns": (1, "max_turns"),
    "claude/quota": (1, "usage_limit"),
    "claude/refused": (1, "network"),
    "claude/resume-bad-id": (1, "resume_not_found"),
    "claude/sigterm": (143, "killed"),
    "codex/ctx400": (1, "context_exceeded"),
    "codex/drop": (1, "network"),
    "codex/effort-flag": (2, "bad_arguments"),
    "codex/err401": (1, "auth"),
    "codex/err403": (1, "auth"),
    "codex/err404": (1, "model_not_found"),
    "codex/err429": (1, "rate_limited"),
    "codex/err500": (1, "server_error"),
    "codex/flag-append-resume": (2, "bad_arguments"),
    "codex/full-auto": (2, "bad_arguments"),
    "codex/model-positional": (2, "bad_arguments"),
    "codex/quota": (1, "usage_limit"),
    "codex/refused": (TIMED_OUT, "network"),
    "codex/resume-bad-id": (1, "resume_not_found"),
    "codex/sigterm": (-15, "killed"),
    "codex/wire-chat": (1, "bad_arguments"),
    "gemini/bad-mode": (1, "bad_arguments"),
    "gemini/ctx400": (144, "context_exceeded"),
    "gemini/drop": (0, "network"),
    "gemini/err401": (145, "auth"),
    "gemini/err403": (147, "auth"),
    "gemini/err404": (1, "model_not_found"),
    "gemini/err429": (173, "rate_limited"),
    "gemini/err500": (244, "server_error"),
    "gemini/err529": (247, "overloaded"),
    "gemini/no-auth": (41, "auth"),
    "gemini/quota": (173, "usage_limit"),
    "gemini/refused": (1, "network"),
    "gemini/resume-bad": (42, "resume_not_found"),
    "gemini/sigterm": (0, "truncated"),
    "gemini/untrusted-folder": (55, "permission_denied"),
    "gemini/yolo-both": (1, "bad_arguments"),
    "grok/bad-flag": (2, "bad_arguments"),
    "grok/bad-model": (1, "model_not_found"),
    "grok/ctx400": (1, "context_exceeded"),
    "grok/denied": (0, "permission_denied"),
    "grok/err401": (1, "auth"),
    "grok/err403": (1, "auth"),
    "grok/err404": (1, "model_not_found"),
    "grok/err429": (1, "rate_limited"),
    "grok/no-key": (1, "auth"),
    "grok/quota": (1, "usage_limit"),
    "grok/resume-bad-id": (1, "resume_not_found"),
    "kimi/ctx400": (1, "context_exceeded"),
    "kimi/err401": (1, "auth"),
    "kimi/err403": (1, "auth"),
    "kimi/err404": (1, "model_not_found"),
    "kimi/err429": (TIMED_OUT, "rate_limited"),
    "kimi/err500": (TIMED_OUT, "server_error"),
    "kimi/print-flag": (1, "bad_arguments"),
    "kimi/quota": (1, "usage_limit"),
    "kimi/refused": (TIMED_OUT, "network"),
    "kimi/resume-bad-id": (1, "resume_not_found"),
    "kimi/sigterm": (143, "killed"),
    "kimi/yolo-p": (1, "bad_arguments"),
    "qwen/ctx400": (1, "context_exceeded"),
    "qwen/effort": (1, "bad_arguments"),
    "qwen/err401": (1, "auth"),
    "qwen/err403": (1, "auth"),
    "qwen/err404": (1, "model_not_found"),
    "qwen/err500": (TIMED_OUT, "timeout"),
    "qwen/max-turns": (53, "max_turns"),
    "qwen/perm-mode": (1, "bad_arguments"),
    "qwen/quota": (TIMED_OUT, "timeout"),
    "qwen/refused": (1, "network"),
    "qwen/resume-bad-id": (1, "resume_not_found"),
    "qwen/sigterm": (-15, "killed"),
}


def names():
    return [f"{path.parent.name}/{path.stem}" for path in sorted(RECORDINGS.glob("*/*.jsonl"))]


def events(name, end):
    path = RECORDINGS / f"{name}.jsonl"
    known = path.with_suffix(".stderr")
    provider = path.parent.name
    reading = Reading(DIALECT[provider], table_for(provider, DIALECT[provider]))
    stderr = known.read_bytes() if known.exists() else b""
    return list(replay(path.read_bytes(), stderr, end, reading))


def failures(name, end):
    return [event for event in events(name, end) if isinstance(event, Failure)]


def of(table=CLAUDE, **evidence):
    found = classify(Evidence(**evidence), table)
    return found and str(found.class_)


@pytest.mark.parametrize("name", names())
def test_recordings_fail_as_their_runs_did(name):
    end, expected = FAILED.get(name, (0, None))
    end = end if isinstance(end, Ended) else ended(end)
    found = failures(name, end)

    assert [(each.class_, each.exit_code, each.signal) for each in found] == (
        [(expected, end.code, end.signal)] if expected else []
    )


@pytest.mark.parametrize("name", names())
def test_a_class_does_not_need_the_exit(name):
    """A recording whose exit nobody wrote down shows the same, but for those who were killed."""
    _, expected = FAILED.get(name, (0, None))
    found = [str(each.class_) for each in failures(name, Ended())]

    assert found == ["truncated" if expected in {"killed", "timeout"} else expected] * bool(expected)


def test_every_recorded_failure_is_in_the_table():
    failing = {name for name in names() if re.search(r"/(err\d+|ctx400|quota|refused|drop)$", name)}

    assert failing - {"claude/drop"} <= set(FAILED) <= set(names())


# The conformance cases, by their numbers


def test_24_a_date_is_no_status():
    words = ("2026-04-29T12:00:00 starting", "error 2026-04-29: see the log")

    assert of(exit_code=2, stderr=words) == "unknown"


def test_25_a_temporary_limit_is_not_the_usage_limit():
    text = "API Error: Server is temporarily limiting requests (not your usage limit) · Rate limited"
    found = classify(Evidence(exit_code=1, troubles=(Trouble(text),), opened=True, closed=True), CLAUDE)

    assert (str(found.class_), found.retryable) == ("rate_limited", True)


@pytest.mark.parametrize("how", [{"exit_code": 137}, {"signal": 9}, {"signal": 15}, {"exit_code": 143}])
def test_26_a_signal_kills(how):
    assert of(**how) == "killed"


def test_27_a_refused_key_fails_even_with_exit_0():
    trouble = Trouble("Invalid API key · Please run /login", 401, ("authentication_failed",), "error")

    assert of(exit_code=0, troubles=(trouble,), opened=True) == "auth"
    assert of(exit_code=0, stderr=("API Error: authentication_failed (status 401)",)) == "auth"


def test_28_exit_0_with_nothing_said_is_a_failure():
    assert of(exit_code=0) == "no_output"
    assert of(exit_code=0, opened=True, closed=True) == "no_output"


# What weighs more than what


def test_success_is_no_failure():
    assert of(exit_code=0, opened=True, spoke=True, closed=True) is None
    assert of(exit_code=None, opened=True, spoke=True, closed=True) is None


@pytest.mark.parametrize(
    "words",
    ["Request timed out", "network unreachable in test_dns", "quota: 3 files", "insufficient data", "error 429 items"],
)
def test_a_bare_word_on_stderr_proves_nothing(words):
    for name, table in tables().items():
        assert of(table, exit_code=1, stderr=(words,)) == "unknown", name


def test_what_a_tool_prints_is_not_looked_at():
    result = b'{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"%s"}]}}\n'
    call = b'{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash"}]}}\n'
    out = call + result % b"401 authentication_failed: usage limit reached, timeout" + b'{"type":"result"}\n'

    reading = Reading("claude-stream-json", CLAUDE)

    assert [event for event in replay(out, b"", ended(0), reading) if isinstance(event, Failure)] == []
    assert str(list(replay(out, b"", ended(1), reading))[-1].class_) == "unknown"


def test_an_exit_without_the_closing_frame_is_a_truncation_whatever_its_code():
    assert of(exit_code=0, opened=True, spoke=True) == "truncated"
    assert of(exit_code=7, opened=True, spoke=True) == "truncated"
    assert of(exit_code=0, opened=True, spoke=True, closed=True, cut=True) == "truncated"
    assert of(exit_code=0, opened=True, spoke=True, closes=False) is None


def test_half_a_frame_is_kept_and_reported():
    found = list(replay(b'{"type":"system","subty', b"", ended(0), Reading("claude-stream-json", CLAUDE)))

    assert [type(event).__name__ for event in found] == ["Unknown", "Failure"]
    assert (found[0].frame, str(found[1].class_)) == ('{"type":"system","subty', "truncated")


def test_the_quota_weighs_more_than_its_status():
    text = "[API Error: 429 You exceeded your current quota, please check your plan and billing details.]"
    qwen = table_for("qwen", "qwen-stream-json")

    assert of(qwen, exit_code=1, troubles=(Trouble(text, 429),), opened=True, closed=True) == "usage_limit"


def test_the_last_word_of_a_turn_weighs_more_than_what_led_to_it():
    retry = Trouble("busy", 529, ("overloaded",), "retry")
    error = Trouble("API Error: 500", 500, ("server_error",), "error")
    final = Trouble("Prompt is too long", 400, ("prompt_too_long",), "final")

    assert of(exit_code=1, troubles=(final, error, retry), opened=True, closed=True) == "context_exceeded"


def test_a_retry_explains_a_run_that_ended_in_the_middle_of_it():
    retry = Trouble("429", 429, ("rate_limit",), "retry")

    assert of(exit_code=1, troubles=(retry,), opened=True) == "rate_limited"
    assert of(signal=9, by="timed_out", troubles=(retry,), opened=True) == "rate_limited"
    assert of(signal=9, troubles=(retry,), opened=True) == "killed"
    assert of(exit_code=0, troubles=(retry,), opened=True, spoke=True, closed=True) is None


@pytest.mark.parametrize(("by", "detail"), [("timed_out", ""), ("stopped", ""), ("itself", "a line")])
def test_what_stands_on_stderr_explains_no_end_that_was_ours(by, detail):
    assert classify(Evidence(signal=9, by=by, stderr=("a line",)), NO_TABLE).detail == detail


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"by": "stopped", "exit_code": 0, "opened": True}, "interrupted"),
        ({"by": "stopped", "signal": 9, "opened": True}, "interrupted"),
        ({"by": "timed_out", "signal": 15}, "timeout"),
        ({"by": "not_found"}, "cli_missing"),
        ({"by": "not_executable"}, "cli_missing"),
        ({"exit_code": 127, "stderr": ("sh: claude: not found",)}, "cli_missing"),
        ({"exit_code": 127, "opened": True, "closed": True, "spoke": True}, "unknown"),
        ({"exit_code": 130}, "interrupted"),
        ({"signal": 2}, "interrupted"),
        ({"exit_code": 0xC000013A}, "interrupted"),
        ({"exit_code": 139}, "killed"),
        ({"exit_code": 173}, "unknown"),
        ({"exit_code": 1, "stderr": ("kimi-cli is no longer maintained",)}, "unknown"),
    ],
)
def test_exits_and_signals(how, expected):
    assert of(**how) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (41, "auth"),
        (42, "bad_arguments"),
        (53, "max_turns"),
        (55, "permission_denied"),
        (145, "auth"),
        (173, "rate_limited"),
        (247, "overloaded"),
        (17, "overloaded"),
        (137, "killed"),
        (144, "unknown"),
        (1, "unknown"),
    ],
)
def test_geminis_exit_codes_are_the_low_byte_of_a_status_or_its_own(code, expected):
    assert of(table_for("gemini", "gemini-json"), exit_code=code, stderr=("something",)) == expected


def test_kimis_older_version():
    kimi = table_for("kimi", "kimi-stream-json")

    assert of(kimi, exit_code=75, closes=False) == "server_error"
    assert of(kimi, exit_code=75, stdout=("Error code: 429 - {'error': {}}",), closes=False) == "rate_limited"
    assert of(kimi, exit_code=0, stdout=("kimi-cli is no longer maintained.",), closes=False) == "cli_too_old"


def test_a_denial_that_ended_the_turn_is_named():
    reader = Reader(Reading("claude-stream-json", CLAUDE))
    ask = b'{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_use_id":"t"}}\n'
    end = b'{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}\n'
    denial = {"subtype": "success", "request_id": "r", "response": {"behavior": "deny", "interrupt": True}}
    found = [*reader.stdout(ask), *reader.sent({"type": "control_response", "response": denial}), *reader.stdout(end)]

    assert [str(event.class_) for event in (*found, *reader.close(ended(1))) if isinstance(event, Failure)] == [
        "permission_denied"
    ]


def test_a_waiting_time_is_taken_from_the_words():
    def after(text, status=429):
        return classify(Evidence(troubles=(Trouble(text, status),), closed=True), NO_TABLE).retry_after_ms

    assert after("Rate limit reached. Please try again in 1.5s.") == 1_500
    assert after("try again in 20 seconds") == 20_000
    assert after("Retry after 250 ms") == 250
    assert after("please try again in 6m0s") == 360_000
    assert after("slow down") is None
    assert after("try again in 5 s", status=401) is None


def test_words_that_explain_nothing_are_not_the_detail():
    table = FailureTable(harmless=(r"^Warning: ",))
    found = classify(Evidence(exit_code=3, stderr=("it broke", "Warning: no ripgrep")), table)

    assert found == Failure(FailureClass.UNKNOWN, TITLES[FailureClass.UNKNOWN], "it broke", 3)


def test_a_usage_text_does_not_push_out_what_it_explains():
    usage = b"".join(b"  --option-%d  does something\n" % n for n in range(200))
    found = list(replay(b"", b"Unknown argument: effort\n" + usage, ended(1), Reading("qwen-stream-json", QWEN)))[-1]

    assert (str(found.class_), found.detail) == ("bad_arguments", "Unknown argument: effort")


QWEN = table_for("qwen", "qwen-stream-json")


# Turn by turn

FIRST = b'{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"hello"}]}}\n'
REFUSED = b'{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"Overloaded"}\n'
WELL = b'{"type":"result","subtype":"success","is_error":false,"stop_reason":"end_turn"}\n'


def kinds(found):
    names = {Failure: lambda event: str(event.class_), End: lambda event: event.stop_reason, Text: lambda _: "text"}
    return [names[type(event)](event) for event in found if type(event) in names]


def test_a_process_of_many_turns_tells_each_failure_at_the_turns_end_and_once():
    reader = Reader(Reading("claude-stream-json", CLAUDE, lasting=True))

    assert kinds(reader.stdout(FIRST + REFUSED)) == ["text", "error", "overloaded"]
    assert kinds(reader.stdout(FIRST + WELL)) == ["text", "end_turn"]
    assert kinds(reader.stdout(REFUSED)) == ["error", "overloaded"]
    assert kinds(reader.close(ended(1))) == []


def test_a_process_of_many_turns_that_is_killed_between_them_says_so():
    reader = Reader(Reading("claude-stream-json", CLAUDE, lasting=True))

    assert kinds([*reader.stdout(FIRST + WELL), *reader.close(ended(-9))]) == ["text", "end_turn", "killed"]


def test_a_process_of_one_turn_tells_its_failure_with_the_exit():
    reader = Reader(Reading("claude-stream-json", CLAUDE))

    assert kinds(reader.stdout(FIRST + REFUSED)) == ["text", "error"]
    (failure,) = reader.close(ended(1))
    assert (failure.exit_code, str(failure.class_)) == (1, "overloaded")


def test_a_failure_that_did_not_end_the_process_comes_before_what_follows():
    reader = Reader(Reading("claude-stream-json", CLAUDE))

    assert kinds(reader.stdout(REFUSED + FIRST + WELL)) == ["error", "overloaded", "text", "end_turn"]
    assert kinds(reader.close(ended(0))) == []


# The tables


def test_every_row_has_its_source_and_every_class_its_title():
    for name, table in tables().items():
        rows = (*table.exit_codes, *table.kinds, *table.patterns)
        assert table.source, name
        assert [row for row in rows if not re.search(r"\d{4}-\d{2}", row.source)] == [], name
    assert sorted(TITLES) == sorted(FailureClass)


def test_every_pattern_is_anchored_or_long():
    """A bare word is no evidence."""
    loose = [
        (name, row.pattern)
        for name, table in tables().items()
        for row in table.patterns
        if not row.pattern.startswith(("^", "(?:^")) and len(re.sub(r"\W", "", row.pattern)) < 18
    ]

    assert loose == []


def test_every_dialect_with_frames_has_one_table():
    served = [dialect for table in tables().values() for dialect in table.dialects]

    assert sorted(served) == sorted(set(DIALECTS) - {"none"})


def test_a_provider_of_a_known_dialect_needs_no_table_of_its_own():
    assert table_for("muxcode", "claude-stream-json") == CLAUDE
    assert table_for("unheard-of", "none") == NO_TABLE


def test_a_table_may_go_on_with_anothers_rows():
    acp, kilo = tables()["acp"], tables()["kilo"]
    joined = table_for("kilo", "acp")

    assert joined.kinds == (*kilo.kinds, *acp.kinds)
    assert joined.patterns == (*kilo.patterns, *acp.patterns)
    assert table_for("unheard-of", "acp") == acp
    assert {table.also for table in tables().values()} <= {None, *tables()}


def test_words_that_always_mean_a_failure_are_those_of_frames():
    table = FailureTable(
        patterns=(
            Pattern("frame", "^Error: ", None, "here", always=True),
            Pattern("frame", "^Info: ", None, "here"),
            Pattern("stderr", "^fatal: ", None, "here", always=True),
        )
    )

    assert [table.fatal(words) for words in ("well\nError: no", "Info: x", "fatal: y")] == [True, False, False]


def test_a_pattern_may_leave_the_class_to_its_groups():
    table = FailureTable(
        kinds=(Kind("provider.overloaded", FailureClass.OVERLOADED, "here"),),
        patterns=(Pattern("stderr", r"^failed: (?P<kind>[a-z.]+)(?: (?P<status>\d{3}))?", None, "here"),),
    )

    assert of(table, exit_code=1, stderr=("failed: provider.overloaded",)) == "overloaded"
    assert of(table, exit_code=1, stderr=("failed: provider.other 401",)) == "auth"
    assert of(table, exit_code=1, stderr=("failed: provider.other 999",)) == "unknown"


@pytest.mark.parametrize(
    ("frames", "fails"),
    [
        ('{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"manual"}}\n', False),
        ('{"type":"conversation_reset","trigger":"clear"}\n', False),
        ('{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto"}}\n', True),
    ],
)
def test_a_turn_in_which_the_cli_did_what_was_asked_of_it_is_not_silent(frames, fails):
    said = frames + '{"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":""}\n'
    events = list(replay(said.encode(), b"", Ended(0), Reading("claude-stream-json", CLAUDE, lasting=True)))

    assert [event.class_.value for event in events if isinstance(event, Failure)] == ["no_output"] * fails
