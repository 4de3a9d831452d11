"""Token counts, offline: text exactly by o200k_base, the CLI's own parts by a stated ratio."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from splintr import AnyTokenizer

# Measured on a Claude Code 2.1.197 request of 76.5 KB (tools, system text, reminders): 18,819 tokens, 2026-11-30.
OPAQUE_BYTES_PER_TOKEN = 4.07
# Bytes over a fixed ratio against o200k_base, over 169 prompts in Markdown and 56 JSON files, 5th to 95th percentile.
OPAQUE_ERROR_PCT = 30.0


@cache
def _tokenizer() -> AnyTokenizer:
    from splintr import Tokenizer  # noqa: PLC0415  19 MB of vocabularies, loaded when the first text is counted

    return Tokenizer.from_pretrained("o200k_base")


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts the tokens of texts, each text once: many plans share their segments.

    The text is its own key: to digest it would cost as much as to compare it.
    """

    method: str = "o200k_base"
    _counts: dict[str, int] = field(default_factory=dict, repr=False)

    def count(self, text: str) -> int:
        """Tokens of `text` as plain text; the names of special tokens in it count as what they are spelt with."""
        known = self._counts.get(text)
        if known is None:
            known = self._counts[text] = _count(text)
        return known


def _count(text: str) -> int:
    if not text:
        return 0
    # What no UTF-8 holds (an unpaired surrogate) would never reach a model as such.
    return len(_tokenizer().encode_ordinary(text.encode("utf-8", "replace").decode("utf-8")))


def estimate(opaque_bytes: int) -> int:
    """Tokens of text of which only the size is known."""
    return round(opaque_bytes / OPAQUE_BYTES_PER_TOKEN)
