"""One agent on every provider: what it reports can be put right as its help lines say, and then all of it builds."""

from __future__ import annotations

import re

import pytest

from agentmux_compiler.diagnostics import Severity
from agentmux_compiler.pipeline import BuildOptions, build
from agentmux_compiler.providers import NAMES

TODAY = "2026-11-30"
REST = """\
soul: You are calm.
instructions: Count the spoons before dinner.
bundles: [style]
skills: [tidy]
mcp:
  forks: {command: forks-mcp, args: [--all]}
  knives: {url: "https://knives.example/mcp"}
"""
FILES = {
    "bundles/style.md": "Be brief.\n",
    "skills/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidy up after a change\n---\nPut things back.\n",
}
# What a help line offers, and what it comes to under `providers.NAME`. The first that fits is taken.
OFFERS = (
    (r"write `permission` under `providers\.(?P<name>\w+)` with one of `(?P<value>\w+)`", "permission"),
    (r"write `controller: (?P<value>\w+)`.* under `providers\.(?P<name>\w+)`", "controller"),
    (r"write `mcp: (?P<value>false)` under `providers\.(?P<name>\w+)`", "mcp"),
)


class Project:
    """A project with one agent, written again whenever something is put right."""

    def __init__(self, root, names):
        self.root = root
        self.uses = {name: {} for name in names}
        for path, text in FILES.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(text.encode())
        (root / "agents.d").mkdir()

    def build(self):
        fields = {name: ", ".join(f"{key}: {value}" for key, value in use.items()) for name, use in self.uses.items()}
        text = "\n".join(["providers:", *(f"  {name}: {{{written}}}" for name, written in fields.items()), REST])
        (self.root / "agents.d/worker.yaml").write_bytes(text.encode())
        return build(self.root, BuildOptions(today=TODAY))

    def put_right(self, fault):
        """Write what the help line says, or what its message is about where the line only lists values."""
        for pattern, field in OFFERS:
            if found := re.search(pattern, fault.help or ""):
                self.uses[found["name"]][field] = found["value"]
                return
        found = re.fullmatch(r"`(\w+)` cannot get its instructions by `delivery: \w+`", fault.message)
        offered = re.match(r"it takes `(\w+)`", fault.help or "")
        assert found, fault.message
        assert offered, fault.help
        self.uses[found[1]]["delivery"] = offered[1]


def errors(report):
    return [item for item in report.diagnostics if item.severity is Severity.ERROR]


def put_right(project):
    """Build until nothing is wrong; the report of the last build."""
    for _ in range(4):
        report = project.build()
        if not errors(report):
            return report
        for fault in errors(report):
            project.put_right(fault)
    raise AssertionError([item.message for item in errors(report)])


def losses(report):
    """What the plans go without, by rule and provider, and which texts some get twice."""
    found = [item for item in report.diagnostics if item.code.startswith("AMX4") and item.code != "AMX416"]
    twice = [item.message for item in report.diagnostics if item.code == "AMX416"]
    return {(item.code, item.message.split("`")[1]) for item in found}, {text.split("`")[1] for text in twice}


@pytest.mark.parametrize("name", NAMES)
def test_each_builds_alone(tmp_path, name):
    project = Project(tmp_path, [name])
    report = put_right(project)
    again = project.build()

    assert [(plan.agent, plan.provider) for plan in report.diff.plans] == [("worker", name)]
    assert {status.status for status in again.files} <= {"unchanged"}
    assert losses(again) == losses(report)


def test_all_build_together(tmp_path):
    project = Project(tmp_path, NAMES)
    report = put_right(project)

    assert {name: use for name, use in project.uses.items() if use} == {
        "kimi": {"permission": "bypass"},
        "muxcode": {"permission": "plan", "mcp": "false"},
        "openclaw": {"mcp": "false", "permission": "bypass"},
        "pi": {"permission": "bypass"},
        "cline": {"mcp": "false"},
        "aider": {"mcp": "false", "permission": "plan"},
        "muse": {"mcp": "false"},
    }
    texts = {"agents/worker/soul.md", "agents/worker/instructions.md", "bundles/style.md"}
    trusting = {("AMX417", "kimi"), ("AMX417", "pi"), ("AMX418", "pi")}
    assert losses(report) == ({*trusting, ("AMX414", "gemini"), ("AMX414", "qwen")}, texts)
    assert {status.status for status in project.build().files} == {"unchanged"}


def test_all_of_one_file_build_together(tmp_path):
    """One rendering in one file for those that share it, and the first prompt for those that read none."""
    project = Project(tmp_path, NAMES)
    for use in project.uses.values():
        use["delivery"] = "file"
    report = put_right(project)
    written = {status.path for status in report.files if "/" not in status.path and status.path.endswith(".md")}

    assert project.uses["openclaw"]["delivery"] == "startup"
    assert written == {"AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md"}
