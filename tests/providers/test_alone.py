"""Each provider by itself: whatever a spec asks for reaches its CLI, or is said not to."""

from __future__ import annotations

import pytest

from agentmux_compiler.agent import Permission, Use
from agentmux_compiler.diagnostics import Severity, Span
from agentmux_compiler.lower import lower
from agentmux_compiler.lowering.modes import mode_of, permissions_of
from agentmux_compiler.lowering.site import deliveries
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_compiler.resolve import resolve
from agentmux_compiler.spec import load
from agentmux_compiler.tree import MemoryTree
from agentmux_launcher.arguments import expand, shown

HERE = Span("agents.d/worker.yaml", 1)
TEXT = "Count the spoons before dinner."
SKILL = {"skills/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidy up after a change\n---\nPut things back.\n"}


class Alone:
    """One agent on one provider."""

    def __init__(self, provider, use="", spec="", files=()):
        text = f"providers: {{{provider}: {{{use}}}}}\ninstructions: {TEXT}\n{spec}"
        tree = MemoryTree({"agents.d/worker.yaml": text.encode(), **{name: data.encode() for name, data in files}})
        specs, first = load(tree)
        project, second = resolve(specs, tree)
        (self.lowered,), third = lower(project, tree)
        self.found = [*first, *second, *third]
        self.plan = self.lowered.plan
        self.files = {file.path: file.content.decode() for file in self.lowered.files}

    @property
    def codes(self):
        return {item.code for item in self.found}

    @property
    def errors(self):
        return {item.code for item in self.found if item.severity is Severity.ERROR}

    def everything(self):
        """All that reaches the CLI."""
        argv = expand(self.plan.argv, self.files.__getitem__, {"prompt": "Go."})
        named = [name for name in self.files if any(name in item for item in argv)]
        environment = [f"{name}={value}" for name, value in self.plan.env.set.items()]
        return "\n".join([*argv, *environment, self.plan.startup or "", *self.files.values(), *named])


USES = [
    pytest.param(name, controller, id=f"{name}-{controller}")
    for name in NAMES
    for controller, mode in load_provider(name).modes.items()
    if mode is not None
]


def permitted(provider, controller):
    """A permission that the mode enforces, the freest if it can."""
    mode, _ = mode_of(provider, Use(provider.name, HERE, controller=controller))
    known = permissions_of(provider, mode)
    return next(name for name in reversed(Permission) if getattr(known, name.value) is not None)


@pytest.mark.parametrize(("name", "controller"), USES)
def test_the_text_arrives_by_every_delivery(name, controller):
    provider = load_provider(name)
    permission = permitted(provider, controller)

    for delivery in deliveries(provider, provider.modes[controller]):
        alone = Alone(name, f"controller: {controller}, delivery: {delivery}, permission: {permission}")

        assert alone.errors == set(), delivery
        assert alone.plan.delivery == delivery
        assert TEXT in alone.everything(), delivery
        known = "\n".join(item.text or "" for item in alone.lowered.prefix.segments)
        assert TEXT in known, delivery


@pytest.mark.parametrize(("name", "controller"), USES)
def test_every_permission_is_enforced_or_refused(name, controller):
    provider = load_provider(name)
    known = permissions_of(provider, provider.modes[controller])

    for permission in Permission:
        alone = Alone(name, f"controller: {controller}, permission: {permission}")
        argv = getattr(known, permission.value)

        assert ("AMX401" in alone.errors) == (argv is None), permission
        assert set(argv or ()) <= set(shown(alone.plan.argv, {})), permission
        assert known.set.get(permission.value, {}).items() <= alone.plan.env.set.items(), permission


@pytest.mark.parametrize(("name", "controller"), USES)
@pytest.mark.parametrize("server", ["{command: forks-mcp, args: [--all]}", 'url: "https://forks.example/mcp"'])
def test_a_server_is_given_or_said(name, controller, server):
    permission = permitted(load_provider(name), controller)
    spec = f"mcp:\n  forks: {server if server[0] == '{' else '{' + server + '}'}\n"
    alone = Alone(name, f"controller: {controller}, permission: {permission}", spec)

    given = "forks" in alone.everything() or "forks" in [server.name for server in alone.plan.mcp_servers]
    assert given != bool(alone.errors & {"AMX401"})


@pytest.mark.parametrize(("name", "controller"), USES)
def test_a_skill_is_copied_or_listed_in_the_text(name, controller):
    permission = permitted(load_provider(name), controller)
    alone = Alone(name, f"controller: {controller}, permission: {permission}", "skills: [tidy]\n", SKILL.items())

    copied = [path for path in alone.files if path.endswith("tidy/SKILL.md")]
    assert alone.errors == set()
    assert copied or "Tidy up after a change" in alone.everything()


@pytest.mark.parametrize(("name", "controller"), USES)
@pytest.mark.parametrize("field", ["model", "effort"])
def test_an_option_is_passed_or_said(name, controller, field):
    provider = load_provider(name)
    option = getattr(provider.arguments, field)
    value = (option.values if option and option.values else ("made-up-3",))[0]
    permission = permitted(provider, controller)
    alone = Alone(name, f"controller: {controller}, permission: {permission}, {field}: {value}")

    in_session = provider.modes[controller].prompt_delivery == "acp" and getattr(provider.acp, field) not in {
        None,
        "unknown",
        "argument",
    }
    assert getattr(alone.plan, field) == value
    assert (value in alone.everything() or in_session) != bool(alone.codes & {"AMX404", "AMX410"})
