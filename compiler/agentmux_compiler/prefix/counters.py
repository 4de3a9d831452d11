"""Which tokenizer counts for which model, and how far its figure may be off."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_compiler.prefix.models import Vocabulary, vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable

# Text of which only the size is known, over a fixed ratio of bytes to tokens: 5th to 95th percentile of 169 prompts in
# Markdown, for o200k_base and for Claude alike.
ESTIMATE_ERROR_PCT = 20.0
CLAUDE = "claude-"


@dataclass(frozen=True, slots=True)
class Count:
    """Tokens, how they were counted, and the bound of the error in per cent (0: exact, None: unknown)."""

    tokens: int
    method: str
    error_pct: float | None


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts texts by one vocabulary, each text once in a process: plans share their segments."""

    vocabulary: Vocabulary

    @property
    def method(self) -> str:
        name = self.vocabulary.name
        if not name.startswith(CLAUDE):
            return name
        from agentmux_compiler.prefix.claude_tokens import METHOD  # noqa: PLC0415

        return f"{METHOD} ({name})"

    @property
    def error_pct(self) -> float | None:
        return self.vocabulary.error_pct

    def count(self, text: str) -> int:
        """Tokens of `text` as plain text inside a prompt; names of special tokens count as what they are spelt with."""
        return _tokens(self.vocabulary.name, text)

    def estimate(self, size: int) -> int:
        """Tokens of `size` bytes of unknown English prompt text."""
        return round(size / self.vocabulary.bytes_per_token)

    def measured(self, text: str) -> Count:
        return Count(self.count(text), self.method, self.error_pct)

    def estimated(self, size: int) -> Count:
        ratio = self.vocabulary.bytes_per_token
        return Count(self.estimate(size), f"{ratio:g} bytes per token", ESTIMATE_ERROR_PCT)


def counter_for(vendor: str, model: str | None) -> Counter:
    """The counter of a model; an alias is resolved, an unnamed model is counted as its vendor's usual one."""
    return Counter(vocabulary(vendor, model))


def total(counts: Iterable[Count]) -> Count:
    """Several counts as one: methods joined, the error weighted by tokens, unknown if one of them is."""
    items = [item for item in counts if item.tokens]
    tokens = sum(item.tokens for item in items)
    methods = dict.fromkeys(item.method for item in items)
    errors = [item.tokens * item.error_pct for item in items if item.error_pct is not None]
    error = round(sum(errors) / tokens, 1) if items and len(errors) == len(items) else None
    return Count(tokens, ", ".join(methods), error if items else 0.0)


@functools.lru_cache(maxsize=16384)
def _tokens(name: str, text: str) -> int:
    if not text:
        return 0
    if name.startswith(CLAUDE):
        from agentmux_compiler.prefix import claude_tokens  # noqa: PLC0415  a megabyte of vocabularies

        return claude_tokens.count(text, name)
    # What no UTF-8 holds (an unpaired surrogate) would never reach a model as such.
    return len(_tokenizer(name).encode_ordinary(text.encode("utf-8", "replace").decode("utf-8")))


@functools.cache
def _tokenizer(name: str) -> _Tokenizer:
    from splintr import Tokenizer  # noqa: PLC0415  19 MB of vocabularies, loaded when the first text is counted

    return Tokenizer.from_pretrained(name)


if TYPE_CHECKING:
    from splintr import AnyTokenizer as _Tokenizer
