"""What model, effort and permission set where a CLI takes them from variables, and another endpoint."""

from __future__ import annotations

from agentmux_compiler.agent import Delivery, Permission, ResolvedAgent, Use
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowering.environment import by_use, environment, with_use
from agentmux_compiler.lowering.site import Site
from agentmux_compiler.providers import load_provider
from agentmux_launcher.manifest import Literal

HERE = Span("agents.d/worker.yaml", 1)
MUXCODE = load_provider("muxcode")


def by_variables():
    """A provider whose options and permissions are variables."""
    options = MUXCODE.arguments
    permission = options.permission.model_copy(
        update={"ask": (), "set": {"ask": {"MODE": "1"}, "bypass": {"MODE": "0"}}}
    )
    model = options.model.model_copy(update={"variable": "MODEL", "argv": ()})
    effort = options.effort.model_copy(update={"variable": "EFFORT", "argv": ()})
    arguments = options.model_copy(update={"permission": permission, "model": model, "effort": effort})
    return MUXCODE.model_copy(update={"arguments": arguments})


def use(**fields):
    return Use("muxcode", HERE, **fields)


def site(provider, use, **env):
    agent = ResolvedAgent("worker", "Worker", "", HERE.path, (use,), ".", None, None, None, (), (), (), env, {})
    return Site(agent, use, provider, Delivery.FILE)


def test_variables_take_model_effort_and_permission():
    chosen = by_use(by_variables(), use(model="m-3", effort="low", permission=Permission.ASK))

    assert chosen == {"MODE": "1", "MODEL": "m-3", "EFFORT": "low"}


def test_arguments_set_nothing():
    assert by_use(MUXCODE, use(model="m-3", effort="low", permission=Permission.BYPASS)) == {}


def test_another_use_replaces_what_the_first_one_set():
    provider, before = by_variables(), use(model="m-3", permission=Permission.ASK)
    made, _, found = environment(site(provider, before, LOG="1"), ())
    after = use(model="m-4", permission=Permission.BYPASS)

    assert found == []
    assert dict(made.set) == {"AGENTMUX_AGENT_ID": "worker", "LOG": "1", "MODE": "1", "MODEL": "m-3"}
    assert dict(with_use(made, provider, before, after).set) == {**made.set, "MODE": "0", "MODEL": "m-4"}


def test_what_the_spec_sets_itself_stays():
    provider, before = by_variables(), use(permission=Permission.ASK)
    made, _, _ = environment(site(provider, before, MODE="2"), ())

    assert with_use(made, provider, before, use(permission=Permission.BYPASS)) == made


def test_an_endpoint_stands_bare_in_an_argument_of_its_own():
    made, argv, found = environment(site(MUXCODE, use(base_url="http://localhost:9/v1", api_key_env="LOCAL")), ())

    assert argv == (Literal("--backend=openai-compat"), Literal("--base-url=http://localhost:9/v1"))
    assert (dict(made.renamed), found) == ({"OPENAI_API_KEY": "LOCAL"}, [])
