import pytest

from agentmux_compiler.spec import load
from agentmux_compiler.tree import MemoryTree


@pytest.mark.parametrize("folder", [".git", ".GIT/snapshots", ".agentmux", "agents.d/x"])
def test_a_folder_of_git_or_of_ours_holds_no_snapshots(folder):
    _, found = load(MemoryTree({"agents.d/_project.yaml": f"paths: {{snapshots: {folder}}}\n".encode()}))
    assert [(item.code, item.message, item.span.column) for item in found if item.span] == [
        ("AMX112", f"`snapshots` cannot be `{folder}`, which is taken", 20)
    ]


def test_what_a_launch_keeps_and_does_not_want():
    text = "retention_days: 7\nretention_runs: 0\nopt_out: [updates, telemetry, updates]\n"

    specs, found = load(MemoryTree({"agents.d/_project.yaml": text.encode()}))

    settings = specs.settings
    assert (found, settings.retention_days, settings.retention_runs) == ([], 7, 0)
    assert [(each.item, each.at.line, each.at.column) for each in settings.opt_outs] == [
        ("updates", 3, 11),
        ("telemetry", 3, 20),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("opt_out: [ads]", "item 1 of `opt_out` cannot be `ads`"),
        ("opt_out: telemetry", "`opt_out` takes a list, found the text `telemetry`"),
        ("retention_runs: -1", "`retention_runs` takes a number 0 or more"),
        ("retention_days: 0", "`retention_days` takes a number 1 or more"),
    ],
)
def test_what_is_none_of_it_is_refused(text, message):
    specs, found = load(MemoryTree({"agents.d/_project.yaml": text.encode()}))

    settings = specs.settings
    assert ([item.message for item in found], settings.opt_outs, settings.retention_runs) == ([message], (), None)
