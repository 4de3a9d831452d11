"""Readers of what CLIs write down of their sessions: bytes in, responses out, one module for each format."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmux_usage.readers.base import Reader

# Each module and its class; a module is loaded when its first file is read.
READERS = {
    "claude": ("claude", "ClaudeReader"),
    "codex": ("codex", "CodexReader"),
    "gemini": ("gemini", "GeminiReader"),
    "gemini-json": ("gemini", "GeminiFileReader"),
    "qwen": ("qwen", "QwenReader"),
    "run": ("run", "RunReader"),
}


def reader(name: str) -> type[Reader]:
    """The reader of a format."""
    module, kind = READERS[name]
    found: type[Reader] = getattr(importlib.import_module(f"{__name__}.{module}"), kind)
    return found
