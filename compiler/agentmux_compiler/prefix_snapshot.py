"""Holds the prefixes of a project's agents by `snapshots/` in a test, and fails with the prefix report."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.data import SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension

from agentmux_compiler.diagnostics import has_errors
from agentmux_compiler.prefix.diff import diff_all
from agentmux_compiler.render import View, renderer
from agentmux_compiler.snapshots import read, relaid, snapshot_files
from agentmux_compiler.tree import DiskTree
from agentmux_compiler.writing.accept import PARTS, accept, check_snapshots

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from syrupy.data import SnapshotCollection

    from agentmux_compiler.diagnostics import Diagnostic
    from agentmux_compiler.lowered import Lowered

SOURCES = "agents.d"


@dataclass(frozen=True)
class PrefixSnapshot:
    """Compares a project's plans with its baseline, on behalf of the test in the file `test`."""

    snapshot: SnapshotAssertion
    test: Path

    def __call__(self, project: Path | None = None) -> None:
        """Compile a project and hold its prefixes; an error in its sources fails the test too."""
        from agentmux_compiler.pipeline import compile_project  # noqa: PLC0415  `hold` needs none of it

        project = self.nearest() if project is None else project
        compiled = compile_project(DiskTree(project))
        if has_errors(compiled.diagnostics):
            pytest.fail(renderer("full").diagnostics(compiled.diagnostics, _view(project)), pytrace=False)
        self.hold(project, compiled.plans, compiled.settings.snapshots)

    def nearest(self) -> Path:
        """The project that the test belongs to."""
        found = next((folder for folder in self.test.parents if (folder / SOURCES).is_dir()), None)
        if found is None:
            pytest.fail(f"no project: no folder above `{self.test.name}` holds `{SOURCES}/`", pytrace=False)
        return found

    def hold(self, project: Path, plans: Sequence[Lowered], folder: str = "snapshots") -> None:
        """Hold plans by the baseline in `folder` of `project`."""
        files = snapshot_files(plans)
        if self.snapshot(extension_class=_extension(project, folder)) != files:
            pytest.fail(report(project, plans, folder, files), pytrace=False)


def report(project: Path, plans: Sequence[Lowered], folder: str, files: Mapping[str, bytes]) -> str:
    """What a difference means for the prefixes, then the files of the baseline that no prefix depends on."""
    tree = DiskTree(project)
    prefixes = [plan.prefix for plan in plans]
    baseline, damage = read(tree, folder, prefixes)
    full, view = renderer("full"), _view(project)
    stale = [item for item in check_snapshots(folder, files, tree) if _outside_prefixes(item, folder)]
    return "\n".join(
        part
        for part in (
            full.diagnostics([*damage, *stale], view),
            full.diff(diff_all(relaid(baseline.plans), prefixes, "snapshots"), view),
        )
        if part
    )


def _outside_prefixes(item: Diagnostic, folder: str) -> bool:
    return item.span is not None and item.span.path.startswith(f"{folder}/files/")


def _view(project: Path) -> View:
    tree = DiskTree(project)

    def source(path: str) -> str | None:
        data = tree.read(path)
        return data.decode("utf-8", "replace") if data is not None else None

    return View(source=source, accept="pytest --snapshot-update")


class BaselineExtension(SingleFileSnapshotExtension):
    """A whole baseline as one snapshot: its location is the folder, its data every file in it."""

    project: ClassVar[Path]
    folder: ClassVar[str]

    def serialize(self, data: Any, **_options: Any) -> bytes:
        return pack(data)

    @classmethod
    def get_location(cls, **_place: Any) -> str:
        return str(cls.project / cls.folder)

    @classmethod
    def matches_test_location(cls, **_place: Any) -> bool:
        """Any test may hold a baseline, wherever it lies."""
        return True

    def discover_snapshots(self, **_options: Any) -> SnapshotCollections:
        """None: what a baseline holds besides is removed when it is written, so nothing in it can be unused."""
        return SnapshotCollections()

    def read_snapshot_data_from_location(self, **_place: Any) -> bytes | None:
        files = baseline_files(self.project, self.folder)
        return pack(files) if files else None

    @classmethod
    def write_snapshot_collection(cls, *, snapshot_collection: SnapshotCollection, **_options: Any) -> None:
        refused = accept(cls.project, cls.folder, unpack(next(iter(snapshot_collection)).data)).diagnostics
        if refused:
            pytest.fail(renderer("full").diagnostics(refused, _view(cls.project)), pytrace=False)


def _extension(project: Path, folder: str) -> type[BaselineExtension]:
    return type("BaselineOfProject", (BaselineExtension,), {"project": project, "folder": folder})


def baseline_files(project: Path, folder: str) -> Mapping[str, bytes]:
    """Every file in the parts of a baseline that agentmux writes, by path below its folder."""
    root = project / folder
    paths = sorted(path for part in PARTS for path in (root / part).rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def pack(files: Mapping[str, bytes]) -> bytes:
    return json.dumps({path: data.decode("latin-1") for path, data in files.items()}, sort_keys=True).encode()


def unpack(data: Any) -> Mapping[str, bytes]:
    return {path: text.encode("latin-1") for path, text in json.loads(data).items()}
