"""The folders that builds made, so that they go again with their last output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.tree import Entry, byte_order
from agentmux_compiler.writing.write_plan import Blocked, Write

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentmux_compiler.tree import OutputTree
    from agentmux_compiler.writing.write_plan import WritePlan
    from agentmux_launcher.manifest import Manifest


def parents(path: str) -> Iterator[str]:
    """Folders above a path, innermost first, without the project's own."""
    while (cut := path.rfind("/")) > 0:
        path = path[:cut]
        yield path


def made_folders(
    plan: WritePlan, manifest: Manifest | None, tree: OutputTree
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Folders that builds made: those that hold an output of the plan, and those that may be empty after it.

    Without a manifest, as in a fresh clone, those above outputs that are there count: git made them for these.
    """
    held = _above((*(output.path for output in plan.outputs), *(file.path for file in plan.carried)))
    made = set(manifest.folders) if manifest else _above(_present(plan))
    absent = {folder for folder in held - made if tree.find(folder).entry is Entry.ABSENT}
    return tuple(sorted(held & (made | absent), key=byte_order)), tuple(sorted(made - held, key=byte_order))


def _above(paths: Iterable[str]) -> set[str]:
    return {folder for path in paths for folder in parents(path)}


def _present(plan: WritePlan) -> Iterator[str]:
    for step in plan.steps:
        match step:
            case Write(before=None) | Blocked():
                pass
            case _:
                yield step.path
