"""Decide, path by path, what a build writes, removes, leaves alone, or must not touch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.tree import Entry, Found, OutputTree, byte_order, digest, leaves_project
from agentmux_compiler.writing import blocks
from agentmux_compiler.writing.folders import made_folders
from agentmux_compiler.writing.merge import NotMergeableError, keys_of, merge
from agentmux_compiler.writing.ownership import NOTHING_KNOWN, Claims, Standing, claims
from agentmux_compiler.writing.write_plan import Blocked, Removal, Step, Unchanged, Write, WritePlan
from agentmux_launcher.manifest import Manifest, WrittenFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowered import OutputFile
    from agentmux_compiler.writing.merge import Merged
    from agentmux_launcher.manifest import LaunchPlan


@dataclass(frozen=True, slots=True)
class Ground:
    """What a plan is made against; `force` says that edits of outputs may be dropped."""

    tree: OutputTree
    manifest: Manifest | None
    baseline: Mapping[str, bytes]
    claims: Claims
    force: bool

    def keys(self, path: str) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
        """Digests of our values in a settings file by JSON pointer, and the pointers the manifest lists."""
        listed = [file.keys for file in self.manifest.files if file.path == path] if self.manifest else []
        accepted = _object_keys(self.baseline.get(path))
        digests: dict[str, frozenset[str]] = defaultdict(lambda: NOTHING_KNOWN)
        for keys in (*listed, accepted):
            for pointer, known in keys.items():
                digests[pointer] |= {known}
        return digests, frozenset(pointer for keys in listed for pointer in keys)


def file_at(path: str, tree: OutputTree) -> bytes | None:
    """Bytes of a regular file that is reached without a link, else None."""
    return tree.read(path) if tree.find(path) == Found(Entry.FILE, path) else None


def keep_none(_path: str) -> bool:
    return False


def plan_writes(  # noqa: PLR0913  the last two are options
    outputs: Sequence[OutputFile],
    manifest: Manifest | None,
    baseline_files: Mapping[str, bytes],
    tree: OutputTree,
    *,
    force: bool = False,
    keep: Callable[[str], bool] = keep_none,
) -> tuple[WritePlan, list[Diagnostic]]:
    """Plan a build's writes, and report every path that it must not touch.

    Args:
        outputs: what the sources want; of two for one path the first counts.
        manifest: what the last build wrote (a path may stand there twice, as after an interrupted build).
        baseline_files: committed outputs as the accepted baseline renders them, by path.
        tree: the project's folder as it is.
        force: overwrite or remove outputs of ours that were edited by hand; foreign files stay even so.
        keep: paths that are not wanted here and yet not to be removed, as another agent's in a narrowed build.
    """
    wanted = {output.path: output for output in reversed(outputs)}
    ground = Ground(tree, manifest, baseline_files, claims(manifest, baseline_files), force)
    unwanted = ground.claims.digests.keys() - wanted.keys()
    steps = {path: _want(output, ground) for path, output in wanted.items()}
    steps |= {path: step for path in unwanted if not keep(path) and (step := _drop(path, ground))}
    held = {path for path in unwanted if keep(path)} | {
        step.path for step in steps.values() if isinstance(step, Blocked)
    }
    carried = tuple(file for file in manifest.files if file.path in held) if manifest else ()
    plan = WritePlan(tuple(steps[path] for path in sorted(steps, key=byte_order)), carried)
    plan = WritePlan(plan.steps, carried, *made_folders(plan, manifest, tree))
    return plan, [step.diagnostic for step in plan.blocked]


def check(plan: WritePlan, tree: OutputTree) -> list[Diagnostic]:
    """What `--check` says of the outputs: every committed path that is not byte for byte what a build leaves there."""
    found: list[Diagnostic] = []
    for step in plan.steps:
        match step:
            case Blocked(committed=True):
                found.append(step.diagnostic)
            case Write(committed=True):
                current = tree.read(step.path) if step.before else None
                found.append(blocks.stale_output(step.path, current, step.content))
            case Removal(committed=True):
                found.append(blocks.stale_output(step.path, tree.read(step.path), None))
            case _:
                pass
    return found


def written(output: OutputFile) -> WrittenFile:
    return WrittenFile(
        path=output.path,
        sha256=digest(output.content),
        bytes=len(output.content),
        committed=output.committed,
        lines=output.lines,
        owners=output.owners,
        keys=keys_of(output.content) if output.merged else {},
    )


def manifest_of(
    outputs: Iterable[OutputFile],
    plans: Iterable[LaunchPlan],
    version: str,
    *,
    carried: Iterable[WrittenFile] = (),
    folders: tuple[str, ...] = (),
) -> Manifest:
    """The manifest of a build that leaves these outputs, with what a narrowed or blocked build carries over."""
    files = sorted((*map(written, outputs), *carried), key=lambda file: (byte_order(file.path), file.sha256))
    ordered = sorted(plans, key=lambda plan: (byte_order(plan.agent), byte_order(plan.provider)))
    return Manifest(version, tuple(files), tuple(ordered), folders=folders)


def launch_plans(
    plans: Iterable[LaunchPlan], manifest: Manifest | None, holds: Callable[[str, str], bool]
) -> tuple[LaunchPlan, ...]:
    """The plans of a build narrowed to what `holds(agent, provider)`: the others stay as their last build made them."""
    earlier = {(plan.agent, plan.provider): plan for plan in (manifest.plans if manifest else ())}
    found = (plan if holds(*key) else earlier.get(key) for plan in plans for key in [(plan.agent, plan.provider)])
    return tuple(plan for plan in found if plan)


def _want(output: OutputFile, ground: Ground) -> Step:
    path = output.path
    if leaves_project(path) or path.split("/")[0].lower() == ".git":
        return Blocked(path, output.committed, blocks.out_of_bounds(output))
    found = ground.tree.find(path)
    if found.entry is Entry.ABSENT:
        return Write(path, output.content, output.committed, None, output)
    data = file_at(path, ground.tree)
    if data is None:
        return Blocked(path, output.committed, blocks.in_the_way(output, found))
    return _want_values(output, data, ground) if output.merged else _want_bytes(output, data, ground)


def _want_bytes(output: OutputFile, data: bytes, ground: Ground) -> Step:
    match ground.claims.standing(output.path, data, output.content):
        case Standing.CURRENT if output.executable in {None, ground.tree.executable(output.path)}:
            return Unchanged(output, data)
        case Standing.FOREIGN:
            return Blocked(output.path, output.committed, blocks.foreign_file(output))
        case Standing.EDITED if not ground.force:
            return Blocked(output.path, output.committed, blocks.edited_output(output.path, data, output.content))
        case _:
            return Write(output.path, output.content, output.committed, digest(data), output)


def _want_values(output: OutputFile, data: bytes, ground: Ground) -> Step:
    known, listed = ground.keys(output.path)
    try:
        merged = merge(data, output.content, known, listed, force=ground.force)
    except NotMergeableError as error:
        return Blocked(output.path, output.committed, blocks.not_mergeable(output, str(error)))
    if merged.foreign:
        return Blocked(output.path, output.committed, blocks.foreign_value(output, merged.foreign))
    if merged.edited:
        return Blocked(output.path, output.committed, blocks.edited_value(output.path, merged.edited))
    if merged.content == data:
        return Unchanged(output, data)
    return Write(output.path, merged.content, output.committed, digest(data), output)


def _drop(path: str, ground: Ground) -> Step | None:
    """What becomes of a path that nothing wants any more; None: it is gone, or was never ours to remove."""
    data = file_at(path, ground.tree)
    if data is None:
        return None
    committed = ground.claims.committed(path)
    known, listed = ground.keys(path)
    standing = ground.claims.standing(path, data, None)
    if known and standing is not Standing.OURS and (listed or standing is Standing.FOREIGN):
        return _drop_values(path, data, ground)
    if standing is Standing.OURS or (standing is Standing.EDITED and ground.force):
        return Removal(path, committed, digest(data))
    if standing is Standing.EDITED:
        return Blocked(path, committed, blocks.edited_orphan(path))
    return None


def _drop_values(path: str, data: bytes, ground: Ground) -> Step | None:
    committed = ground.claims.committed(path)
    known, listed = ground.keys(path)
    try:
        merged: Merged = merge(data, b"{}", known, listed, force=ground.force)
    except NotMergeableError:
        return Blocked(path, committed, blocks.edited_orphan(path)) if listed else None
    if merged.edited:
        return Blocked(path, committed, blocks.edited_value(path, merged.edited))
    if not merged.content:
        return Removal(path, committed, digest(data))
    return Write(path, merged.content, committed, digest(data), None) if merged.content != data else None


def _object_keys(content: bytes | None) -> dict[str, str]:
    try:
        return keys_of(content) if content and content.lstrip()[:1] == b"{" else {}
    except ValueError:
        return {}
