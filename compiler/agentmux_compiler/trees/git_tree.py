"""A project as it was at a git revision, read without touching the work tree."""

from __future__ import annotations

import posixpath
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.tree import byte_order, leaves_project
from agentmux_compiler.trees.git_objects import (
    EXECUTABLE_MODE,
    FOLDER_MODE,
    INHERITED,
    LINK_MODE,
    Item,
    Objects,
    objects,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["INHERITED", "GitTree", "revision", "tree_at"]

LINKS_FOLLOWED = 8


@dataclass(frozen=True, slots=True)
class GitTree:
    """The project's folder in one commit; `top` is the id of its tree. Nothing is read before it is asked for."""

    objects: Objects
    top: str | None

    def read(self, path: str) -> bytes | None:
        item = self._find(path)
        return self.objects.file(item.id) if item and item.mode != FOLDER_MODE else None

    def names(self, folder: str) -> tuple[str, ...]:
        item = self._find(folder)
        if item is None or item.mode != FOLDER_MODE:
            return ()
        entries = self.objects.folder(item.id).items()
        shown = (name + "/" if self._leads_to_folder(folder, name, each) else name for name, each in entries)
        return tuple(sorted(shown, key=byte_order))

    def executable(self, path: str) -> bool:
        item = self._find(path)
        return item is not None and item.mode == EXECUTABLE_MODE

    def outside(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        above = self._find(folder)
        if above is None or above.mode != FOLDER_MODE:
            return False
        item = self.objects.folder(above.id).get(name)
        return item is not None and item.mode == LINK_MODE and self._find(path) is None

    def id_of(self, path: str) -> str | None:
        """The object id of a file, links followed; None where there is no file."""
        item = self._find(path)
        return item.id if item and item.mode != FOLDER_MODE else None

    def folder_id(self, path: str) -> str | None:
        """The object id of a folder, links followed; None where there is no folder."""
        item = self._find(path)
        return item.id if item and item.mode == FOLDER_MODE else None

    def _leads_to_folder(self, folder: str, name: str, item: Item) -> bool:
        found = self._find(posixpath.join(folder or ".", name)) if item.mode == LINK_MODE else item
        return found is not None and found.mode == FOLDER_MODE

    def _find(self, path: str) -> Item | None:
        """The file or folder at a path; links are followed as far as they stay inside the project."""
        if self.top is None or leaves_project(path):
            return None
        parts = _parts(path)
        links = 0
        item, at = Item(FOLDER_MODE, self.top), 0
        while at < len(parts):
            below = self.objects.folder(item.id).get(parts[at]) if item.mode == FOLDER_MODE else None
            if below is None:
                return None
            at += 1
            if below.mode != LINK_MODE:
                item = below
                continue
            led = posixpath.join("/".join(parts[: at - 1]), self._target(below))
            links += 1
            if links > LINKS_FOLLOWED or leaves_project(led):
                return None
            parts, item, at = _parts(posixpath.join(led, *parts[at:])), Item(FOLDER_MODE, self.top), 0
        return item

    def _target(self, link: Item) -> str:
        return self.objects.file(link.id).decode("utf-8", "surrogateescape")


def _parts(path: str) -> list[str]:
    return [part for part in posixpath.normpath(path or ".").split("/") if part != "."]


def tree_at(repository: Objects, commit: str) -> GitTree:
    """The tree of a commit below the folder that `objects` was opened for."""
    return GitTree(repository, repository.project(commit))


@contextmanager
def revision(root: Path, name: str) -> Iterator[GitTree]:
    """The project's tree at a revision (`main`, `HEAD~1`, an id), as long as the `with` block lasts.

    Raises:
        GitError: no git, no repository, no such revision, or an object is missing.
    """
    with objects(root) as repository:
        yield tree_at(repository, repository.commit(name))
