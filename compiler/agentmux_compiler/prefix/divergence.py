"""Where two rendered prompts part: the first byte, what stood there and what stands there now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.lowered import PrefixSegment
from agentmux_compiler.prefix.rendered import common_length, common_octets, octets

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentmux_compiler.prefix.rendered import Rendered

LEAD, REST, EXCERPT = 32, 28, 40
VISIBLE = {" ": "·", "\t": "␉", "\r": "␍", "\n": "␊", "\u00a0": "⍽", "\u3000": "□"}


@dataclass(frozen=True, slots=True)
class Side:
    """The run of known text around a divergence, and the opaque part that follows it."""

    run: str
    index: int
    following: PrefixSegment | None

    def excerpt(self, *, signs: bool) -> str:
        """40 characters or more around the place, from its own line on; then the name of an opaque part in brackets.

        `signs` writes white space as signs. `…` stands where the line begins before that.
        """
        line = self.run.rfind("\n", 0, self.index) + 1
        start = max(line, self.index - LEAD)
        end = max(start + EXCERPT, self.index + REST)
        text = self.run[start:end]
        shown = "…" * (start > line) + (with_white_space(text) if signs else text)
        return shown if end <= len(self.run) or not self.following else f"{shown}[{self.following.name}]"


@dataclass(frozen=True, slots=True)
class Divergence:
    """`byte` is counted in the later prompt; `own` are the characters of known text before it."""

    byte: int
    own: int
    before: Side
    after: Side


def diverge(
    before: Rendered, after: Rendered, same: Callable[[PrefixSegment, PrefixSegment], bool]
) -> Divergence | None:
    """The first difference of two prompts, where `same` tells whether two opaque parts hold the same text."""
    byte = own = 0
    for index, (old, new) in enumerate(zip(before.runs, after.runs, strict=False)):
        left = before.opaque[index] if index < len(before.opaque) else None
        right = after.opaque[index] if index < len(after.opaque) else None
        if old != new or not _same(left, right, same):
            common = common_length(old, new)
            return Divergence(
                byte + common_octets(old, new), own + common, Side(old, common, left), Side(new, common, right)
            )
        byte += octets(new) + (right.size if right else 0)
        own += len(new)
    return None


def _same(
    left: PrefixSegment | None, right: PrefixSegment | None, same: Callable[[PrefixSegment, PrefixSegment], bool]
) -> bool:
    return left is right if left is None or right is None else same(left, right)


def white_space_only(before: str, after: str) -> bool:
    """Whether two texts hold the same words in the same order."""
    return before.split() == after.split()


def with_white_space(text: str) -> str:
    """Blanks, tabs and line ends written as signs."""
    return "".join(VISIBLE.get(character, character) for character in text)
