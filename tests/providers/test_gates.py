"""Which plans have a gate, and what opens it."""

from __future__ import annotations

import pytest

from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.tree import MemoryTree
from agentmux_launcher.manifest import Gate, Need, Slot, UserEntry

COPILOT = "MCP servers, plugins and hooks of the folder, and skills of added directories"
KIMI = '{"root": "{cwd}", "trustedAt": {now}000}'


def plan_of(provider, controller):
    spec = f"providers: {{{provider}: {{controller: {controller}}}}}\npermission: bypass\n"
    (lowered,) = compile_project(MemoryTree({"agents.d/a.yaml": spec.encode()})).plans
    return lowered.plan


@pytest.mark.parametrize(
    ("provider", "controller", "gate"),
    [
        ("claude", "persistent", None),
        (
            "codex",
            "subprocess",
            Gate(
                "project-settings",
                ".codex/config.toml",
                openable=True,
                file=UserEntry(
                    "config.toml", '[projects."{cwd}"]\ntrust_level = "trusted"\n', "~/.codex", "CODEX_HOME"
                ),
            ),
        ),
        ("codex", "acp", None),
        (
            "copilot",
            "acp",
            Gate(
                "folder",
                COPILOT,
                file=UserEntry("config.json", '{"trusted_folders": ["{cwd}"]}', "~/.copilot", "COPILOT_HOME"),
            ),
        ),
        (
            "gemini",
            "subprocess",
            Gate(
                "folder",
                "everything",
                {"GEMINI_CLI_TRUST_WORKSPACE": "true"},
                openable=True,
                file=UserEntry(".gemini/trustedFolders.json", '{"{cwd}": "TRUST_FOLDER"}', "~", "GEMINI_CLI_HOME"),
            ),
        ),
        (
            "kimi",
            "subprocess",
            Gate(
                "project-settings",
                "MCP servers of .kimi-code/mcp.json and .mcp.json",
                file=UserEntry("workspace-trust/wd_{slug}_{digest}", KIMI, "~/.kimi-code", "KIMI_CODE_HOME"),
            ),
        ),
        ("muse", "terminal", Gate("folder", "the project's rules and hooks", openable=True)),
        (
            "pi",
            "acp",
            Gate(
                "project-settings",
                ".pi and .agents/skills of the project",
                file=UserEntry("trust.json", '{"{cwd}": true}', "~/.pi/agent", "PI_CODING_AGENT_DIR"),
            ),
        ),
        (
            "pi",
            "terminal",
            Gate(
                "project-settings",
                ".pi and .agents/skills of the project",
                openable=True,
                file=UserEntry("trust.json", '{"{cwd}": true}', "~/.pi/agent", "PI_CODING_AGENT_DIR"),
            ),
        ),
        ("qwen", "subprocess", Gate("project-settings", "MCP servers of .qwen/settings.json and .mcp.json")),
    ],
)
def test_a_gate_is_opened_for_one_launch_where_that_is_possible(provider, controller, gate):
    assert plan_of(provider, controller).gate == gate


@pytest.mark.parametrize(
    ("provider", "controller", "argv"),
    [
        ("codex", "subprocess", ("-c", 'projects={"{}"={trust_level="trusted"}}')),
        ("codex", "acp", None),
        ("muse", "terminal", ("--trust-workspace",)),
        ("pi", "terminal", ("--approve",)),
        ("pi", "acp", None),
    ],
)
def test_an_adapter_takes_no_argument_of_the_cli_behind_it(provider, controller, argv):
    slots = [item.present for item in plan_of(provider, controller).argv if isinstance(item, Slot)]

    assert ([present for present in slots if present == argv] == [argv]) == (argv is not None)
    assert argv is not None or all("trust" not in word and word != "--approve" for words in slots for word in words)


def test_what_a_cli_must_find_moves_with_its_folder():
    entry = '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'
    lacks = "a kind of login in its settings, which it takes no other endpoint without"

    assert plan_of("gemini", "acp").needs == (
        Need("GOOGLE_GEMINI_BASE_URL", UserEntry(".gemini/settings.json", entry, "~", "GEMINI_CLI_HOME"), lacks),
    )
    assert plan_of("claude", "persistent").needs == ()
