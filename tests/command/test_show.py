import json
import re
from itertools import pairwise

import pytest

from agentmux.cli import main
from agentmux_compiler.prefix.prices import price

SPEC = """\
display: Code Reviewer
providers:
  claude: {model: opus, effort: high}
  codex: {effort: medium}
permission: plan
env: {LOG_LEVEL: info, ISSUES_TOKEN: "${ISSUES_TOKEN}"}
soul: You are calm.
bundles: [house-style]
"""


@pytest.fixture
def show(tmp_path, capsys, monkeypatch):
    for path, text in {
        "agents.d/reviewer.yaml": SPEC,
        "agents.d/base.yaml": "abstract: true\nproviders: {claude: {}}\n",
        "bundles/house-style.md": "Be brief.\n",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("ISSUES_TOKEN", "the-value-of-a-secret")

    def run(*arguments):
        code = main(["show", *arguments])
        return (code, *capsys.readouterr())

    return run


def argv(show, *arguments):
    return json.loads(show("reviewer", "--format", "json", *arguments)[1])["argv"]


def after(values, option):
    return values[values.index(option) + 1]


def test_the_command_line_by_itself(show):
    code, out, err = show("reviewer", "--argv")
    assert (code, err) == (0, "")
    assert out.startswith("claude ")
    assert "--model opus --effort high" in out
    assert out.count("\n") == 1


def test_what_a_launch_would_override(show):
    asked = argv(show, "--model", "sonnet", "--effort", "low", "--permission", "edit", "--resume", "0123")
    assert (after(asked, "--model"), after(asked, "--effort"), after(asked, "--resume")) == ("sonnet", "low", "0123")
    assert after(asked, "--permission-mode") == "acceptEdits"
    assert after(argv(show), "--permission-mode") == "plan"
    assert "--resume" not in argv(show)


def test_a_prompt_is_counted_for_people_and_exact_for_programs(show):
    out = show("reviewer", "--provider", "codex", "--argv", "--prompt", "say it's done")[1]
    assert "say it" not in out
    assert argv(show, "--provider", "codex", "--prompt", "say it's done")[-1] in {"say it's done", "-"}


def test_a_value_the_provider_refuses(show):
    code, out, err = show("reviewer", "--effort", "hgih")
    assert (code, out) == (2, "")
    assert err.startswith("error[AMX404]: `--effort hgih`: `claude` does not take the effort `hgih`\n")
    assert "= help: did you mean `high`?\n" in err


def test_the_environment_names_a_secret_and_never_shows_it(show):
    code, out, err = show("reviewer", "--env")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert [line for line in lines if line.startswith("set")] == [
        "set    AGENTMUX_AGENT_ID=reviewer",
        "set    LOG_LEVEL=info",
    ]
    assert "pass   ISSUES_TOKEN" in lines
    assert "the-value-of-a-secret" not in out + show("reviewer", "--format", "json")[1] + show("reviewer")[1]


def test_the_files(show):
    assert show("reviewer", "--files") == (0, ".agentmux/agents/reviewer/claude/instructions.md\n", "")


def test_the_prompt_in_the_order_the_backend_sees_it(show):
    code, out, err = show("reviewer", "--prefix")
    heads, *rows, total = out.splitlines()
    assert (code, err) == (0, "")
    assert heads.split() == ["LAYER", "SEGMENT", "FROM", "BYTES", "TOKENS", "STABILITY"]
    assert total.split()[0] == "total"
    ours = [row.split()[:4] for row in rows if row.split()[0] == "instructions" and "the CLI's own" not in row]
    assert ours == [
        ["instructions", "agents/reviewer/soul.md", "agents.d/reviewer.yaml:7", "14"],
        ["instructions", "bundles/house-style.md", "bundles/house-style.md:1", "10"],
    ]


def test_json_holds_everything(show):
    code, out, err = show("reviewer", "--format", "json")
    value = json.loads(out)
    assert (code, err) == (0, "")
    assert {key: value[key] for key in ("agent", "provider", "cwd", "display", "model", "effort", "permission")} == {
        "agent": "reviewer",
        "provider": "claude",
        "cwd": ".",
        "display": "Code Reviewer",
        "model": "opus",
        "effort": "high",
        "permission": "plan",
    }
    assert sorted(value["env"]) == ["pass", "renamed", "set", "unset"]
    soul = next(item for item in value["segments"] if item["name"] == "agents/reviewer/soul.md")
    assert {**soul, "tokens": 0} == {
        "layer": "instructions",
        "name": "agents/reviewer/soul.md",
        "path": "agents.d/reviewer.yaml",
        "line": 7,
        "bytes": 14,
        "tokens": 0,
        "stability": "stable",
        "varies_with": [],
    }


def test_the_whole_for_people_has_its_parts_in_order(show):
    code, out, err = show("reviewer", "--provider", "codex")
    assert (code, err.count("\n"), err[:6]) == (0, 1, "note: ")
    assert out.startswith(
        "Code Reviewer (reviewer) on codex\n  model         the CLI's default\n  effort        medium\n"
    )
    headings = [line for line in out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    prompt = "prompt (`--prefix` lists every part of the CLI's own):"
    assert headings == ["command line:", "environment:", "files:", prompt]


def figures(row):
    """Bytes and tokens of a row."""
    return [int(word.lstrip("~").replace(",", "")) for word in re.findall(r"(?<= )~?[\d,]+(?= |$)", row)[:2]]


@pytest.mark.parametrize("provider", ["claude", "codex"])
def test_neighbours_of_the_cli_are_one_row_of_the_whole_and_add_up_to_the_same(show, provider):
    whole = show("reviewer", "--provider", provider)[1].partition("prompt (")[2].splitlines()[2:]
    every = show("reviewer", "--provider", provider, "--prefix")[1].splitlines()[1:]
    parts = re.findall(r"/(\d+) parts ", "\n".join(whole))
    single = [row for row in whole if " parts " not in row]

    assert whole[-1].split() == every[-1].split()
    assert sum(map(int, parts)) + len(single) == len(every)
    assert {tuple(row.split()) for row in single} <= {tuple(row.split()) for row in every}
    assert not any(" parts " in one and " parts " in next_one for one, next_one in pairwise(whole))
    assert [sum(column) for column in zip(*map(figures, whole[:-1]), strict=True)] == figures(whole[-1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["reviewr"],
            "no agent `reviewr`\n  = help: did you mean `reviewer`?\n  = note: there are `base`, `reviewer`\n",
        ),
        (["base"], "`base` is abstract: only agents that extend it are built\n"),
        (
            ["reviewer", "--provider", "gemini"],
            "`reviewer` does not run on `gemini`\n  = note: it runs on `claude`, `codex`\n",
        ),
    ],
)
def test_what_cannot_be_shown(show, arguments, message):
    assert show(*arguments) == (2, "", f"error: {message}")


def test_errors_of_the_project_are_said_beside_it(show, tmp_path):
    (tmp_path / "agents.d/broken.yaml").write_bytes(b"a: [\n")
    code, out, err = show("reviewer", "--files")
    assert (code, out) == (1, ".agentmux/agents/reviewer/claude/instructions.md\n")
    assert err.startswith("error[AMX101]: ")
    assert show("broken")[:2] == (1, "")


def test_the_count_of_a_prompt_in_the_command_line_is_told_of(show):
    assert show("reviewer", "--argv", "--prompt", "hi")[2] == (
        "note: a count stands for the prompt; `--format json` has the exact arguments\n"
    )


def test_the_text_of_a_file_in_the_command_line_is_told_of(show, tmp_path):
    spec = "providers: {codex: {}}\ndelivery: flag\ninstructions: Be brief.\n"
    (tmp_path / "agents.d/other.yaml").write_bytes(spec.encode())
    file = ".agentmux/agents/other/codex/instructions.md"
    code, out, err = show("other", "--argv")
    assert (code, out.count("\n")) == (0, 1)
    assert f"<{file}>" in out
    assert err == f"note: `<{file}>` stands for the text of that file; `--format json` has the exact arguments\n"
    assert show("other", "--argv", "--format", "json")[2] == ""


@pytest.mark.parametrize(("option", "value"), [("effort", "foo"), ("model", "gemini-x")])
def test_an_override_is_blamed_on_the_option(show, option, value):
    code, _, err = show("reviewer", "--provider", "codex", f"--{option}", value)
    assert code == 2
    assert f"error[AMX404]: `--{option} {value}`: `codex` does not take the {option} `{value}`\n" in err
    assert "-->" not in err


LONG = "Say what you know, and nothing besides it.\n" * 200


def cost_of(show, *arguments):
    return json.loads(show("reviewer", "--cost", "--format", "json", *arguments)[1])["cost"]


def test_a_text_by_file_is_written_anew_in_every_session_and_by_flag_once(show, tmp_path):
    (tmp_path / "bundles/house-style.md").write_text(LONG, encoding="utf-8")
    spec = tmp_path / "agents.d/reviewer.yaml"
    by_flag = cost_of(show)
    spec.write_text(f"{SPEC}delivery: file\n", encoding="utf-8")
    by_file = cost_of(show)
    flag, file = ({item["name"]: item for item in cost["segments"]} for cost in (by_flag, by_file))
    name = "bundles/house-style.md"
    assert flag[name]["tokens"] == flag[name]["served_new_prompt"] == file[name]["tokens"] > 1_000
    assert file[name]["served_new_prompt"] == 0
    assert file[name]["usd_next"] == file[name]["usd_first"] == flag[name]["usd_first"] > flag[name]["usd_next"] > 0
    assert by_file["usd_next"] > by_flag["usd_next"]
    assert (by_flag["turns"], by_flag["ttl"], by_flag["backend"]) == (20, "5m", "anthropic")


def test_what_a_turn_costs_is_a_write_once_and_reads_afterwards(show):
    one, many = cost_of(show, "--turns", "1"), cost_of(show, "--turns", "11")
    rate = price("anthropic", one["model"]).rates[0].read / 1_000_000
    assert many["usd_first"] - one["usd_first"] == pytest.approx(10 * one["tokens"] * rate, rel=0.01)


def test_a_prefix_below_the_minimum_is_paid_whole_in_every_turn(show, tmp_path):
    spec = "providers: {claude: {model: claude-haiku-4-5, flags: [--bare]}}\nsoul: Be calm.\n"
    (tmp_path / "agents.d/reviewer.yaml").write_text(spec, encoding="utf-8")
    cost = cost_of(show, "--turns", "3")
    assert (cost["below_minimum"], cost["minimum"]) == (True, 4096)
    assert cost["usd_first"] == pytest.approx(cost["tokens"] * 3 * 1.0 / 1_000_000, rel=0.01)
    _, out, _ = show("reviewer", "--cost")
    assert "`anthropic` caches nothing below 4,096 tokens: all of it is paid in every turn." in out


def test_the_standing_price_for_people(show):
    code, out, err = show("reviewer", "--cost", "--turns", "5")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == [
        "SEGMENT",
        "FROM",
        "TOKENS",
        "SERVED",
        "NEXT",
        "FIRST",
        "SESSION",
        "EVERY",
        "NEXT",
        "ONE",
    ]
    assert (
        "A session of 5 turns pays for a text when it is stored, and a little every time it is read afterwards." in out
    )


def test_turns_are_a_number(show):
    code, out, err = show("reviewer", "--cost", "--turns", "many")
    assert (code, out) == (2, "")
    assert "`--turns` takes a number of turns, not `many`" in err
