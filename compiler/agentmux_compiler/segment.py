"""Segments: the named spans of text that an agent's prompt is made of, each with its source."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agentmux_compiler.diagnostics import Span


class Kind(StrEnum):
    """What a segment of our own text is."""

    GLOBAL_BUNDLE = "global-bundle"
    SOUL = "soul"
    INSTRUCTIONS = "instructions"
    BUNDLE = "bundle"
    SKILLS_INDEX = "skills-index"
    STARTUP = "startup"


@dataclass(frozen=True, slots=True)
class Text:
    """Text with its origin: `lines[i]` is the line of `path` (counted from 1) that line i of `text` came from.

    `text` has LF line ends, no BOM and, unless empty, exactly one final newline.
    """

    text: str
    path: str
    lines: tuple[int, ...]

    def line(self, index: int) -> int:
        """Source line of text line `index` (from 0); past the end, the last one."""
        return self.lines[min(index, len(self.lines) - 1)] if self.lines else 1


@dataclass(frozen=True, slots=True)
class Segment:
    """One named span of an agent's text.

    `name` is its identity over builds and its place under `snapshots/segments/` (`bundles/house-style.md`,
    `agents/reviewer/soul.md`, with `@AGENT` or `+PROVIDER` before the ending where the text depends on it).
    `asked_at` is the place in `agents.d/` that put it here. Volatile placeholders stay in the text.
    """

    name: str
    kind: Kind
    body: Text
    asked_at: Span
    volatile: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.body.text

    @property
    def stability(self) -> str:
        return "volatile" if self.volatile else "stable"
