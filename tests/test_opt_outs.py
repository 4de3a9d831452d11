"""What a project does not want its CLIs to do: how each is told, and what is said where none can be."""

from __future__ import annotations

import pytest

from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.prefix.diff import diff_all
from agentmux_compiler.providers import NAMES
from agentmux_compiler.tree import MemoryTree

ALL = "opt_out: [telemetry, updates, uploads]\n"
EACH = {
    "aider": ({}, ["--no-analytics", "--no-check-update"]),
    "antigravity": ({}, []),
    "claude": ({"DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1"}, []),
    "cline": ({}, []),
    "codex": ({}, ["-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false"]),
    "copilot": ({"COPILOT_AUTO_UPDATE": "false"}, ["--disable-client-telemetry", "--no-remote-export"]),
    "crush": ({"CRUSH_DISABLE_METRICS": "1", "CRUSH_DISABLE_PROVIDER_AUTO_UPDATE": "1"}, []),
    "dsh": ({"DSH_TELEMETRY_DISABLED": "1"}, []),
    "gemini": ({}, []),
    "goose": ({"GOOSE_TELEMETRY_OFF": "1"}, []),
    "grok": (
        {"GROK_TELEMETRY_ENABLED": "0", "GROK_DISABLE_AUTOUPDATER": "1", "GROK_TELEMETRY_TRACE_UPLOAD": "0"},
        [],
    ),
    "kilo": (
        {
            "KILO_TELEMETRY_LEVEL": "off",
            "KILO_DISABLE_AUTOUPDATE": "1",
            "KILO_DISABLE_SESSION_INGEST": "1",
            "KILO_DISABLE_SHARE": "1",
        },
        [],
    ),
    "kimi": ({"KIMI_DISABLE_TELEMETRY": "1", "KIMI_CODE_NO_AUTO_UPDATE": "1"}, []),
    "muse": ({}, []),
    "muxcode": ({}, []),
    "openclaw": ({}, []),
    "opencode": ({"OPENCODE_DISABLE_AUTOUPDATE": "1"}, []),
    "pi": ({"PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}, []),
    "qwen": ({}, []),
}


def compiled(provider, settings, use="{}", more=""):
    spec = f"providers: {{{provider}: {use}}}\npermission: bypass\ninstructions: Be brief.\n{more}"
    files = {"agents.d/a.yaml": spec.encode(), "agents.d/_project.yaml": settings.encode()}
    made = compile_project(MemoryTree(files if settings else {"agents.d/a.yaml": spec.encode()}))
    (plan,) = made.plans
    return plan, [(item.message, item.help) for item in made.diagnostics if item.code == "AMX419"]


def told(provider, settings, use="{}", more=""):
    """Variables and arguments that the settings add to a plan."""
    plain, _ = compiled(provider, "", use, more)
    plan, _ = compiled(provider, settings, use, more)
    before, added = plain.plan.argv, plan.parts.opt_outs
    start = next((place for place, item in enumerate(before) if plan.plan.argv[place] != item), len(before))
    assert plan.plan.argv == (*before[:start], *added, *before[start:])
    variables = {name: value for name, value in plan.plan.env.set.items() if name not in plain.plan.env.set}
    return variables, [item.value for item in added]


def test_every_provider_is_looked_at():
    assert set(EACH) == set(NAMES)


@pytest.mark.parametrize("provider", NAMES)
def test_each_cli_is_told_in_its_own_way(provider):
    assert told(provider, ALL) == EACH[provider]


@pytest.mark.parametrize("provider", NAMES)
def test_without_a_wish_a_plan_is_as_it_was(provider):
    plain, _ = compiled(provider, "")
    wishless, said = compiled(provider, "opt_out: []\n")

    assert (wishless.plan, wishless.prefix, said) == (plain.plan, plain.prefix, [])


def test_only_what_is_asked_for_is_turned_off():
    assert told("claude", "opt_out: [updates]\n") == ({"DISABLE_AUTOUPDATER": "1"}, [])
    assert told("codex", "opt_out: [updates, uploads]\n") == ({}, ["-c", "check_for_update_on_startup=false"])


def test_the_spec_has_the_last_word():
    plan, _ = compiled("claude", ALL, more="env: {DISABLE_TELEMETRY: '0'}\n")
    assert plan.plan.env.set["DISABLE_TELEMETRY"] == "0"

    twice, _ = compiled("aider", ALL, use="{flags: [--no-analytics]}")
    assert [item.value for item in twice.plan.argv if item.value == "--no-analytics"] == ["--no-analytics"]


def test_an_adapter_takes_none_of_the_arguments_of_the_cli_behind_it():
    plan, said = compiled("codex", "opt_out: [telemetry]\n", use="{controller: acp}")

    assert said == [
        (
            "`codex` takes no opt-out of `telemetry` for one launch",
            "set `analytics.enabled` to `false` in ~/.codex/config.toml",
        )
    ]
    assert "analytics.enabled=false" not in str(plan.plan.argv)


def test_what_nobody_knows_is_said():
    _, said = compiled("muse", "opt_out: [telemetry]\n")

    assert said == [("nothing is known by which `muse` opts out of `telemetry`", None)]


def change(provider, settings):
    plain, _ = compiled(provider, "")
    plan, _ = compiled(provider, settings)
    (made,) = diff_all({plain.prefix.key: plain.prefix}, [plan.prefix], "snapshots").plans
    return made


@pytest.mark.parametrize(
    ("provider", "settings"), [("claude", "opt_out: [updates]\n"), ("codex", ALL), ("copilot", ALL), ("kimi", ALL)]
)
def test_most_wishes_change_no_text_of_the_prompt(provider, settings):
    made = change(provider, settings)

    assert (made.verdict, made.text.bytes_kept) == ("kept", made.text.bytes_total)


def test_without_telemetry_claude_has_another_system_text():
    made = change("claude", "opt_out: [telemetry]\n")

    assert (made.verdict, made.first_break.layer) == ("broken", "system")
    assert made.first_break.after == "[claude 2.1.332/base prompt without telemetry]"
