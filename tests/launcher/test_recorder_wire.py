from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentmux_launcher.recorder.side import side_request
from agentmux_launcher.recorder.wire import (
    Breakpoint,
    NotAPromptError,
    Part,
    first_difference,
    render,
    wire_of,
)

SAMPLES = sorted((Path(__file__).parent / "wire_samples").glob("*.json"))


def shown(rendered):
    marks = {mark.index: f" <{mark.ttl}>" for mark in rendered.breakpoints}
    parts = [f"{p.layer} | {p.name} | {p.text}{marks.get(n, '')}" for n, p in enumerate(rendered.parts)]
    return [rendered.wire, *parts, json.dumps(rendered.parameters), json.dumps(rendered.identity)]


def sample(path):
    return json.loads(path.read_text(encoding="utf-8"))["requests"]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_requests_of_real_clis_render_as_recorded(path, snapshot):
    rendered = [render(request["body"], request["path"]) for request in sample(path)]

    assert [shown(each) for each in rendered] == snapshot


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_side_requests_of_real_clis_are_told_apart(path):
    kinds = []
    for request in sample(path):
        aside = side_request(render(request["body"], request["path"]))
        kinds.append(f"side:{aside.name}" if aside else "main")

    assert kinds == [request["kind"] for request in sample(path)]


@pytest.mark.parametrize(
    ("last", "name"),
    [
        ("[SUGGESTION MODE: Suggest what the user might naturally type next into Claude Code.]", "suggestion"),
        ("[SUGGESTION MODE: Suggest what the user might naturally type next.]\n\nFIRST:", "suggestion"),
        ("<system-reminder>Generate a session title for the conversation above. It should be", "title"),
        ("<system-reminder>Write an ultra-short dashboard line that captures the AGENT'S REPLY", "dashboard"),
        ("Generate a session title for the conversation above.", None),
    ],
)
def test_what_a_cli_asks_behind_a_turn_is_told_by_its_beginning(last, name):
    messages = [{"role": "user", "content": "Hello"}, {"role": "user", "content": last}]
    aside = side_request(render(json.dumps({"model": "m", "messages": messages}).encode(), "/v1/chat/completions"))

    assert (aside.name if aside else None) == name


@pytest.mark.parametrize("name", ["claude", "codex", "opencode"])
def test_a_real_session_only_ever_appends(name):
    main = [request for request in sample(next(p for p in SAMPLES if p.stem == name)) if request["kind"] == "main"]
    prompts = [render(request["body"], request["path"]) for request in main]

    assert len(prompts) == 3
    for earlier, later in itertools.pairwise(prompts):
        difference = first_difference(earlier, later)
        assert difference is not None
        assert (difference.index, difference.byte) == (len(earlier.parts), 0)
        assert difference.kept == earlier.size
        assert difference.share == earlier.size / later.size


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_the_wire_shows_in_the_body_alone(path):
    for request in sample(path):
        assert wire_of(request["body"]) == wire_of(request["body"], request["path"])


ANTHROPIC = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"b": 1, "a": 2}}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "out"}]},
                {"type": "text", "text": "go", "cache_control": {"type": "ephemeral"}},
            ],
        },
    ],
    "system": [
        {"type": "text", "text": "base"},
        {"type": "text", "text": "more", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
    ],
    "tools": [{"name": "Bash", "description": "run", "input_schema": {"type": "object"}}],
    "metadata": {"user_id": "u"},
    "max_tokens": 10,
}


def test_anthropic_renders_tools_then_system_then_messages():
    rendered = render(ANTHROPIC)

    assert rendered.parts == (
        Part("tools", "tools:Bash", '{"name":"Bash","description":"run","input_schema":{"type":"object"}}'),
        Part("system", "system[0]", "base"),
        Part("system", "system[1]", "more"),
        Part("messages", "messages[0](user).content[0]", "hello"),
        Part(
            "messages",
            "messages[1](assistant).content[0]",
            '{"type":"tool_use","id":"t1","name":"Bash","input":{"b":1,"a":2}}',
        ),
        Part(
            "messages",
            "messages[2](user).content[0]",
            '{"type":"tool_result","tool_use_id":"t1","content":"out"}',
        ),
        Part("messages", "messages[2](user).content[1]", "go"),
    )
    assert rendered.parameters == {"model": "m", "max_tokens": 10}
    assert rendered.identity == {"metadata": {"user_id": "u"}}
    assert rendered.breakpoints == (Breakpoint(2, "1h"), Breakpoint(6, "5m"))


def test_a_mark_on_the_whole_request_stands_at_its_last_part():
    rendered = render({"system": "s", "messages": [], "cache_control": {"type": "ephemeral", "ttl": "1h"}})

    assert rendered.breakpoints == (Breakpoint(0, "1h"),)
    assert "cache_control" not in rendered.parameters


def test_responses_renders_instructions_then_tools_then_input_without_ids():
    rendered = render(
        {
            "model": "gpt",
            "input": [
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "developer",
                    "content": [{"type": "input_text", "text": "base"}],
                },
                {"type": "additional_tools", "tools": [{"type": "function", "name": "late"}]},
                {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{}"},
                {"type": "function_call_output", "id": "fco_1", "call_id": "c1", "output": "seen"},
            ],
            "tools": [{"type": "custom", "name": "patch"}, {"type": "web_search"}],
            "instructions": "be good",
            "reasoning": {"effort": "low"},
            "client_metadata": {"id": "x"},
            "prompt_cache_key": "k",
        }
    )

    assert rendered.parts == (
        Part("system", "instructions", "be good"),
        Part("tools", "tools:patch", '{"type":"custom","name":"patch"}'),
        Part("tools", "tools:web_search", '{"type":"web_search"}'),
        Part("messages", "input[0](developer).content[0]", "base"),
        Part("tools", "input[1](additional_tools):late", '{"type":"function","name":"late"}'),
        Part(
            "messages",
            "input[2](function_call)",
            '{"type":"function_call","call_id":"c1","name":"look","arguments":"{}"}',
        ),
        Part(
            "messages",
            "input[3](function_call_output)",
            '{"type":"function_call_output","call_id":"c1","output":"seen"}',
        ),
    )
    assert rendered.parameters == {"model": "gpt", "reasoning": {"effort": "low"}}
    assert rendered.identity == {"client_metadata": {"id": "x"}, "prompt_cache_key": "k"}


def test_chat_renders_tools_then_messages_with_their_calls():
    rendered = render(
        {
            "messages": [
                {"role": "system", "content": "base"},
                {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function"}]},
                {"role": "tool", "tool_call_id": "c1", "content": "seen"},
            ],
            "tools": [{"type": "function", "function": {"name": "look"}}],
        },
        "/v1/chat/completions",
    )

    assert rendered.parts == (
        Part("tools", "tools:look", '{"type":"function","function":{"name":"look"}}'),
        Part("messages", "messages[0](system).content[0]", "base"),
        Part("messages", "messages[1](assistant).tool_calls", '[{"id":"c1","type":"function"}]'),
        Part("messages", "messages[2](tool).tool_call_id", '"c1"'),
        Part("messages", "messages[2](tool).content[0]", "seen"),
    )


def test_gemini_renders_system_instruction_then_tools_then_contents_and_takes_the_model_from_the_path():
    rendered = render(
        {
            "contents": [{"role": "user", "parts": [{"text": "hi"}, {"functionCall": {"name": "look", "args": {}}}]}],
            "systemInstruction": {"role": "user", "parts": [{"text": "base"}]},
            "tools": [{"functionDeclarations": [{"name": "look"}, {"name": "list"}]}, {"googleSearch": {}}],
            "generationConfig": {"temperature": 1},
        },
        "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    )

    assert rendered.parts == (
        Part("system", "systemInstruction.parts[0]", "base"),
        Part("tools", "tools:look", '{"name":"look"}'),
        Part("tools", "tools:list", '{"name":"list"}'),
        Part("tools", "tools:googleSearch", '{"googleSearch":{}}'),
        Part("messages", "contents[0](user).parts[0]", "hi"),
        Part("messages", "contents[0](user).parts[1]", '{"functionCall":{"name":"look","args":{}}}'),
    )
    assert rendered.parameters == {"generationConfig": {"temperature": 1}, "model": "gemini-2.5-pro"}


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{}", b'{"model": "m"}', b"\xff", b"{"])
def test_what_is_no_model_request_is_refused(body):
    with pytest.raises(NotAPromptError):
        render(body)


texts = st.text(min_size=1)


@given(st.lists(texts, max_size=4), texts, st.booleans(), st.booleans())
def test_string_or_block_marked_or_not_is_one_prompt(system, prompt, as_string, marked):
    def block(text, mark):
        mark = {"cache_control": {"type": "ephemeral"}} if mark else {}
        return {"type": "text", "text": text, **mark}

    plain = {
        "model": "m",
        "max_tokens": 1,
        "system": [block(text, mark=False) for text in system],
        "messages": [{"role": "user", "content": [block(prompt, mark=False)]}],
    }
    other = {
        "messages": [{"role": "user", "content": prompt if as_string else [block(prompt, marked)]}],
        "system": [block(text, marked) for text in system],
        "max_tokens": 1,
        "model": "m",
    }

    one, two = render(json.dumps(plain).encode()), render(json.dumps(other).encode())

    assert one.parts == two.parts
    assert one.parameters == two.parameters
    assert first_difference(one, two) is None


@given(st.lists(texts, min_size=1, max_size=5), st.data())
def test_the_first_difference_is_where_the_bytes_part(contents, data):
    changed = data.draw(st.integers(0, len(contents) - 1))
    text = contents[changed]
    at = data.draw(st.integers(0, len(text) - 1))
    other = text[:at] + ("y" if text[at] == "x" else "x") + text[at + 1 :]

    def prompt(parts):
        return render({"input": [{"role": "user", "content": part} for part in parts]})

    earlier, later = prompt(contents), prompt([*contents[:changed], other, *contents[changed + 1 :]])
    difference = first_difference(earlier, later)

    def encoded(text):
        return text.encode("utf-8", "surrogatepass")

    one, two = encoded("".join(contents)), encoded("".join(part.text for part in later.parts))
    kept = next(n for n, (a, b) in enumerate(zip(one + b"\0", two + b"\0", strict=False)) if a != b)
    assert difference is not None
    assert difference.index == changed
    assert difference.part == later.parts[changed]
    assert difference.kept == kept
    assert difference.byte == kept - len(encoded("".join(contents[:changed])))
    assert difference.share == kept / later.size


def test_another_role_at_the_same_place_shares_nothing_of_that_part():
    one = render({"input": [{"role": "developer", "content": "same"}]})
    two = render({"input": [{"role": "user", "content": "same"}]})

    difference = first_difference(one, two)

    assert difference is not None
    assert (difference.byte, difference.kept) == (0, 0)


def test_a_shorter_later_prompt_points_at_what_it_lost():
    one = render({"input": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]})
    two = render({"input": [{"role": "user", "content": "a"}]})

    difference = first_difference(one, two)

    assert difference is not None
    assert (difference.part.text, difference.kept, difference.share) == ("b", 1, 1.0)


def test_a_namespace_of_tools_is_one_part_for_each_of_them():
    group = {"type": "namespace", "name": "mcp__x", "tools": [{"type": "function", "name": "look"}]}

    assert render({"input": "hi", "tools": [group]}).parts == (
        Part("tools", "tools:mcp__x", '{"type":"namespace","name":"mcp__x"}'),
        Part("tools", "tools:mcp__x:look", '{"type":"function","name":"look"}'),
        Part("messages", "input[0](user).content[0]", "hi"),
    )
