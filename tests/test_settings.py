import pytest

from agentmux_compiler.spec import load
from agentmux_compiler.tree import MemoryTree


@pytest.mark.parametrize("folder", [".git", ".GIT/snapshots", ".agentmux", "agents.d/x"])
def test_a_folder_of_git_or_of_ours_holds_no_snapshots(folder):
    _, found = load(MemoryTree({"agents.d/_project.yaml": f"paths: {{snapshots: {folder}}}\n".encode()}))
    assert [(item.code, item.message, item.span.column) for item in found if item.span] == [
        ("AMX112", f"`snapshots` cannot be `{folder}`, which is taken", 20)
    ]
