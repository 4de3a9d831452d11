"""How much of a prompt stays equal, in bytes and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.prefix.rendered import common_length, common_octets, octets
from agentmux_compiler.prefix.tokens import OPAQUE_BYTES_PER_TOKEN, OPAQUE_ERROR_PCT, estimate
from agentmux_compiler.report import TextKept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_compiler.prefix.rendered import Rendered
    from agentmux_compiler.prefix.tokens import Counter


def measure_text(rendered: Rendered, byte: int, own: int, counter: Counter) -> TextKept:
    """The whole prompt, kept up to `byte`, before which stand `own` characters of known text."""
    opaque = [piece for piece in rendered.pieces if piece.segment.opaque]
    guessed = estimate(sum(piece.size for piece in opaque))
    total = tokens_of(rendered, len(rendered.own), counter) + guessed
    kept = tokens_of(rendered, own, counter) + estimate(sum(piece.size for piece in opaque if piece.end <= byte))
    return TextKept(rendered.size, byte, total, kept, method(counter, opaque=bool(opaque)), _error(guessed, total))


def measure_own(rendered: Rendered, before: str, counter: Counter) -> TextKept:
    """The known text alone, as if no part of the CLI's stood between; `before` is the earlier one's."""
    own = rendered.own
    return TextKept(
        bytes_total=octets(own),
        bytes_kept=common_octets(before, own),
        tokens_total=tokens_of(rendered, len(own), counter),
        tokens_kept=tokens_of(rendered, common_length(before, own), counter),
        method=counter.method,
        error_pct=0.0,
    )


def method(counter: Counter, *, opaque: bool) -> str:
    return (
        f"{counter.method}, the CLI's own parts at {OPAQUE_BYTES_PER_TOKEN} bytes a token" if opaque else counter.method
    )


def _error(guessed: int, total: int) -> float:
    return round(OPAQUE_ERROR_PCT * guessed / total, 1) if guessed else 0.0


def tokens_of(rendered: Rendered, length: int, counter: Counter) -> int:
    """Tokens of the first `length` characters of the known text; each segment counts by itself."""
    total = 0
    for text in _counted(rendered):
        if length <= 0:
            break
        total += counter.count(text[:length])
        length -= len(text)
    return total


def _counted(rendered: Rendered) -> Iterator[str]:
    """Each segment with the empty line behind it: a tokenizer joins line ends, but not what follows them."""
    pieces = rendered.pieces
    for piece, following in zip(pieces, (*pieces[1:], None), strict=True):
        if piece.segment.text is not None:
            yield piece.segment.text + (following.lead if following else "")
