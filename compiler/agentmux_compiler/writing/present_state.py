"""The present state of many paths of a project, each looked at once and as cheaply as its kind allows."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from agentmux_compiler.tree import DiskTree, Entry, byte_order, digest, entry_at, find, leaves_project, may_run


@dataclass(frozen=True, slots=True)
class PresentState:
    """A project's folder; remembers which folders are reached without a link."""

    root: Path
    _plain: dict[str, bool] = field(default_factory=lambda: {"": True})

    def source(self, path: str) -> str | None:
        """Digest of what a tree would read there, None where it would find no file."""
        known = self._digest(path)
        if known is None:
            data = DiskTree(self.root).read(path)
            known = None if data is None else digest(data)
        return known

    def names(self, folder: str) -> tuple[str, ...]:
        """What a tree would list there."""
        if leaves_project(folder) or not self._is_plain(folder):
            return DiskTree(self.root).names(folder)
        with os.scandir(self.root / folder) as entries:
            return tuple(sorted((item.name + "/" * item.is_dir() for item in entries), key=byte_order))

    def executable(self, path: str) -> bool:
        """What a tree would say of the file."""
        return DiskTree(self.root).executable(path)

    def output(self, path: str) -> str:
        """Digest of a regular file reached without a link, else the kind of thing there and where the way ends."""
        known = self._digest(path)
        if known is not None and may_run(f"{self.root}/{path}"):
            return f"{known} executable"
        if known is None:
            found = find(self.root, path)
            known = found.entry if found.entry is Entry.ABSENT else f"{found.entry} {found.path}"
        return known

    def _digest(self, path: str) -> str | None:
        if leaves_project(path) or not self._is_plain(path.rpartition("/")[0]):
            return None
        if entry_at(f"{self.root}/{path}") is not Entry.FILE:
            return None
        with open(f"{self.root}/{path}", "rb", buffering=0) as file:  # noqa: PTH123  thousands a build: no Path for each
            return digest(file.read())

    def _is_plain(self, folder: str) -> bool:
        if folder not in self._plain:
            above = self._is_plain(folder.rpartition("/")[0])
            self._plain[folder] = above and entry_at(f"{self.root}/{folder}") is Entry.FOLDER
        return self._plain[folder]
