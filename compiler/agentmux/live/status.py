"""The status line and the closing line of a run: figures as words, `-` for one that nobody knows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.text import Text

from agentmux_compiler.render.visible import cells, head, visible
from agentmux_launcher.window import near_compaction, window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_launcher.accounting import Account

NONE = "-"
BETWEEN, NARROW = " · ", "  "
DIM, WARNING = "dim", "yellow"
THOUSAND, MILLION = 1_000, 1_000_000
MINUTE, HOUR = 60, 3_600


@dataclass(frozen=True, slots=True)
class Part:
    """A word of a status line. Where that is too narrow it is `brief`; then what has the highest `rank` goes first."""

    text: str
    rank: int
    style: str = DIM
    brief: str = ""

    @property
    def briefly(self) -> Part:
        return replace(self, text=self.brief or self.text)


def status(agent: str | None, provider: str, model: str | None, so_far: Account, seconds: float | None) -> list[Part]:
    """Everything the status line says, from left to right."""
    call = so_far.last_call
    served = call.cache_hit if call else None
    known = (call.model if call else None) or so_far.model or model
    return [
        Part(agent or NONE, 5),
        Part(provider, 6),
        Part(known or NONE, 4),
        _context(so_far),
        Part(f"cache {percent(served)}", 2),
        Part(dollars(so_far.usd), 3),
        Part(duration(seconds), 1),
    ]


def fitted(parts: Sequence[Part], width: int) -> Text:
    """The parts in one row of `width` cells, of which the last stays free; whatever has no place is left out."""
    left, between = list(parts), BETWEEN
    if _width(left, between) >= width:
        left, between = [part.briefly for part in left], NARROW
    while len(left) > 1 and _width(left, between) >= width:
        left.remove(max(left, key=lambda part: part.rank))
    line = Text(" ")
    for number, part in enumerate(left):
        line.append(between if number else "", DIM)
        line.append(head(visible(part.text), max(1, width - 2)), part.style)
    return line


def summary(so_far: Account, seconds: float | None) -> str | None:
    """What a run came to, in one line; None where nothing happened."""
    turns = sum(not turn.idle for turn in so_far.turns)
    if not turns:
        return None
    tokens = so_far.tokens
    said = [
        f"{turns} turn{'s' if turns > 1 else ''}",
        f"{counted(tokens.prompt if tokens else None)} tokens in, {counted(tokens.output if tokens else None)} out",
        f"cache {percent(so_far.cache_hit)}",
        dollars(so_far.usd),
        duration(seconds),
    ]
    return BETWEEN.join(said)


def counted(number: int | None) -> str:
    return NONE if number is None else f"{number:,}"


def short(number: int | None) -> str:
    """A count of tokens in few letters: 940, 20.0k, 168k, 1M."""
    if number is None:
        return NONE
    if number < THOUSAND:
        return str(number)
    unit, letter = (THOUSAND, "k") if number < MILLION - THOUSAND / 2 else (MILLION, "M")
    size = number / unit
    exact = size < 100 and number % unit  # noqa: PLR2004  three digits are enough
    return f"{size:.1f}{letter}" if exact else f"{size:.0f}{letter}"


def percent(part: float | None) -> str:
    return NONE if part is None else f"{100 * part:.0f}%"


def dollars(usd: float | None) -> str:
    if usd is None:
        return f"${NONE}"
    return f"${usd:.4f}" if usd < 1 else f"${usd:,.2f}"


def duration(seconds: float | None) -> str:
    """Hours, minutes and seconds as a clock has them."""
    if seconds is None:
        return NONE
    whole = int(seconds)
    hours, minutes = whole // HOUR, whole // MINUTE % MINUTE
    return f"{hours}:{minutes:02}:{whole % MINUTE:02}" if hours else f"{minutes}:{whole % MINUTE:02}"


def compacts(so_far: Account) -> str:
    """What to say once the CLI may summarise the conversation at any call."""
    size = window(so_far)
    of = f" of {short(size.tokens)}" if size else ""
    return f"context {short(so_far.context)}{of}: the CLI will soon compact the conversation"


def _context(so_far: Account) -> Part:
    size = window(so_far)
    used = so_far.context
    part = None if used is None or size is None else used / size.tokens
    brief = f"{short(used)}/{short(size.tokens if size else None)} {percent(part)}"
    if near_compaction(so_far):
        return Part(f"context {brief}, compacts soon", 0, WARNING, f"{brief}, compacts soon")
    return Part(f"context {brief}", 0, DIM, brief)


def _width(parts: Sequence[Part], between: str) -> int:
    """Cells it may take at most: some terminals draw a dot between two parts twice as wide."""
    widest = len(between) + between.count("·")
    return 1 + sum(cells(visible(part.text)) for part in parts) + widest * (len(parts) - 1)
