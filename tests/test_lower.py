from __future__ import annotations

import json
import posixpath

import pytest

from agentmux_compiler.lower import lower
from agentmux_compiler.resolve import resolve
from agentmux_compiler.spec import load
from agentmux_compiler.tree import MemoryTree
from agentmux_compiler.writing.header import HEADER
from agentmux_launcher.arguments import expand, shown
from agentmux_launcher.manifest import Environment, LineRun

STYLE = {"bundles/style.md": "Write short sentences.\n"}
SKILL = {
    "skills/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidy up after a change\n---\nPut things back.\n",
    "skills/tidy/run.sh": "#!/bin/sh\r\necho tidy\r\n",
}
ALL = "providers: {claude: {}, codex: {}, gemini: {}}\n"


class Lowering:
    """Plans of a project that is given as texts, and what was said about them."""

    def __init__(self, files):
        tree = MemoryTree({path: text.encode() for path, text in files.items()})
        specs, found = load(tree)
        project, more = resolve(specs, tree)
        plans, last = lower(project, tree)
        self.plans = {plan.prefix.key: plan for plan in plans}
        self.said = [(item.code, item.span.path, item.span.line, item.message) for item in last]
        self.codes = [item.code for item in last]
        self.earlier = [item.code for item in (*found, *more)]

    def outputs(self):
        return {file.path: file for plan in self.plans.values() for file in plan.files}

    def text(self, path):
        return self.outputs()[path].content.decode()

    def argv(self, key):
        return shown(self.plans[key].plan.argv, {})

    def prefix(self, key):
        """Names of the segments we know the text of, in order."""
        return [item.name for item in self.plans[key].prefix.segments if not item.opaque]


def lowered(**files):
    return Lowering(files)


def project(spec, **more):
    return Lowering({"agents.d/reviewer.yaml": spec, **STYLE, **more.pop("files", {}), **more})


def after(argv, flag):
    return argv[argv.index(flag) + 1]


FLAG = project(ALL + "delivery: flag\nsoul: Be calm.\nbundles: [style]\n")


def test_by_flag_the_text_lies_in_the_plans_own_folder():
    own = ".agentmux/agents/reviewer"

    assert {path: file.committed for path, file in FLAG.outputs().items()} == {
        f"{own}/claude/instructions.md": False,
        f"{own}/codex/instructions.md": False,
        f"{own}/gemini/GEMINI.md": False,
    }
    assert {file.content for file in FLAG.outputs().values()} == {b"Be calm.\n\nWrite short sentences.\n"}
    assert after(FLAG.argv("reviewer/claude"), "--append-system-prompt-file") == f"{own}/claude/instructions.md"
    assert after(FLAG.argv("reviewer/codex"), "-c") == f"developer_instructions=<{own}/codex/instructions.md>"
    assert after(FLAG.argv("reviewer/gemini"), "--include-directories") == f"{own}/gemini"
    assert FLAG.codes == []


def test_by_flag_codex_gets_the_text_as_one_literal():
    argv = expand(FLAG.plans["reviewer/codex"].plan.argv, FLAG.text, {})

    assert after(argv, "-c") == 'developer_instructions="Be calm.\\n\\nWrite short sentences.\\n"'


def test_by_flag_the_text_stands_where_each_backend_sees_it():
    segments = {key: list(plan.prefix.segments) for key, plan in FLAG.plans.items()}
    names = {key: [item.name for item in items] for key, items in segments.items()}

    claude = names["reviewer/claude"]
    start = claude.index("agents/reviewer/soul.md")
    assert claude[start - 2 : start + 3] == [
        "claude 2.1.332/models of the vendor",
        "claude 2.1.332/model notes",
        "agents/reviewer/soul.md",
        "bundles/style.md",
        "claude 2.1.332/end of system",
    ]
    assert FLAG.prefix("reviewer/codex") == ["agents/reviewer/soul.md", "bundles/style.md"]
    gemini = names["reviewer/gemini"]
    assert gemini[gemini.index("agents/reviewer/soul.md") - 1] == (
        "gemini 0.61.0/heading of .agentmux/agents/reviewer/gemini/GEMINI.md"
    )
    assert {item.file for items in segments.values() for item in items} == {""}


FILE = project(ALL + "delivery: file\nsoul: Be calm.\nbundles: [style]\n")


def test_as_a_file_the_text_stands_in_the_working_directory():
    text = f"{HEADER}\n\nBe calm.\n\nWrite short sentences.\n"

    assert {path: (file.committed, file.content.decode()) for path, file in FILE.outputs().items()} == {
        "CLAUDE.md": (True, text),
        "AGENTS.md": (True, text),
        "GEMINI.md": (True, text),
    }
    assert FILE.outputs()["AGENTS.md"].lines == (
        LineRun(3, 1, "agents/reviewer/soul.md", "agents.d/reviewer.yaml", 3),
        LineRun(5, 1, "bundles/style.md", "bundles/style.md", 1),
    )
    assert FILE.plans["reviewer/claude"].plan.cwd == "."


def test_a_header_is_no_part_of_what_claude_sees():
    assert FILE.prefix("reviewer/claude") == ["agents/reviewer/soul.md", "bundles/style.md"]
    assert FILE.prefix("reviewer/codex") == ["header.md", "agents/reviewer/soul.md", "bundles/style.md"]
    own = [item for item in FILE.plans["reviewer/codex"].prefix.segments if not item.opaque]
    assert {item.file for item in own} == {"AGENTS.md"}


def test_a_project_may_leave_the_header_out():
    made = project(
        "providers: {codex: {}}\ndelivery: file\nbundles: [style]\n", **{"agents.d/_project.yaml": "header: false\n"}
    )

    assert made.text("AGENTS.md") == "Write short sentences.\n"


FOLDER = project(ALL + "delivery: folder\nworkdir: app\nbundles: [style]\n")


@pytest.mark.parametrize(
    ("provider", "file", "add"),
    [
        ("claude", "CLAUDE.md", "--add-dir"),
        ("codex", "AGENTS.md", "--add-dir"),
        ("gemini", "GEMINI.md", "--include-directories"),
    ],
)
def test_in_a_folder_the_cli_gets_the_working_directory_besides(provider, file, add):
    plan = FOLDER.plans[f"reviewer/{provider}"].plan
    own = f".agentmux/agents/reviewer/{provider}"

    assert plan.cwd == own
    assert plan.files == (f"{own}/{file}",)
    assert FOLDER.text(f"{own}/{file}") == "Write short sentences.\n"
    added = after(FOLDER.argv(f"reviewer/{provider}"), add)
    assert posixpath.normpath(posixpath.join(own, added)) == "app"


def test_in_the_first_turn_the_text_stands_before_what_startup_says():
    made = project(ALL + "delivery: startup\nsoul: Be calm.\nbundles: [style]\nstartup: Begin.\n")

    assert made.outputs() == {}
    assert {plan.plan.startup for plan in made.plans.values()} == {"Be calm.\n\nWrite short sentences.\n\nBegin.\n"}
    for key in made.plans:
        assert made.prefix(key) == ["agents/reviewer/soul.md", "bundles/style.md", "agents/reviewer/startup.md"]


def test_an_agent_without_text_writes_nothing_and_passes_nothing():
    made = project(ALL)

    assert made.outputs() == {}
    assert [argument for key in made.plans for argument in made.argv(key) if ".agentmux" in argument] == []
    assert {plan.plan.startup for plan in made.plans.values()} == {None}


def test_the_default_delivery_is_the_flag():
    assert {plan.plan.delivery for plan in project(ALL + "bundles: [style]\n").plans.values()} == {"flag"}


def test_a_working_directory_changes_the_paths_in_arguments():
    made = project("providers: {claude: {}}\nworkdir: services/api\nbundles: [style]\n")

    assert made.plans["reviewer/claude"].plan.cwd == "services/api"
    assert after(made.argv("reviewer/claude"), "--append-system-prompt-file") == (
        "../../.agentmux/agents/reviewer/claude/instructions.md"
    )


SERVERS = ALL + (
    "bundles: [style]\n"
    "mcp:\n"
    '  zeta: {command: ./bin/zeta, args: [--stdio, "a b"], env: {TOKEN: "${TOKEN}", LEVEL: info}}\n'
    "  alpha:\n"
    '    url: "https://mcp.example/x"\n'
    '    headers: {Authorization: "Bearer ${KEY}", X-Team: "${TEAM}", X-Client: amx}\n'
)


def test_servers_reach_claude_by_a_file_of_the_plans_own():
    made = project(SERVERS)
    path = ".agentmux/agents/reviewer/claude/mcp.json"

    assert json.loads(made.text(path)) == {
        "mcpServers": {
            "alpha": {
                "type": "http",
                "url": "https://mcp.example/x",
                "headers": {"Authorization": "Bearer ${KEY}", "X-Team": "${TEAM}", "X-Client": "amx"},
            },
            "zeta": {
                "command": "./bin/zeta",
                "args": ["--stdio", "a b"],
                "env": {"TOKEN": "${TOKEN}", "LEVEL": "info"},
            },
        }
    }
    argv = made.argv("reviewer/claude")
    assert argv[argv.index("--mcp-config") :][:3] == ("--mcp-config", path, "--strict-mcp-config")
    assert made.plans["reviewer/claude"].plan.env.passed == ("KEY", "TEAM", "TOKEN")


def test_servers_reach_codex_by_arguments():
    argv = project(SERVERS).argv("reviewer/codex")
    values = [argv[index + 1] for index, item in enumerate(argv) if item == "-c" and "mcp_servers" in argv[index + 1]]

    assert values == [
        'mcp_servers.alpha.url="https://mcp.example/x"',
        'mcp_servers.alpha.bearer_token_env_var="KEY"',
        'mcp_servers.alpha.env_http_headers.X-Team="TEAM"',
        'mcp_servers.alpha.http_headers.X-Client="amx"',
        'mcp_servers.zeta.command="./bin/zeta"',
        'mcp_servers.zeta.args=["--stdio", "a b"]',
        'mcp_servers.zeta.env.LEVEL="info"',
        'mcp_servers.zeta.env_vars=["TOKEN"]',
    ]


def test_servers_reach_gemini_by_settings_that_are_merged():
    made = project(SERVERS)
    file = made.outputs()[".gemini/settings.json"]

    assert (file.merged, file.committed) == (True, True)
    assert json.loads(file.content)["mcpServers"]["zeta"] == {
        "command": "./bin/zeta",
        "args": ["--stdio", "a b"],
        "env": {"TOKEN": "${TOKEN}", "LEVEL": "info"},
        "trust": True,
    }
    assert json.loads(file.content)["mcpServers"]["alpha"]["httpUrl"] == "https://mcp.example/x"
    assert made.codes == ["AMX414"]


def test_servers_stand_in_the_prefix_by_name():
    for key, plan in project(SERVERS).plans.items():
        assert [(item.layer, item.text) for item in plan.prefix.segments if item.name.startswith("mcp/")] == [
            ("mcp", "alpha\n"),
            ("mcp", "zeta\n"),
        ], key


def test_the_order_of_servers_is_no_order():
    one, two = "mcp:\n  a: {command: a}\n  b: {command: b}\n", "mcp:\n  b: {command: b}\n  a: {command: a}\n"
    first, second = project(ALL + one), project(ALL + two)

    assert {path: file.content for path, file in first.outputs().items()} == {
        path: file.content for path, file in second.outputs().items()
    }
    assert [first.argv(key) for key in first.plans] == [second.argv(key) for key in second.plans]


def test_in_a_folder_a_servers_relative_command_still_means_the_working_directory():
    made = project(ALL + "delivery: folder\nmcp: {zeta: {command: ./bin/zeta, args: [bin/x]}, npx: {command: npx}}\n")
    servers = json.loads(made.text(".agentmux/agents/reviewer/claude/mcp.json"))["mcpServers"]

    assert servers == {"npx": {"command": "npx"}, "zeta": {"command": "../../../../bin/zeta", "args": ["bin/x"]}}


@pytest.mark.parametrize(
    "server",
    [
        '{command: x, env: {TOKEN: "${OTHER}"}}',
        '{command: x, env: {TOKEN: "Bearer ${TOKEN}"}}',
        '{command: x, args: ["${TOKEN}"]}',
        '{command: "${TOKEN}"}',
        '{url: "https://x.example/${TOKEN}"}',
        '{url: "https://x.example", headers: {X-Key: "Key ${TOKEN}"}}',
    ],
)
def test_a_secret_that_codex_cannot_pass_on_is_an_error(server):
    made = project(f"providers: {{claude: {{}}, codex: {{}}}}\nmcp:\n  issues: {server}\n")

    assert [(code, path, line) for code, path, line, _ in made.said] == [("AMX407", "agents.d/reviewer.yaml", 3)]
    assert "mcp_servers" not in "".join(made.argv("reviewer/codex"))


def test_no_value_of_a_variable_is_anywhere():
    made = project(SERVERS + 'env: {A: "${A}", B: "${C}"}\n')

    env = made.plans["reviewer/claude"].plan.env
    assert env == Environment(
        set={"AGENTMUX_AGENT_ID": "reviewer"},
        passed=("A", "KEY", "TEAM", "TOKEN"),
        unset=("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"),
        renamed={"B": "C"},
    )
    assert made.plans["reviewer/claude"].prefix.env == ("A", "AGENTMUX_AGENT_ID", "B", "KEY", "TEAM", "TOKEN")


def test_a_variable_in_the_midst_of_a_value_is_an_error():
    made = project('providers: {codex: {}}\nenv: {URL: "https://${HOST}/"}\n')

    assert made.codes == ["AMX407"]


def test_a_spec_may_set_what_the_provider_sets_or_removes():
    made = project("providers: {claude: {}, gemini: {}}\nenv: {CLAUDECODE: x, GEMINI_CLI_NO_RELAUNCH: 'false'}\n")

    assert "CLAUDECODE" not in made.plans["reviewer/claude"].plan.env.unset
    assert made.plans["reviewer/gemini"].plan.env.set["GEMINI_CLI_NO_RELAUNCH"] == "false"


URL = "http://127.0.0.1:8000/v1"


def test_another_endpoint_is_a_variable_or_arguments():
    made = project(
        f'providers:\n  claude: {{base_url: "{URL}", api_key_env: LOCAL_KEY, backend: vllm}}\n'
        f'  codex: {{base_url: "{URL}", api_key_env: LOCAL_KEY}}\n'
        f'  gemini: {{base_url: "{URL}", api_key_env: GEMINI_API_KEY}}\n'
    )

    claude, codex, gemini = (made.plans[f"reviewer/{name}"] for name in ("claude", "codex", "gemini"))
    assert (claude.plan.env.set["ANTHROPIC_BASE_URL"], claude.plan.env.set["CLAUDE_CODE_ATTRIBUTION_HEADER"]) == (
        URL,
        "0",
    )
    assert claude.plan.env.renamed == {"ANTHROPIC_API_KEY": "LOCAL_KEY"}
    assert (claude.prefix.vendor, claude.prefix.backend) == ("custom", "vllm")
    assert "claude 2.1.332/attribution" not in [item.name for item in claude.prefix.segments]
    assert f'model_providers.agentmux.base_url="{URL}"' in made.argv("reviewer/codex")
    assert 'model_providers.agentmux.env_key="LOCAL_KEY"' in made.argv("reviewer/codex")
    assert codex.plan.env.passed == ("LOCAL_KEY",)
    assert gemini.plan.env.passed == ("GEMINI_API_KEY",)
    assert made.codes == []


def test_a_key_may_come_from_another_variable():
    made = project("providers: {claude: {api_key_env: WORK_KEY}, codex: {api_key_env: CODEX_API_KEY}}\n")

    assert made.plans["reviewer/claude"].plan.env.renamed == {"ANTHROPIC_API_KEY": "WORK_KEY"}
    assert made.plans["reviewer/codex"].plan.env.passed == ("CODEX_API_KEY",)


@pytest.mark.parametrize(
    ("delivery", "claude", "others"),
    [
        ("flag", ".agentmux/agents/reviewer/claude/.claude/skills/tidy", ".agents/skills/tidy"),
        ("file", ".claude/skills/tidy", ".agents/skills/tidy"),
        ("startup", ".agentmux/agents/reviewer/claude/.claude/skills/tidy", ".agents/skills/tidy"),
    ],
)
def test_skills_are_copied_where_each_cli_reads_them(delivery, claude, others):
    made = project(ALL + f"delivery: {delivery}\nskills: [tidy]\n", files=SKILL)

    assert sorted(made.outputs()) == sorted(
        f"{folder}/{name}" for folder in (claude, others) for name in ("SKILL.md", "run.sh")
    )
    assert made.text(f"{others}/run.sh") == SKILL["skills/tidy/run.sh"]
    assert made.outputs()[f"{others}/SKILL.md"].owners == ("reviewer/codex", "reviewer/gemini")
    private = delivery != "file"
    assert (".agentmux/agents/reviewer/claude" in made.argv("reviewer/claude")) == private


def test_in_a_folder_skills_are_the_plans_own():
    made = project(ALL + "delivery: folder\nskills: [tidy]\n", files=SKILL)
    own = ".agentmux/agents/reviewer"

    assert sorted(path for path in made.outputs() if path.endswith("SKILL.md")) == [
        f"{own}/claude/.claude/skills/tidy/SKILL.md",
        f"{own}/codex/.agents/skills/tidy/SKILL.md",
        f"{own}/gemini/.agents/skills/tidy/SKILL.md",
    ]


def test_a_skill_loses_its_byte_order_mark_and_crlf():
    text = SKILL["skills/tidy/SKILL.md"]
    made = project(
        "providers: {codex: {}}\nskills: [tidy]\n",
        files={"skills/tidy/SKILL.md": "\ufeff" + text.replace("\n", "\r\n")},
    )

    assert made.text(".agents/skills/tidy/SKILL.md") == text


def test_skills_that_lie_where_a_cli_reads_them_stay_there():
    files = {path.replace("skills/", ".agents/skills/", 1): text for path, text in SKILL.items()}
    made = project(
        "providers: {codex: {}}\nskills: [tidy]\n",
        files={**files, "agents.d/_project.yaml": "paths: {skills: .agents/skills}\n"},
    )

    assert made.outputs() == {}
    assert made.prefix("reviewer/codex") == ["skills/tidy@reviewer+codex.md"]


GEMINI_ROW = (
    "  <skill>\n    <name>tidy</name>\n    <description>Tidy up after a change</description>\n"
    "    <location>.agents/skills/tidy/SKILL.md</location>\n  </skill>\n"
)


def test_each_cli_lists_a_skill_in_its_own_way():
    made = project(ALL + "delivery: file\nskills: [tidy]\n", files=SKILL)
    rows = {
        key: [item for item in plan.prefix.segments if item.name.startswith("skills/")]
        for key, plan in made.plans.items()
    }

    assert {key: [(item.name, item.text) for item in items] for key, items in rows.items()} == {
        "reviewer/claude": [("skills/tidy+claude.md", "- tidy: Tidy up after a change\n")],
        "reviewer/codex": [
            ("skills/tidy@reviewer+codex.md", "- tidy: Tidy up after a change (file: r1/tidy/SKILL.md)\n")
        ],
        "reviewer/gemini": [
            (
                "skills/tidy@reviewer+gemini.md",
                GEMINI_ROW,
            )
        ],
    }
    assert rows["reviewer/claude"][0].body.lines == (3,)


def skills(*names):
    return {
        f"skills/{name}/SKILL.md": f"---\nname: {name}\ndescription: The skill {name}\n---\nText.\n" for name in names
    }


def listed(made, key):
    return [
        item.name.partition("@")[0].partition("+")[0]
        for item in made.plans[key].prefix.segments
        if "skills/" in item.name
    ]


def test_skills_are_listed_in_the_order_of_each_cli():
    made = project(ALL + "delivery: file\nskills: [beta, alpha, gamma]\n", files=skills("alpha", "beta", "gamma"))
    rising = ["skills/alpha", "skills/beta", "skills/gamma"]

    assert {key: listed(made, key) for key in made.plans} == {
        "reviewer/claude": rising,
        "reviewer/codex": rising,
        "reviewer/gemini": rising[::-1],
    }


def test_a_cli_lists_what_others_put_where_it_looks():
    made = lowered(
        **skills("common", "own"),
        **{
            "agents.d/main.yaml": ALL + "delivery: file\nskills: [common]\n",
            "agents.d/reviewer.yaml": ALL + "delivery: folder\nskills: [common, own]\n",
        },
    )

    assert listed(made, "main/codex") == ["skills/common"]
    # Codex shows a skill of one name from each folder, the deeper first; Claude shows it once.
    assert listed(made, "reviewer/codex") == ["skills/common", "skills/common-again", "skills/own"]
    assert listed(made, "reviewer/claude") == ["skills/common", "skills/own"]
    assert listed(made, "reviewer/gemini") == ["skills/own", "skills/common"]
    texts = [item.text for item in made.plans["reviewer/codex"].prefix.segments if "skills/" in item.name]
    assert [
        text[text.index("r") :][:2] if "file" not in text else text[text.index("file: ") + 6 :][:2] for text in texts
    ] == [
        "r2",
        "r1",
        "r2",
    ]
    assert made.codes == []


def test_a_skill_that_others_see_without_listing_it_is_said():
    made = lowered(
        **SKILL,
        **{
            "agents.d/reviewer.yaml": ALL + "skills: [tidy]\n",
            "agents.d/writer.yaml": ALL,
            "agents.d/elsewhere.yaml": ALL + "workdir: app\n",
        },
    )

    assert made.said == [
        (
            "AMX405",
            "agents.d/reviewer.yaml",
            2,
            "`tidy` lies in `.agents/skills`, where `elsewhere`, `writer` will see it too",
        )
    ]


def test_a_skill_of_the_repositorys_main_agent_is_meant_for_all():
    made = lowered(
        **SKILL,
        **{
            "agents.d/main.yaml": ALL + "delivery: file\nskills: [tidy]\n",
            "agents.d/reviewer.yaml": ALL + "skills: [tidy]\n",
            "agents.d/writer.yaml": ALL,
        },
    )

    assert made.codes == []


def test_a_long_description_is_cut_as_the_cli_cuts_it():
    description = "x" * 1100
    files = {"skills/tidy/SKILL.md": f"---\nname: tidy\ndescription: {description}\n---\nText.\n"}
    made = project(ALL + "delivery: file\nskills: [tidy]\n", files=files)

    assert made.said == [
        ("AMX411", "skills/tidy/SKILL.md", 3, "`codex` cuts this description after 1,024 characters; it has 1,100")
    ]
    row = next(item.text for item in made.plans["reviewer/codex"].prefix.segments if "skills/" in item.name)
    assert row == f"- tidy: {'x' * 1021}... (file: r1/tidy/SKILL.md)\n"


def test_two_plans_that_want_one_path_are_in_conflict():
    made = lowered(
        **{
            "agents.d/a.yaml": "providers: {claude: {}}\ndelivery: file\nsoul: One.\n",
            "agents.d/b.yaml": "providers: {claude: {}}\ndelivery: file\nsoul: Two.\n",
            "agents.d/c.yaml": "providers: {claude: {}}\ndelivery: file\nsoul: Two.\nworkdir: app\n",
        }
    )

    assert made.said == [("AMX402", "agents.d/b.yaml", 1, "`a/claude`, `b/claude` want different bytes in `CLAUDE.md`")]


def test_two_plans_that_want_the_same_bytes_own_one_file():
    both = "providers: {claude: {}}\ndelivery: file\nbundles: [style]\n"
    made = lowered(**STYLE, **{"agents.d/a.yaml": both, "agents.d/b.yaml": both})

    assert made.codes == []
    assert [plan.files[0].owners for plan in made.plans.values()] == [("a/claude", "b/claude")] * 2


def test_two_agents_with_other_servers_cannot_share_settings():
    made = lowered(
        **{
            "agents.d/a.yaml": "providers: {gemini: {permission: bypass}}\nmcp: {x: {command: x}}\n",
            "agents.d/b.yaml": "providers: {gemini: {permission: bypass}}\nmcp: {y: {command: y}}\n",
            "agents.d/c.yaml": "providers: {gemini: {}}\ndelivery: folder\n",
        }
    )

    assert [(code, path) for code, path, _, _ in made.said] == [
        ("AMX402", "agents.d/b.yaml"),
        ("AMX415", "agents.d/a.yaml"),
        ("AMX415", "agents.d/b.yaml"),
    ]


VOLATILE = {"bundles/today.md": "Calm.\n\nToday is {{DATE}}.\n"}


def test_a_value_that_changes_by_itself_cannot_be_committed():
    made = project(ALL + "delivery: file\nbundles: [today]\n", files=VOLATILE)

    assert made.said == [
        ("AMX302", "bundles/today.md", 3, "`{{DATE}}` changes by itself, and so would a committed file")
    ]


@pytest.mark.parametrize("delivery", ["flag", "folder", "startup"])
def test_a_value_that_changes_by_itself_is_priced_elsewhere(delivery):
    made = project(ALL + f"delivery: {delivery}\nbundles: [today]\n", files=VOLATILE)

    assert made.codes == ["AMX303"]
    for plan in made.plans.values():
        assert [file.volatile for file in plan.files] == [("DATE",)] * len(plan.files)
        assert [item.volatile for item in plan.prefix.segments if not item.opaque] == [("DATE",)]
        assert [item.text for item in plan.prefix.segments if not item.opaque] == [VOLATILE["bundles/today.md"]]


def long_line(count):
    return "".join(f"{number:07}.\n" for number in range(count))  # 9 bytes a line


def test_instructions_that_codex_would_cut_are_an_error():
    made = project(
        "providers: {codex: {}, claude: {}}\ndelivery: file\nworkdir: app\nbundles: [long]\n",
        files={"AGENTS.md": long_line(1000), "bundles/long.md": long_line(3000)},
    )
    head = len(f"{HEADER}\n\n")
    total = 9_000 + 27_000 + head
    line = (32_768 - 9_000 - head) // 9 + 1

    assert made.said[1] == (
        "AMX403",
        "bundles/long.md",
        line,
        f"`codex` reads 32,768 bytes of instructions, and there are {total:,} in `AGENTS.md`, `app/AGENTS.md`",
    )
    assert made.codes == ["AMX412", "AMX403"]


def test_instructions_that_just_fit_are_no_error():
    room = 32_768 - len(f"{HEADER}\n\n")
    text = long_line(room // 9) + "x" * (room % 9 - 1) + "\n"
    made = project("providers: {codex: {}}\ndelivery: file\nbundles: [long]\n", files={"bundles/long.md": text})

    assert len(made.text("AGENTS.md")) == 32_768
    assert made.codes == []


def test_a_text_that_no_argument_holds_is_an_error():
    made = project(ALL + "bundles: [long]\n", files={"bundles/long.md": long_line(14_000)})

    assert made.said == [
        (
            "AMX403",
            "agents.d/reviewer.yaml",
            1,
            "the instructions make an argument of 140,025 bytes, and one for `codex` holds 131,000",
        )
    ]


def test_files_that_somebody_wrote_are_part_of_the_prefix():
    made = project(
        ALL + "workdir: app\nbundles: [style]\n",
        files={
            "CLAUDE.md": "Root.\r\n",
            "app/CLAUDE.md": "App.\n",
            "app/CLAUDE.local.md": "Mine.\n",
            "AGENTS.md": "Agents.\n",
        },
    )

    assert made.prefix("reviewer/claude") == ["bundles/style.md", "native/CLAUDE.md", "native/app/CLAUDE.md"]
    assert made.prefix("reviewer/codex") == ["bundles/style.md", "native/AGENTS.md"]
    assert made.prefix("reviewer/gemini") == ["bundles/style.md"]
    texts = [item.text for item in made.plans["reviewer/claude"].prefix.segments if item.name.startswith("native/")]
    assert texts == ["Root.\n", "App.\n"]
    assert [(code, path) for code, path, _, _ in made.said] == [
        ("AMX412", "CLAUDE.md"),
        ("AMX412", "app/CLAUDE.md"),
        ("AMX412", "AGENTS.md"),
    ]


def test_claude_reads_agents_md_only_without_any_claude_md():
    made = project("providers: {claude: {}, codex: {}}\ndelivery: file\nbundles: [style]\n", files={"app/x": ""})
    without = project("providers: {claude: {}}\n", files={"AGENTS.md": "Agents.\n"})
    beside = project(
        "providers: {claude: {}}\nworkdir: app\n", files={"AGENTS.md": "Agents.\n", "app/CLAUDE.md": "App.\n"}
    )

    assert made.prefix("reviewer/claude") == ["bundles/style.md"]
    assert without.prefix("reviewer/claude") == ["native/AGENTS.md"]
    assert beside.prefix("reviewer/claude") == ["native/app/CLAUDE.md"]


def test_rules_of_claude_are_read_unless_they_are_for_some_paths():
    made = project(
        "providers: {claude: {}}\n",
        files={
            ".claude/rules/b.md": "B.\n",
            ".claude/rules/a.md": "A.\n",
            ".claude/rules/some.md": "---\npaths: src/**\n---\nSome.\n",
            ".claude/rules/notes.txt": "No.\n",
        },
    )

    assert made.prefix("reviewer/claude") == ["native/.claude/rules/a.md", "native/.claude/rules/b.md"]


def test_an_output_of_an_earlier_build_is_nobodys_own_text():
    made = project("providers: {claude: {}}\n", files={"CLAUDE.md": f"{HEADER}\n\nOld.\n"})

    assert (made.prefix("reviewer/claude"), made.codes) == ([], [])


def test_agents_that_run_in_one_folder_read_its_file_too():
    made = lowered(
        **STYLE,
        **{
            "agents.d/main.yaml": "providers: {codex: {}}\ndelivery: file\nsoul: Main.\nbundles: [style]\n",
            "agents.d/reviewer.yaml": "providers: {codex: {}}\nsoul: Review.\nbundles: [style]\n",
        },
    )

    assert made.prefix("reviewer/codex") == [
        "agents/reviewer/soul.md",
        "bundles/style.md",
        "header.md",
        "agents/main/soul.md",
        "bundles/style.md",
    ]
    assert made.said == [
        (
            "AMX416",
            "agents.d/reviewer.yaml",
            3,
            "`bundles/style.md` reaches `reviewer` twice: their CLIs read `AGENTS.md` besides",
        )
    ]


def test_gemini_sorts_what_it_reads_by_path():
    made = lowered(
        **{
            "agents.d/main.yaml": "providers: {gemini: {}}\ndelivery: file\nsoul: Main.\n",
            "agents.d/reviewer.yaml": "providers: {gemini: {}}\nsoul: Review.\nworkdir: app\n",
            "app/GEMINI.md": "App.\n",
        }
    )

    assert made.prefix("reviewer/gemini") == [
        "agents/reviewer/soul.md",
        "header.md",
        "agents/main/soul.md",
        "native/app/GEMINI.md",
    ]


def test_comments_that_claude_removes_are_said_once():
    bundle = {"bundles/c.md": "Text <!-- inline -->\n\n<!-- note\nmore -->\nEnd.\n\n```html\n<!-- sample -->\n```\n"}
    made = project(ALL + "delivery: file\nbundles: [c]\n", files=bundle)
    by_flag = project(ALL + "bundles: [c]\n", files=bundle)

    assert made.said == [("AMX408", "bundles/c.md", 3, "`claude` removes this comment before the model sees it")]
    assert by_flag.codes == []


def test_a_provider_gets_another_delivery_than_it_has():
    made = project("providers: {gemini: {permission: auto}}\n")

    assert made.said == [("AMX401", "agents.d/reviewer.yaml", 1, "`gemini` cannot enforce the permission `auto`")]


def test_a_launch_plan_holds_all_that_a_launch_needs():
    made = project(
        "display: The Reviewer\nproviders: {gemini: {model: gemini-2.5-pro, delivery: startup}}\npermission: edit\n"
    )
    plan = made.plans["reviewer/gemini"].plan

    assert (plan.agent, plan.provider, plan.display, plan.executable) == (
        "reviewer",
        "gemini",
        "The Reviewer",
        "gemini",
    )
    assert (plan.controller, plan.model, plan.effort, plan.permission, plan.delivery) == (
        "subprocess",
        "gemini-2.5-pro",
        None,
        "edit",
        "startup",
    )
    assert (plan.prompt_delivery, plan.frames, plan.session_id_field, plan.cli_version) == (
        "stdin",
        "gemini-json",
        "session_id",
        "0.61.0",
    )
    assert plan.stdio == {"stdin": "pipe", "stdout": "raw-pty", "stderr": "pipe"}


def test_a_prefix_knows_where_its_fields_were_written():
    made = project("providers:\n  codex: {model: gpt-5.5, effort: high}\npermission: plan\nbundles: [style]\n")
    prefix = made.plans["reviewer/codex"].prefix

    assert {name: span.line for name, span in prefix.places.items()} == {
        "model": 2,
        "effort": 2,
        "permission": 3,
        "bundles": 4,
    }
    assert (prefix.vendor, prefix.backend, prefix.model, prefix.effort) == ("openai", "openai", "gpt-5.5", "high")


def test_the_same_name_never_stands_for_two_texts():
    listing = "bundles: [who]\nskills: [tidy]\n"
    made = lowered(
        **STYLE,
        **SKILL,
        **{
            "bundles/who.md": "{{AGENT}} on {{PROVIDER}} with {{MODEL}}.\n",
            "agents.d/a.yaml": "providers: {claude: {model: opus}, codex: {model: gpt-5.5}}\n" + listing,
            "agents.d/b.yaml": "providers: {claude: {model: sonnet}, codex: {model: gpt-5.4}}\ndelivery: folder\n"
            + listing,
        },
    )
    texts: dict[str, set[str]] = {}
    for plan in made.plans.values():
        for item in plan.prefix.segments:
            if not item.opaque:
                texts.setdefault(item.name, set()).add(item.text)

    assert {name for name, found in texts.items() if len(found) > 1} == set()
    assert "bundles/who@a+claude.md" in texts


def test_another_agent_changes_nothing_of_the_others():
    alone = {"agents.d/a.yaml": ALL + "bundles: [style]\nskills: [tidy]\n"}
    first = lowered(**STYLE, **SKILL, **alone)
    second = lowered(**STYLE, **SKILL, **alone, **{"agents.d/b.yaml": ALL + "delivery: folder\nsoul: B.\n"})

    for key, plan in first.plans.items():
        assert [file.content for file in plan.files] == [file.content for file in second.plans[key].files]
        assert plan.plan == second.plans[key].plan
        assert plan.prefix == second.plans[key].prefix
