"""How much of a prompt stays equal, in bytes and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_compiler.prefix.counters import ESTIMATE_ERROR_PCT
from agentmux_compiler.prefix.rendered import common_length, common_octets, octets
from agentmux_compiler.report import TextKept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentmux_compiler.prefix.counters import Counter
    from agentmux_compiler.prefix.rendered import Rendered


def measure_text(rendered: Rendered, byte: int, own: int, counter: Counter) -> TextKept:
    """The whole prompt, kept up to `byte`, before which stand `own` characters of known text."""
    opaque = [piece for piece in rendered.pieces if piece.segment.opaque]
    guessed = counter.estimate(sum(piece.size for piece in opaque))
    counted = tokens_of(rendered, len(rendered.own), counter)
    kept = counter.estimate(sum(piece.size for piece in opaque if piece.end <= byte))
    return TextKept(
        bytes_total=rendered.size,
        bytes_kept=byte,
        tokens_total=counted + guessed,
        tokens_kept=tokens_of(rendered, own, counter) + kept,
        method=method(counter, opaque=bool(opaque)),
        error_pct=_error(counted, guessed, counter),
    )


def measure_own(rendered: Rendered, before: str, counter: Counter) -> TextKept:
    """The known text alone, as if no part of the CLI's stood between; `before` is the earlier one's."""
    own = rendered.own
    return TextKept(
        bytes_total=octets(own),
        bytes_kept=common_octets(before, own),
        tokens_total=tokens_of(rendered, len(own), counter),
        tokens_kept=tokens_of(rendered, common_length(before, own), counter),
        method=counter.method,
        error_pct=counter.error_pct,
    )


def method(counter: Counter, *, opaque: bool) -> str:
    ratio = counter.vocabulary.bytes_per_token
    return f"{counter.method}, the CLI's own parts at {ratio:g} bytes a token" if opaque else counter.method


def _error(counted: int, guessed: int, counter: Counter) -> float | None:
    """Per cent of both together; what nobody knows of the counted part nobody knows of the whole."""
    if counter.error_pct is None:
        return None
    wrong = counted * counter.error_pct + guessed * ESTIMATE_ERROR_PCT
    return round(wrong / (counted + guessed), 1) if counted + guessed else 0.0


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
