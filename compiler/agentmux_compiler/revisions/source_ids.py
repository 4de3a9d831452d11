"""What a compilation read, by git's object ids: where these stand unchanged, it would give the same again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from agentmux_compiler.tree import DiskTree

LONG_ID = 64


class Identified(Protocol):
    """A tree whose files have object ids."""

    def names(self, folder: str) -> tuple[str, ...]: ...

    def id_of(self, path: str) -> str | None: ...


class IdentifiedTree(Identified, Protocol):
    """One that can be compiled too."""

    def read(self, path: str) -> bytes | None: ...

    def executable(self, path: str) -> bool: ...

    def outside(self, path: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class SourceIds:
    """The object id of each file that was asked for (None: it was not there), and the names of each folder."""

    files: Mapping[str, str | None]
    folders: Mapping[str, tuple[str, ...]]

    def __or__(self, other: SourceIds) -> SourceIds:
        return SourceIds({**self.files, **other.files}, {**self.folders, **other.folders})

    def stand_in(self, tree: Identified) -> bool:
        """Whether a tree would give every one of these answers."""
        return all(tree.id_of(path) == known for path, known in self.files.items()) and all(
            tree.names(folder) == names for folder, names in self.folders.items()
        )


@dataclass(frozen=True, slots=True)
class Recorded:
    """A tree that notes what it is asked for."""

    below: IdentifiedTree
    _files: dict[str, str | None] = field(default_factory=dict)
    _folders: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def read(self, path: str) -> bytes | None:
        self._files.setdefault(path, self.below.id_of(path))
        return self.below.read(path)

    def names(self, folder: str) -> tuple[str, ...]:
        if folder not in self._folders:
            self._folders[folder] = self.below.names(folder)
        return self._folders[folder]

    def executable(self, path: str) -> bool:
        """Not noted: no prefix depends on it."""
        return self.below.executable(path)

    def outside(self, path: str) -> bool:
        return self.below.outside(path)

    @property
    def ids(self) -> SourceIds:
        return SourceIds(dict(self._files), dict(self._folders))


def ids_on_disk(tree: DiskTree, like: str) -> SourceIds:
    """What a folder was asked for so far, by the ids that git would give; `like` is an id of its repository."""
    trace = tree.trace
    return SourceIds({path: _blob_id(tree.read(path), like) for path in trace.files}, trace.folders)


def _blob_id(data: bytes | None, like: str) -> str | None:
    if data is None:
        return None
    named = b"blob %d\0%b" % (len(data), data)
    if len(like) == LONG_ID:
        return hashlib.sha256(named).hexdigest()
    return hashlib.sha1(named, usedforsecurity=False).hexdigest()
