"""`agentmux adopt`: a hand-written file, or a hand edit of an output, becomes source text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux import project
from agentmux.day import today
from agentmux.errors import DONE, FINDINGS, CannotRun
from agentmux_compiler import snapshots
from agentmux_compiler.adopt import Workshop, adopt
from agentmux_compiler.diagnostics import has_errors
from agentmux_compiler.lowering.output_files import filled, joined
from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.providers import NAMES, load_provider
from agentmux_compiler.render import View, full
from agentmux_compiler.render.paint import Paint
from agentmux_compiler.render.visible import visible
from agentmux_compiler.render.words import listed
from agentmux_compiler.tree import DiskTree
from agentmux_compiler.writing.baseline_outputs import known_outputs
from agentmux_compiler.writing.journal import known
from agentmux_compiler.writing.writes import write_sources

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from agentmux.streams import Streams
    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowered import OutputFile
    from agentmux_compiler.tree import Tree


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    root = project.find(arguments.project)
    paths = [inside(root, path) for path in arguments.paths]
    done = [_adopted(root, path, partial=arguments.partial, streams=streams) for path in paths]
    if any(done):
        streams.out.line("Look at the changes, then run `agentmux build`.")
    return DONE if all(done) else FINDINGS


def inside(root: Path, path: str) -> str:
    """A path relative to here, or else to the project, seen from the project; links in it are left as they are.

    Raises:
        CannotRun: it leads out of the project.
    """
    found = [name for base in (Path.cwd(), root) if (name := _seen_from(root, base / path)) is not None]
    there = (name for name in found if os.path.lexists(root / name))
    name = next(there, found[0] if found else None)
    if name is None:
        raise CannotRun(f"`{path}` is not in the project")
    return name


def _seen_from(root: Path, path: Path) -> str | None:
    whole = Path(os.path.abspath(path))  # noqa: PTH100  `resolve` would follow links
    above = next((each for each in (whole, *whole.parents) if _same_folder(each, root)), None)
    return whole.relative_to(above).as_posix() if above else None


def _same_folder(folder: Path, root: Path) -> bool:
    """Whether both names lead to one folder: the project may be named through a link."""
    try:
        return folder.samefile(root)
    except OSError:
        return False


def _adopted(root: Path, path: str, *, partial: bool, streams: Streams) -> bool:
    """Adopt one path and say what became of it; whether nothing of it was left over."""
    shop = workshop(root)
    adoption, found = adopt(path, shop, partial=partial)
    if adoption.files:
        found = [*found, *write_sources(root, adoption.files, shop.tree, adoption.claimed, adoption.executables)]
    errors = [item for item in found if has_errors([item])]
    view = View(project.source_reader(root), Paint(streams.out.color))
    streams.out.write(full.diagnostics(errors, view))
    sources = [f"`{each}`" for each in adoption.files if each != path]
    if sources and (not errors or partial):
        streams.out.line(visible(f"adopted `{path}` into {listed(sources)}"))
    return not errors


def workshop(root: Path) -> Workshop:
    """What adopting needs to know of the project as it is now."""
    tree = DiskTree(root)
    compiled = compile_project(tree)
    baseline, _ = snapshots.read(tree, compiled.settings.snapshots, [plan.prefix for plan in compiled.plans])
    manifest, _ = known(root)
    day = today()

    def outputs(sources: Tree) -> tuple[Sequence[OutputFile], Sequence[Diagnostic]]:
        made = compile_project(sources)
        return filled(joined(made.plans), made.plans, root, day), made.diagnostics

    return Workshop(
        tree=tree,
        compile_outputs=outputs,
        manifest=manifest,
        baseline_files=known_outputs(baseline),
        readers=readers(),
        settings=compiled.settings,
    )


def readers() -> dict[str, str]:
    """The instruction file of each provider, by name; of several that read one file, the first."""
    written = {name: load_provider(name).instructions.written for name in reversed(NAMES)}
    return {file: name for name, file in written.items() if file}
