"""Providers that have less than the ones of the catalog, or share a file: made from real ones."""

from __future__ import annotations

import pytest

from agentmux_compiler.agent import Bundle, Delivery, Listed, ResolvedAgent, Server, Settings, Skill, Use
from agentmux_compiler.diagnostics import Span
from agentmux_compiler.lowering.delivery import deliver
from agentmux_compiler.lowering.environment import environment
from agentmux_compiler.lowering.mcp import place_servers
from agentmux_compiler.lowering.shared import index_needed, shared_file_faults
from agentmux_compiler.lowering.site import deliveries, folders_to, site_of
from agentmux_compiler.lowering.skills_out import place_skills
from agentmux_compiler.providers import load_provider
from agentmux_compiler.segment import Kind, Segment, Text
from agentmux_compiler.tree import MemoryTree

SPEC = "agents.d/reviewer.yaml"
AT = Span(SPEC, 2, 3)
CODEX = load_provider("codex")


def changed(provider, **groups):
    """A provider with other facts in some of its groups; None takes a group away."""
    update = {
        name: facts if not isinstance(facts, dict) else getattr(provider, name).model_copy(update=facts)
        for name, facts in groups.items()
    }
    return provider.model_copy(update=update)


OTHER = changed(CODEX, name="other", flag_delivery=None, skills={"listed": False, "written": None})
UNWRITTEN = changed(CODEX, name="bare", flag_delivery=None, instructions={"written": None}, default_delivery="startup")
SECTION = Segment("agents/reviewer/soul.md", Kind.SOUL, Text("Be calm.\n", SPEC, (3,)), AT)


def agent(**fields):
    filled = {
        "name": "reviewer", "display": "Reviewer", "description": "", "path": SPEC, "uses": (), "workdir": ".",
        "soul": None, "instructions": None, "startup": None, "bundles": (), "skills": (), "mcp": (), "env": {},
        "places": {},
    }  # fmt: skip
    return ResolvedAgent(**{**filled, **fields})


def site(made, provider, **fields):
    return site_of(made, Use(provider.name, AT, **fields), provider)


def said(found):
    return [(item.code, item.message) for item in found]


@pytest.mark.parametrize(
    ("provider", "wanted", "taken", "faults"),
    [
        (CODEX, None, Delivery.FLAG, []),
        (OTHER, Delivery.FILE, Delivery.FILE, []),
        (
            changed(OTHER, default_delivery="file"),
            Delivery.FLAG,
            Delivery.FILE,
            [("AMX401", "`other` cannot get its instructions by `delivery: flag`")],
        ),
        (
            UNWRITTEN,
            Delivery.FOLDER,
            Delivery.STARTUP,
            [("AMX401", "`bare` cannot get its instructions by `delivery: folder`")],
        ),
    ],
)
def test_a_delivery_that_a_provider_has_not_is_said(provider, wanted, taken, faults):
    made, found = site(agent(), provider, delivery=wanted)

    assert (made.delivery, said(found)) == (taken, faults)


def test_every_provider_has_its_own_default_first():
    assert deliveries(CODEX) == (Delivery.FLAG, Delivery.FILE, Delivery.FOLDER, Delivery.STARTUP)
    assert deliveries(UNWRITTEN) == (Delivery.STARTUP,)


def test_folders_on_the_way():
    assert folders_to(".") == (".",)
    assert folders_to("a/b/c") == (".", "a", "a/b", "a/b/c")


def shared(made, delivery=Delivery.FILE):
    return tuple(site(made, provider, delivery=delivery)[0] for provider in (CODEX, OTHER))


def test_text_for_one_provider_cannot_stand_in_a_file_of_two():
    limited = Bundle("codex-only", Text("For Codex.\n", "bundles/codex-only.md", (1,)), providers=("codex",))
    both = Bundle("both", Text("For both.\n", "bundles/both.md", (1,)), providers=("codex", "other"))
    made = agent(
        bundles=(Listed(limited, Span(SPEC, 5)), Listed(both, Span(SPEC, 6))),
        soul=Text("You run on {{PROVIDER}}.\n", SPEC, (3,)),
    )

    assert said(shared_file_faults(shared(made))) == [
        ("AMX306", "`codex-only` is for `codex`, and `codex`, `other` read `AGENTS.md`"),
        ("AMX306", f"`{SPEC}` names its provider or model, and `AGENTS.md` is read by `codex`, `other`"),
    ]
    assert shared_file_faults(shared(made)[:1]) == []
    assert shared_file_faults(shared(made, Delivery.FOLDER)) == []


def test_the_index_stands_in_a_shared_file_if_one_of_its_readers_needs_it():
    skill = Listed(Skill("tidy", "skills/tidy", "Tidies", ("SKILL.md",)), AT)
    codex, other = shared(agent(skills=(skill,)))

    assert [index_needed(each, (codex, other)) for each in (codex, other)] == [True, True]
    assert index_needed(codex, (codex,)) is False
    assert place_skills(other, MemoryTree({}))[0].files == ()


def test_a_template_around_the_text_moves_its_lines():
    facts = {"way": "file", "argv": ("--agent-file", "{}"), "file": "agent.md", "json_string": False}
    framed = changed(CODEX, flag_delivery={**facts, "template": "---\nname: x\n---\n${base_prompt}\n\n{}"})
    made, _ = site(agent(), framed)

    delivered, found = deliver(made, (SECTION,), Settings())

    assert found == []
    assert delivered.files[0].content == b"---\nname: x\n---\n${base_prompt}\n\nBe calm.\n"
    assert [(run.line, run.source_line) for run in delivered.files[0].lines] == [(6, 3)]


def server(**fields):
    filled = {"name": "issues", "command": "issues-mcp", "args": (), "env": {}, "url": None, "headers": {}, "at": AT}
    return Server(**{**filled, **fields})


@pytest.mark.parametrize(
    ("facts", "made", "faults"),
    [
        (
            {"transports": ("stdio",)},
            server(command=None, url="https://x.example"),
            [("AMX401", "`codex` cannot be given the MCP server `issues`, which speaks http")],
        ),
        (
            {"way": "none", "transports": ()},
            server(),
            [("AMX401", "`codex` cannot be given the MCP server `issues`, which speaks stdio")],
        ),
        (
            {"names": "[a-z]+"},
            server(name="my_server"),
            [("AMX404", "`codex` does not take the MCP server name `my_server`")],
        ),
        (
            {"secrets": "none"},
            server(env={"KEY": "${KEY}"}),
            [("AMX407", "`${KEY}` in `env` of the MCP server `issues` cannot be passed on by `codex`")],
        ),
        (
            {},
            server(command=None, url="https://x.example", headers={"X.Key": "1"}),
            [("AMX404", "`codex` takes no header of `issues` but those of letters, digits, `-` and `_`")],
        ),
    ],
)
def test_a_server_that_a_provider_cannot_take_is_said(facts, made, faults):
    where, _ = site(agent(mcp=(made,)), changed(CODEX, mcp=facts))

    servers, found = place_servers(where)

    assert said(found) == faults
    assert servers.argv == ()


def test_a_server_that_inherits_the_environment_needs_no_entry():
    facts = {
        "way": "file-flag",
        "file": "mcp.json",
        "key": "mcpServers",
        "argv": ("--mcp", "{}"),
        "secrets": "inherited",
    }
    where, _ = site(agent(mcp=(server(env={"KEY": "${KEY}", "LEVEL": "info"}),)), changed(CODEX, mcp=facts))

    servers, found = place_servers(where)

    assert found == []
    assert servers.variables == ("KEY",)
    assert b'"env": {\n        "LEVEL": "info"\n      }' in servers.files[0].content


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"base_url": "http://127.0.0.1:1/v1"}, "nothing is known that leads `codex` to another endpoint"),
        ({"api_key_env": "KEY"}, "nothing is known by which `codex` takes a key"),
    ],
)
def test_an_endpoint_or_key_that_a_provider_cannot_take_is_said(fields, message):
    bare = changed(CODEX, redirect=None, variables={"api_keys": ()})

    _, argv, found = environment(site(agent(), bare, **fields)[0], ())

    assert (argv, said(found)) == ((), [("AMX401", message)])
