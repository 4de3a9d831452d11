"""What only some CLIs do: take text by a variable, drop skills, go without servers, read a neighbour's file."""

from __future__ import annotations

import pytest

from agentmux_compiler.lower import lower
from agentmux_compiler.resolve import resolve
from agentmux_compiler.spec import load
from agentmux_compiler.tree import MemoryTree
from agentmux_launcher.manifest import SessionServer

SERVERS = 'mcp: {forks: {command: forks-mcp}, knives: {url: "https://knives.example/mcp"}}\n'


def lowered(providers, rest="instructions: Count the spoons.\n", files=()):
    tree = MemoryTree({"agents.d/worker.yaml": f"providers: {providers}\n{rest}".encode(), **dict(files)})
    specs, first = load(tree)
    project, second = resolve(specs, tree)
    plans, third = lower(project, tree)
    assert [*first, *second] == []
    return plans, [(item.code, item.message, item.help) for item in third]


@pytest.mark.parametrize(
    ("provider", "name", "file", "value"),
    [
        (
            "copilot",
            "COPILOT_CUSTOM_INSTRUCTIONS_DIRS",
            ".github/instructions/agentmux.instructions.md",
            "../.agentmux/agents/worker/copilot",
        ),
        (
            "kilo",
            "KILO_CONFIG_CONTENT",
            "instructions.md",
            '{"instructions":["../.agentmux/agents/worker/kilo/instructions.md"]}',
        ),
        (
            "opencode",
            "OPENCODE_CONFIG_CONTENT",
            "instructions.md",
            '{"instructions":["../.agentmux/agents/worker/opencode/instructions.md"]}',
        ),
    ],
)
def test_a_variable_leads_to_the_text_as_seen_from_where_the_cli_runs(provider, name, file, value):
    (plan,), said = lowered(f"{{{provider}: {{}}}}", "workdir: api\ninstructions: Count the spoons.\n")

    assert said == []
    assert {each.path: each.content for each in plan.files} == {
        f".agentmux/agents/worker/{provider}/{file}": b"Count the spoons.\n"
    }
    assert plan.plan.env.set[name] == value


def test_copilot_lists_no_skill_with_a_long_description():
    skill = f"---\nname: tidy\ndescription: {'y' * 1_025}\n---\nPut things back.\n".encode()
    (plan,), said = lowered("{copilot: {}}", "skills: [tidy]\n", {"skills/tidy/SKILL.md": skill}.items())

    message = "`copilot` drops a skill whose description goes on after 1,024 characters; it has 1,025"
    assert [text for code, text, _ in said if code == "AMX411"] == [message]
    assert [item for item in plan.prefix.segments if item.text and "yyy" in item.text] == []


def test_an_agent_gives_its_servers_to_some_of_its_providers():
    plans, said = lowered("{claude: {}, opencode: {}, pi: {permission: bypass, mcp: false}}", SERVERS)
    claude, opencode, pi = (each.plan for each in plans)

    assert said == []
    assert [each.path for each in plans[0].files] == [".agentmux/agents/worker/claude/mcp.json"]
    assert opencode.mcp_servers == (
        SessionServer("forks", "forks-mcp", (), {}, None, {}),
        SessionServer("knives", None, (), {}, "https://knives.example/mcp", {}),
    )
    assert (pi.mcp_servers, plans[2].files) == ((), ())
    assert claude.mcp_servers == ()


def test_a_cli_without_a_way_to_servers_is_offered_to_go_without():
    help_line = "write `mcp: false` under `providers.aider`, and it goes without servers"
    said = lowered("{aider: {permission: edit}}", SERVERS)[1]

    assert said == [
        ("AMX401", "`aider` cannot be given the MCP server `forks`, which speaks stdio", help_line),
        ("AMX401", "`aider` cannot be given the MCP server `knives`, which speaks http", help_line),
    ]


def test_an_agent_whose_text_is_in_a_file_for_another_of_its_providers_has_it_twice():
    _, said = lowered("{opencode: {}, crush: {}, claude: {}, cline: {}}")

    twice = "`agents/worker/instructions.md` reaches `worker/opencode`, `worker/claude` twice"
    ways = (
        "write `delivery: file` for `worker/opencode`",
        "leave it to one of the two",
        "let the agents run in another `workdir`",
    )
    assert said == [("AMX416", f"{twice}: their CLIs read `AGENTS.md` besides", ", or ".join(ways))]
