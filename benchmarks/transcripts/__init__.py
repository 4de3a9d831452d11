"""Synthetic transcripts of every shape, and what they truly hold under each way to count them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from . import claude, others
from .source import Shape, Source
from .truth import FIGURES, Truth

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["FIGURES", "PROVIDERS", "Shape", "Truth", "write"]

WRITERS = {"claude": claude.write, "codex": others.codex, "gemini": others.gemini, "qwen": others.qwen}
PROVIDERS = tuple(WRITERS)


def write(home: Path, shape: Shape, providers: tuple[str, ...] = PROVIDERS) -> Truth:
    """Write the home of a person who uses these CLIs; gives what it truly holds."""
    truth = Truth()
    for number, provider in enumerate(providers):
        WRITERS[provider](home, Source(replace(shape, seed=shape.seed + number)), truth)
    return truth
