"""A tree with some files replaced, to try a change before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentmux_compiler.tree import MemoryTree, Tree, byte_order


@dataclass(frozen=True, slots=True)
class OverlayTree:
    """`files` stand over what `below` holds; nothing is ever removed. `executables` are those that may be run, too."""

    below: Tree
    files: Mapping[str, bytes]
    executables: frozenset[str] = frozenset()

    def read(self, path: str) -> bytes | None:
        return self.files[path] if path in self.files else self.below.read(path)

    def names(self, folder: str) -> tuple[str, ...]:
        names = {*self.below.names(folder), *MemoryTree(self.files).names(folder)}
        return tuple(sorted(names, key=byte_order))

    def executable(self, path: str) -> bool:
        return path in self.executables or self.below.executable(path)

    def outside(self, path: str) -> bool:
        return self.below.outside(path)
