"""What is predicted from a layout and an argv, against what the real CLIs sent to a recorder.

`matrix/measured-*.json`: runs of compiled plans, each against the plan of `base`. `matrix/given-*.json`: runs of the
CLIs by argvs of their own, before and after. `kept` of `total` bytes of the later prompt were equal from the start, up
to `byte` of `part`; `layer` is what stands there, `was` what stood there before if that is something else. `spec` (or
`before`, `after`) is what the agent's file says besides `base`; `elsewhere` is what was another on the machine.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from agentmux_compiler import lower
from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.prefix.diff import diff
from agentmux_compiler.prefix.environment import changed
from agentmux_compiler.providers import load_provider
from agentmux_compiler.tree import MemoryTree

MATRIX = Path(__file__).parent / "matrix"
PROVIDERS = ("claude", "codex", "gemini", "kimi", "qwen")
POINTS = 5.0
# The endpoint was a recorder on loopback; of these CLIs only Claude sends another text to one that is not its vendor's.
REDIRECTED = ("claude",)
OF_USE = ("model", "effort", "permission", "controller", "flags")


def table(kind, provider):
    found = json.loads((MATRIX / f"{kind}-{provider}.json").read_text(encoding="utf-8"))
    return [pytest.param(provider, found, row, id=f"{provider}: {row['case']}") for row in found["rows"]]


def project(provider, lines, spec, *, header):
    """A small project: two bundles of a few lines, and what `spec` asks for."""
    use = {name: spec[name] for name in OF_USE if spec.get(name)}
    if provider in REDIRECTED:
        use["base_url"] = "http://127.0.0.1:9999/v1"
    agent = {
        "providers": {provider: use},
        "delivery": spec.get("delivery", "file"),
        "bundles": spec.get("bundles", ["one", "two"]),
        "skills": list(spec.get("skills", ())),
        "mcp": {name: {"command": "tiny-mcp"} for name in spec.get("mcp", ())},
        "env": spec.get("env") or {},
        **{name: spec[name] for name in ("workdir", "startup") if spec.get(name)},
    }
    files = {
        "agents.d/_project.yaml": f"header: {str(header).lower()}\n",
        "agents.d/reviewer.yaml": json.dumps(agent),
        "bundles/one.md": "ONE-SENTINEL\n" + spec.get("one", "") + "Rule one of the house.\n" * lines,
        "bundles/two.md": "TWO-SENTINEL\n" + "Rule two of the house.\n" * lines + spec.get("two", ""),
    }
    for name in agent["skills"]:
        text = f"---\nname: {name}\ndescription: Does {name} things when asked to do {name}.\n---\nBody.\n"
        files[f"skills/{name}/SKILL.md"] = text
    if spec.get("workdir"):
        files[f"{spec['workdir']}/.keep"] = ""
    return MemoryTree({path: text.encode() for path, text in files.items()})


@functools.cache
def prefix(provider, lines, text, header):
    compiled = compile_project(project(provider, lines, json.loads(text), header=header))
    assert [item.message for item in compiled.diagnostics if item.severity.value == "error"] == []
    (plan,) = compiled.plans
    return plan.prefix


def compared(provider, specs, elsewhere, *, lines, header):
    left, right = (prefix(provider, lines, json.dumps(spec, sort_keys=True), header) for spec in specs)
    return diff(left, changed(right, elsewhere) if elsewhere else right)


def assert_predicted(found, row):
    first = found.first_break
    # A key of the cache is no text: of that, the matrix says nothing.
    layer = None if first is None or first.layer == "key" else first.layer
    share, measured = 100 * found.text.bytes_kept / found.text.bytes_total, 100 * row["kept"] / row["total"]
    assert layer in {row["layer"], row.get("was", row["layer"])}, first
    assert abs(share - measured) <= POINTS, (share, measured)


@pytest.mark.parametrize(
    ("provider", "measured", "row"), [row for name in PROVIDERS for row in table("measured", name)]
)
def test_a_compiled_plan_breaks_where_the_cli_does(provider, measured, row):
    base = measured["base"]
    specs = base, {**base, **row["spec"]}
    assert_predicted(compared(provider, specs, row.get("elsewhere"), lines=20, header=True), row)


@pytest.fixture
def by_argv(monkeypatch):
    """Compile for a mode that begins with other arguments, and leaves the attribution in."""

    def use(provider, argv):
        facts = load_provider(provider)
        mode = facts.modes[facts.controller]
        modes = {**facts.modes, facts.controller: mode.model_copy(update={"argv": tuple(argv)})}
        redirect = facts.redirect.model_copy(update={"set": {}})
        other = facts.model_copy(update={"modes": modes, "redirect": redirect})
        monkeypatch.setattr(lower, "load_provider", lambda _: other)
        prefix.cache_clear()

    yield use
    prefix.cache_clear()


@pytest.mark.parametrize(("provider", "given", "row"), [row for name in PROVIDERS for row in table("given", name)])
def test_an_argv_of_its_own_breaks_where_the_cli_does(provider, given, row, by_argv):
    if given["mode_argv"]:
        by_argv(provider, given["mode_argv"])
    before = {**given["base"], **row["before"]}
    after = {**given["base"], **row.get("after", row["before"])}
    assert_predicted(compared(provider, (before, after), row.get("elsewhere"), lines=65, header=False), row)
