"""What arguments do to a CLI's tools, to its endpoint and to the texts they pass."""

from __future__ import annotations

import json

import pytest

from agentmux_compiler.prefix.words import argument_values, is_redirected, leaves_server, tool_words
from agentmux_compiler.providers import load_provider

CLAUDE = load_provider("claude")
GEMINI = load_provider("gemini")
DENY = "--disallowedTools"


def without(provider, *argv):
    return {word.partition(":")[2] for word in tool_words(provider, argv) if word.startswith("without:")}


@pytest.mark.parametrize(
    ("argv", "gone"),
    [
        ([], set()),
        ([DENY, "Bash"], {"Bash"}),
        ([DENY, "Bash,Edit"], {"Bash", "Edit"}),
        ([DENY, "Bash Edit"], {"Bash", "Edit"}),
        ([DENY, "Bash", "Edit", "--verbose", "Write"], {"Bash", "Edit"}),
        ([f"{DENY}=Bash"], {"Bash"}),
        (["--disallowed-tools", "Bash"], {"Bash"}),
        ([DENY, "Bash(git push *)"], set()),
        ([DENY, "Bash(git push *, rm *),Edit"], {"Edit"}),
        ([DENY, "Bash(*)"], {"Bash"}),
        ([DENY, "NoSuchTool"], set()),
        (["-p", DENY], set()),
        (["--settings", json.dumps({"permissions": {"deny": ["Bash", "Edit(src/**)"]}})], {"Bash"}),
        (["--settings", "{not json"], set()),
        (["--settings", "settings.json"], set()),
        (["--settings", json.dumps({"permissions": ["Bash"]})], set()),
        (["--settings", json.dumps({"permissions": {"deny": "Bash"}})], set()),
    ],
)
def test_a_tool_is_taken_away_by_its_bare_name_only(argv, gone):
    assert without(CLAUDE, *argv) == gone


def test_a_list_of_all_that_is_left_takes_away_the_rest():
    left = {part.tool for part in CLAUDE.layout.all_parts if part.tool} - without(CLAUDE, "--tools", "Bash,Edit")
    assert {"Bash", "Edit"} <= left
    assert "Write" not in left
    assert "only:Bash" in tool_words(CLAUDE, ["--tools", "Bash,Edit"])


def test_a_list_of_all_tools_takes_none_away():
    assert without(CLAUDE, "--tools", "default") == set()


@pytest.mark.parametrize(
    ("argv", "left"),
    [
        ([], True),
        ([DENY, "mcp__one"], False),
        ([DENY, "mcp__two"], True),
        ([DENY, "mcp__one__search"], True),
    ],
)
def test_a_server_is_denied_as_a_whole(argv, left):
    assert leaves_server(CLAUDE, argv, "one") is left


def test_of_servers_that_are_allowed_by_name_the_others_are_left_out():
    argv = ["--allowed-mcp-server-names", "one"]
    assert [leaves_server(GEMINI, argv, name) for name in ("one", "two")] == [True, False]


def test_a_cli_is_redirected_by_its_variable_or_its_arguments():
    codex = load_provider("codex")
    assert is_redirected(CLAUDE, [], ["ANTHROPIC_BASE_URL"])
    assert not is_redirected(CLAUDE, ["-p"], ["HOME"])
    by_argument = [item.replace("{base_url}", "http://x") for item in codex.redirect.argv]
    assert is_redirected(codex, by_argument, [])
    assert not is_redirected(codex, ["exec", "--json"], [])


@pytest.mark.parametrize(
    ("spelling", "argv", "found"),
    [
        ("--append-system-prompt {}", ["--append-system-prompt", "Be calm."], ["Be calm."]),
        ("--append-system-prompt {}", ["--append-system-prompt=Be calm."], ["Be calm."]),
        ("--append-system-prompt {}", ["--append-system-prompt"], [""]),
        ("-c developer_instructions={}", ["-c", "a=1", "-c", "developer_instructions=x"], ["x"]),
        ("-c developer_instructions={}", ["-c", "a=1"], []),
    ],
)
def test_texts_that_arguments_pass(spelling, argv, found):
    assert argument_values([spelling], argv) == found
