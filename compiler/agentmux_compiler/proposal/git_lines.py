"""What git must know of a project: lines for `.gitignore` and `.gitattributes`, and which files it ignores."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from agentmux_compiler.trees.git_tree import INHERITED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

IGNORE_FILE, ATTRIBUTES_FILE = ".gitignore", ".gitattributes"
_IGNORED = (".agentmux/", "/.agentmux/", ".agentmux", "/.agentmux")


def ignore_lines(data: bytes | None) -> tuple[str, ...]:
    """The lines that `.gitignore` lacks."""
    return () if {line.strip() for line in _lines(data)} & set(_IGNORED) else (_IGNORED[0],)


def attribute_lines(data: bytes | None, wanted: Iterable[str]) -> tuple[str, ...]:
    """Those of `wanted` that `.gitattributes` lacks; none where it gives every file LF ends already."""
    there = [line.split() for line in _lines(data)]
    if any(words[:1] == ["*"] and "eol=lf" in words and "-text" not in words for words in there):
        return ()
    return tuple(line for line in wanted if line.split() not in there)


def appended(data: bytes | None, lines: Sequence[str]) -> bytes:
    """The file with lines behind what it holds, which stays as it is, in the line ends that it has."""
    before = data or b""
    newline = b"\r\n" if b"\r\n" in before else b"\n"
    gap = newline if before and not before.endswith(b"\n") else b""
    return before + gap + b"".join(line.encode() + newline for line in lines)


def ignored(root: Path, paths: Iterable[str]) -> frozenset[str]:
    """Those of the paths that git ignores; none where there is no git, or no repository."""
    asked = "".join(f"{path}\0" for path in paths)
    environment = {name: value for name, value in os.environ.items() if name not in INHERITED}
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(root), "check-ignore", "-z", "--stdin"],  # noqa: S607  wherever git is
            input=asked.encode("utf-8", "surrogateescape"),
            capture_output=True,
            check=False,
            env=environment,
        )
    except OSError:
        return frozenset()
    return frozenset(done.stdout.decode("utf-8", "surrogateescape").split("\0")) - {""}


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()
