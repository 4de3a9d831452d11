"""How agents of the Agent Client Protocol are driven, as the catalog and a spec say."""

from __future__ import annotations

import pytest

from agentmux_compiler import __version__
from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_compiler.tree import MemoryTree
from agentmux_launcher.manifest import AcpPlan, SessionSetting

SPOKEN = sorted(name for name in NAMES if load_provider(name).acp is not None)


def compiled(provider, use):
    spec = f"providers: {{{provider}: {{controller: acp{use}}}}}\n"
    made = compile_project(MemoryTree({"agents.d/tester.yaml": spec.encode()}))
    (lowered,) = made.plans
    return lowered.plan, [item for item in made.diagnostics if item.code in {"AMX401", "AMX402"}]


def acp_of(provider, use=""):
    plan, found = compiled(provider, use)
    assert (plan.controller, found) == ("acp", [])
    return plan.acp


def test_a_plan_says_how_each_field_reaches_the_session():
    assert acp_of("opencode", ", model: openai/gpt-5.5, effort: high, permission: plan") == AcpPlan(
        client_version=__version__,
        goes_on=("session/resume", "session/load"),
        forks=True,
        settings=(
            SessionSetting("model", "session/set_config_option", "value", "openai/gpt-5.5", "model"),
            SessionSetting("effort", "session/set_config_option", "value", "high", "effort"),
            SessionSetting("permission", "session/set_mode", "modeId", "plan"),
        ),
    )


def test_a_session_is_loaded_where_resuming_finds_none_of_another_process():
    ways = {name: acp_of(name, ", permission: bypass").goes_on for name in ("grok", "openclaw", "pi")}

    assert ways == {
        "grok": ("session/resume", "session/load"),
        "openclaw": ("session/load",),
        "pi": ("session/load",),
    }


def test_a_session_that_loading_loses_at_first_is_data():
    plans = {name: compiled(name, ", permission: bypass")[0].acp for name in SPOKEN}

    assert [name for name, plan in plans.items() if not plan.loads_at_once] == ["gemini"]


def test_what_an_argument_says_is_not_said_again():
    plan = acp_of("grok", ", model: grok-4.6, effort: high, permission: plan")

    assert plan.settings == (SessionSetting("permission", "session/set_mode", "modeId", "plan"),)
    assert plan.authenticate == {"XAI_API_KEY": "xai.api_key"}
    assert acp_of("grok", ", permission: bypass").settings == ()


@pytest.mark.parametrize(("permission", "passes"), [("edit", ("edit",)), ("ask", ()), ("plan", ()), ("bypass", ())])
def test_edits_pass_where_the_spec_lets_them(permission, passes):
    assert acp_of("cline", f", permission: {permission}").passes == passes


def test_how_an_agent_ends_and_what_it_leaves_is_data():
    plans = {name: acp_of(name, ", permission: bypass") for name in ("cline", "gemini", "grok")}

    assert {name: (plan.ends_at_eof, plan.ends_at_sigterm, plan.leaves) for name, plan in plans.items()} == {
        "cline": (True, False, ("daemon",)),
        "gemini": (False, False, ()),
        "grok": (True, True, ()),
    }


@pytest.mark.parametrize("provider", SPOKEN)
def test_every_agent_of_the_protocol_has_a_plan(provider):
    facts = load_provider(provider).acp

    plan, _ = compiled(provider, ", permission: bypass")

    assert plan.acp is not None
    assert plan.can("resume") == (facts.load is True)
    assert plan.can("fork") == ("fork" in facts.sessions)


def test_what_is_lent_stands_in_the_plan():
    assert acp_of("opencode", ", lend: [files, terminals]").lends == ("files", "terminals")


@pytest.mark.parametrize(
    ("provider", "remedy"),
    [("claude", "write `controller: acp` under `providers.claude`, or remove `lend`"), ("aider", "remove `lend`")],
)
def test_other_controllers_lend_nothing(provider, remedy):
    spec = f"providers: {{{provider}: {{lend: [files]}}}}\npermission: bypass\n"

    made = compile_project(MemoryTree({"agents.d/tester.yaml": spec.encode()}))

    (fault,) = [item for item in made.diagnostics if item.code == "AMX401"]
    assert fault.help == remedy
    assert (fault.span.line, fault.span.path) == (1, "agents.d/tester.yaml")
    assert made.plans[0].plan.acp is None
