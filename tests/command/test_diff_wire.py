"""Two recorded requests: what counts as prompt, where it breaks first, and what is said when it cannot be told."""

from __future__ import annotations

import base64
import copy
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux.cli import main
from agentmux_compiler.render import FORMATS
from agentmux_compiler.wire import Recorded, diff_requests, texts
from agentmux_launcher.recorder.wire import render

SAMPLES = Path(__file__).parents[1] / "launcher" / "wire_samples"
CLAUDE = {
    "model": "claude-opus-5",
    "max_tokens": 100,
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "# Rules\nBe brief.\n"}, {"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "again"},
    ],
    "system": [
        {"type": "text", "text": "You are an agent."},
        {"type": "text", "text": "one\ntwo\n", "cache_control": {"type": "ephemeral"}},
    ],
    "tools": [
        {"name": "Bash", "description": "Runs it", "input_schema": {"type": "object"}},
        {"name": "Read", "description": "Reads it", "input_schema": {"type": "object"}},
    ],
    "metadata": {"user_id": "one"},
    "output_config": {"effort": "high"},
}
CODEX = {
    "model": "gpt-5.5",
    "input": [
        {"type": "message", "role": "developer", "id": "msg_1", "content": [{"type": "input_text", "text": "base"}]},
        {"type": "message", "role": "user", "id": "msg_2", "content": [{"type": "input_text", "text": "hi"}]},
    ],
    "tools": [{"type": "function", "name": "shell", "parameters": {}}],
    "reasoning": {"effort": "medium", "summary": "auto"},
    "text": {"verbosity": "low"},
    "prompt_cache_key": "one",
    "client_metadata": {"turn": 1},
}
KIMI = {
    "model": "kimi-k2",
    "messages": [{"role": "system", "content": "base"}, {"role": "user", "content": "hi"}],
    "tools": [{"type": "function", "function": {"name": "shell", "parameters": {}}}],
}
GEMINI = {
    "contents": [{"role": "user", "parts": [{"text": "context"}, {"text": "hi"}]}],
    "systemInstruction": {"role": "user", "parts": [{"text": "base"}]},
    "tools": [{"functionDeclarations": [{"name": "shell"}]}],
    "generationConfig": {"temperature": 1, "thinkingConfig": {"thinkingBudget": 8192}},
}
BODIES = {"anthropic": CLAUDE, "responses": CODEX, "chat": KIMI, "gemini": GEMINI}


def edited(body, *path, to):
    """A copy with one value replaced, or taken out where `to` is None."""
    copied = copy.deepcopy(body)
    place = copied
    for step in path[:-1]:
        place = place[step]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return copied


def report_of(before, after):
    return diff_requests(Recorded("a.json", render(before)), Recorded("b.json", render(after)))


def plan_of(before, after):
    return report_of(before, after).plans[0]


def told(plan):
    return [(change.reason, change.layer, change.segment, change.masked) for change in plan.changes]


@pytest.fixture
def wire(tmp_path, monkeypatch, capsys):
    """Run the command on two bodies, in a folder that is no project."""
    monkeypatch.chdir(tmp_path)

    def run(before, after, *arguments):
        for name, content in (("a.json", before), ("b.json", after)):
            data = content if isinstance(content, bytes) else json.dumps(content, indent=1).encode()
            (tmp_path / name).write_bytes(data)
        code = main(["diff", "--wire", "a.json", "b.json", *arguments])
        return (code, *capsys.readouterr())

    return run


@pytest.mark.parametrize("wire_name", BODIES)
def test_a_request_is_the_same_as_itself(wire, wire_name):
    assert wire(BODIES[wire_name], BODIES[wire_name]) == (0, "No changes. 1 prefix unchanged.\n", "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (CLAUDE, edited(CLAUDE, "system", 1, "cache_control", to=None)),
        (CLAUDE, edited(CLAUDE, "messages", 1, "content", to=[{"type": "text", "text": "hello"}])),
        (CLAUDE, edited(CLAUDE, "metadata", to={"user_id": "two"})),
        (CLAUDE, dict(reversed(CLAUDE.items()))),
        (CODEX, edited(CODEX, "input", 1, "id", to="msg_9")),
        (CODEX, edited(CODEX, "client_metadata", to=None)),
        (KIMI, edited(KIMI, "messages", 1, "content", to=[{"type": "text", "text": "hi"}])),
        (GEMINI, dict(reversed(GEMINI.items()))),
    ],
)
def test_what_is_not_prompt_is_no_difference(before, after):
    report = report_of(before, after)
    assert (report.plans[0].verdict, report.diagnostics) == ("unchanged", ())


@pytest.mark.parametrize(
    ("path", "to", "change"),
    [
        (("tools", 0, "description"), "Runs", ("edited", "tools", "tools:Bash", False)),
        (("tools", 0), None, ("removed", "tools", "tools:Bash", False)),
        (("tools",), CLAUDE["tools"][::-1], ("reordered", "tools", "tools:Read", False)),
        (("system", 1, "text"), "one\ntwo \n", ("whitespace", "system", "system[1]", False)),
        (("system", 0), None, ("removed", "system", "system[0] as it was", False)),
        (("messages", 0, "role"), "system", ("edited", "messages", "messages[0](system)", False)),
        (("messages", 0, "content", 0), None, ("removed", "messages", "messages[0](user).content[0] as it was", False)),
        (("messages", 1), None, ("removed", "messages", "messages[1](assistant)", False)),
        (("messages", 1, "content"), "bye", ("edited", "messages", "messages[1](assistant).content[0]", False)),
    ],
)
def test_a_change_of_the_prompt_is_one_change_with_its_place(path, to, change):
    plan = plan_of(CLAUDE, edited(CLAUDE, *path, to=to))
    assert (plan.verdict, told(plan)) == ("broken", [change])


def test_a_block_in_front_shifts_the_others_and_is_the_only_change():
    after = copy.deepcopy(CLAUDE)
    after["messages"][0]["content"].insert(0, {"type": "text", "text": "first of all"})
    after["messages"].insert(1, {"role": "system", "content": "a reminder"})
    assert told(plan_of(CLAUDE, after)) == [
        ("inserted", "messages", "messages[0](user).content[0]", False),
        ("inserted", "messages", "messages[1](system)", True),
    ]


def test_a_text_that_moves_to_another_layer_is_reordered():
    before = edited(CODEX, "text", to=None)
    after = edited({**before, "instructions": "base"}, "input", 0, to=None)
    plan = plan_of(before, after)
    assert told(plan) == [
        ("reordered", "system", "instructions", False),
        ("removed", "messages", "input[0](developer)", True),
    ]
    assert plan.changes[0].detail == "it stood in `messages`"


def test_a_conversation_that_goes_on_breaks_nothing():
    after = copy.deepcopy(CLAUDE)
    after["messages"] += [{"role": "assistant", "content": "yes?"}, {"role": "user", "content": "more"}]
    plan = plan_of(CLAUDE, after)
    before = plan_of(CLAUDE, CLAUDE)
    assert (plan.verdict, plan.first_break) == ("kept", None)
    assert (plan.text.bytes_kept, plan.scenarios["relaunch"].lost) == (before.text.bytes_total, 0)
    assert [change.reason for change in plan.changes] == ["inserted", "inserted"]


@pytest.mark.parametrize(
    ("body", "path", "to", "reason", "values"),
    [
        (CLAUDE, ("model",), "claude-haiku-4-5", "model", ("claude-opus-5", "claude-haiku-4-5")),
        (CLAUDE, ("output_config", "effort"), "low", "effort", ("high", "low")),
        (CLAUDE, ("thinking",), {"type": "adaptive"}, "effort", ("high", 'high, thinking {"type":"adaptive"}')),
        (CODEX, ("reasoning", "effort"), "high", "effort", ("medium", "high")),
        (KIMI, ("thinking",), {"type": "enabled"}, "effort", ("", 'thinking {"type":"enabled"}')),
        (
            GEMINI,
            ("generationConfig", "thinkingConfig", "thinkingBudget"),
            0,
            "effort",
            ('{"thinkingBudget":8192}', '{"thinkingBudget":0}'),
        ),
    ],
)
def test_a_parameter_that_keys_the_cache_is_a_break_of_the_key(body, path, to, reason, values):
    plan = plan_of(body, edited(body, *path, to=to))
    first = plan.first_break
    assert (plan.verdict, first.layer, first.byte, told(plan)) == ("broken", "key", 0, [(reason, "key", reason, False)])
    assert plan.text.bytes_kept == plan.text.bytes_total
    assert tuple(value.removeprefix(", ") for value in (first.before, first.after)) == values


def test_other_parameters_are_notes_of_their_own():
    after = edited(edited(CODEX, "reasoning", "summary", to=None), "prompt_cache_key", to="two")
    report = report_of({**CODEX, "stream": True}, {**after, "temperature": 0.5})
    assert report.plans[0].verdict == "unchanged"
    assert [item.message for item in report.diagnostics] == [
        "`prompt_cache_key` is another one",
        'request parameter `reasoning.summary`: `"auto"` became nothing',
        "request parameter `stream`: `true` became nothing",
        "request parameter `temperature`: nothing became `0.5`",
    ]


def test_a_parameter_that_is_rendered_breaks_the_prefix_where_it_stands():
    plan = plan_of(CLAUDE, {**CLAUDE, "tool_choice": {"type": "any"}})
    assert told(plan) == [("inserted", "messages", "tool_choice", False)]
    schema = {**CODEX, "text": {**CODEX["text"], "format": {"type": "json_schema"}}}
    assert plan_of(CODEX, schema).first_break.segment == "text.format"
    assert plan_of(CODEX, {**CODEX, "service_tier": "flex"}).first_break.segment == "service_tier"
    fast = plan_of(CLAUDE, {**CLAUDE, "speed": "fast"})
    assert (fast.first_break.segment, fast.model) == ("speed", "claude-opus-5")


def test_reuse_follows_the_marks_of_the_request():
    body = json.loads(json.dumps(CLAUDE))
    body["system"][1]["text"] = "word " * 2000
    late = plan_of(body, edited(body, "messages", 0, "content", 0, "text", to="other"))
    early = plan_of(body, edited(body, "system", 0, "text", to="other"))
    assert (late.scenarios["relaunch"].lost, late.verdict) == (0, "kept")
    assert (late.first_break.segment, early.verdict) == ("messages[0](user).content[0]", "broken")
    assert early.scenarios["relaunch"].lost == early.scenarios["relaunch"].reusable_before > 2000
    assert early.scenarios["relaunch"].usd > 0
    assert (early.ttl, early.backend, early.vendor) == ("5m", "anthropic", "anthropic")


def test_a_model_that_several_servers_have_says_nothing_of_reuse():
    plan = plan_of(KIMI, edited(KIMI, "messages", 0, "content", to="other"))
    assert (plan.vendor, plan.backend, plan.scenarios["relaunch"]) == ("unknown", "unknown", None)


def exchange(body, **headers):
    """A file of the recorder."""
    raw = json.dumps(body).encode()
    told = {"body": raw.decode()}
    if headers.pop("packed", False):
        headers["content-encoding"] = "gzip"
        told = {"body_base64": base64.b64encode(gzip.compress(raw)).decode()}
    record = {
        "format_version": 1,
        "number": 1,
        "method": "POST",
        "path": "/v1beta/models/gemini-2.5-pro:streamGenerateContent" if "contents" in body else "",
        "headers": [[name.replace("_", "-"), value] for name, value in headers.items()],
        "kind": "main",
        "status": 200,
        "usage": None,
    }
    return {**record, **told}


def test_files_of_the_recorder_are_read_by_their_bodies(wire):
    before = exchange(CLAUDE, user_agent="claude-cli/2.1.197 (external)")
    after = exchange(CLAUDE, user_agent="claude-cli/2.1.332 (external)", packed=True)
    code, out, err = wire(before, after, "--format", "json")
    plan = json.loads(out)["plans"][0]
    assert (code, err, plan["verdict"], plan["cli_version"]) == (0, "", "kept", "2.1.332")
    assert [change["detail"] for change in plan["changes"]] == ["`claude-cli 2.1.197` became `claude-cli 2.1.332`"]


def test_the_model_of_a_gemini_request_stands_in_its_path(wire):
    _, out, _ = wire(exchange(GEMINI), exchange(GEMINI), "--format", "json")
    plan = json.loads(out)["plans"][0]
    assert (plan["model"], plan["vendor"], plan["provider"]) == ("gemini-2.5-pro", "google", "gemini")


CHANGED = edited(edited(CLAUDE, "system", 1, "text", to="one\n2 <b>|\n"), "max_tokens", to=200)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(wire, name, snapshot):
    code, out, err = wire(CLAUDE, CHANGED, "--format", name)
    assert (code, err) == (0, "")
    assert out == snapshot


def test_fail_on_counts_what_is_lost(wire):
    assert wire(CLAUDE, CHANGED, "--fail-on", "break")[0] == 1
    assert wire(CLAUDE, CHANGED, "--fail-on", "break:100000")[0] == 0


@pytest.mark.parametrize(
    ("data", "message", "place"),
    [
        (b"[1,", "it is not JSON: expecting value", "b.json:1:4"),
        (b"{}", "it has none of `messages`, `contents`, `input`", "b.json:1:1"),
        (b"[]", "it is neither a request body nor a file of the recorder", "b.json:1:1"),
        (b"\xff", "it is not UTF-8", "b.json:1:1"),
        (b'{"a":' * 60000, "it is nested too deeply", "b.json:1:1"),
        (json.dumps({**exchange({}), "body": "{"}).encode(), "it is not JSON: expecting property name", "b.json:1:1"),
    ],
)
def test_what_is_no_request_is_a_diagnostic(wire, data, message, place):
    code, out, err = wire(CLAUDE, data, "--format", "concise")
    assert (code, err) == (2, "")
    assert out.startswith(f"{place}: AMX530 `b.json` is no recorded model request: {message}")


def test_two_wires_are_a_diagnostic(wire):
    assert wire(CLAUDE, CODEX) == (
        2,
        (
            "error[AMX531]: two wires: `a.json` is Anthropic Messages and `b.json` is OpenAI Responses\n"
            "  = help: compare requests of one wire\n"
        ),
        "",
    )


def test_a_file_that_is_not_there_cannot_be_compared(wire, capsys):
    wire(CLAUDE, CLAUDE)
    assert main(["diff", "--wire", "a.json", "none.json"]) == 2
    assert capsys.readouterr() == ("", "error: `none.json`: no such file or directory\n")


@pytest.mark.parametrize("arguments", [["reviewer"], ["--base", "git:HEAD"], ["--provider", "x"], ["--project", "."]])
def test_plans_and_requests_do_not_mix(wire, arguments):
    code, out, err = wire(CLAUDE, CLAUDE, *arguments)
    assert (code, out, err.split(" and ")[0]) == (2, "", "error: `--wire` takes two files")


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "kimi", "opencode", "qwen"])
def test_a_real_request_that_gains_a_tool_breaks_there(name):
    sample = json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))["requests"][0]
    body, path = sample["body"], sample["path"]
    after = copy.deepcopy(body)
    tools = after.setdefault("tools", [])
    inner = tools[0]["functionDeclarations"] if name == "gemini" else tools
    inner.append({"name": "added", "type": "function"})
    before, later = Recorded("a", render(body, path)), Recorded("b", render(after, path))
    plan = diff_requests(before, later).plans[0]
    assert told(plan) == [("inserted", "tools", "tools:added", False)]
    assert texts(later)["tools:added"] == '{"name":"added","type":"function"}'


def prompt(body) -> bytes:
    """What an Anthropic backend renders, written down by hand for this test."""
    tools = [json.dumps(tool, separators=(",", ":"), ensure_ascii=False) for tool in body["tools"]]
    system = [block["text"] for block in body["system"]]
    messages = [each["role"] + "\n" + "".join(block["text"] for block in each["content"]) for each in body["messages"]]
    return "".join([*tools, *system, *messages]).encode()


words = st.text(st.sampled_from("ab\n é"), min_size=1, max_size=8)
blocks = st.lists(words.map(lambda text: {"type": "text", "text": text}), min_size=1, max_size=3)
bodies = st.fixed_dictionaries(
    {
        "tools": st.lists(st.sampled_from("abc").map(lambda name: {"name": name}), max_size=3),
        "system": blocks,
        "messages": st.lists(
            st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": blocks}), max_size=3
        ),
    }
)


@given(bodies, bodies)
def test_the_kept_bytes_are_the_common_bytes(before, after):
    old, new = prompt(before), prompt(after)
    common = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    plan = plan_of(before, after)
    assert plan.text.bytes_total == len(new)
    assert plan.text.bytes_kept == common
    assert (plan.verdict == "unchanged") == (before == after)
