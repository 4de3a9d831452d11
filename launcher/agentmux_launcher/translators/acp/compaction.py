"""How ACP agents say that they summarised a conversation: an update, a tool that is none, words of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentmux_launcher.events import Compaction, Event, Notice
from agentmux_launcher.translators.values import count, first, mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Read in codex-acp 2.6.0 and pi-acp 0.0.34, 2026-11-30.
DONE = re.compile(r"\*Context compacted\b|Automatic compaction finished\b")


class Compactions:
    """The calls of Claude's tool `compact`, which no model called (read in claude-agent-acp 0.101.0, 2026-11-30)."""

    def __init__(self) -> None:
        self._calls: set[str] = set()

    def is_one(self, call_id: str, said: Mapping[str, Any]) -> bool:
        tool = mapping(mapping(said.get("_meta")).get("claudeCode")).get("toolName")
        if tool == "compact" and said.get("kind") == "think":
            self._calls.add(call_id)
        return call_id in self._calls


def update(said: Mapping[str, Any]) -> Iterator[Event]:
    """`compaction_update`, or what a tool's call says in its place: only its end is news."""
    known, status = mapping(said.get("rawOutput")), first(said.get("status"))
    if status == "completed":
        yield Compaction(first(known.get("trigger")), count(known.get("preTokens")), count(known.get("postTokens")))
    elif status == "failed":
        why = first(said.get("error"), known.get("error"))
        yield Notice(f"the conversation could not be compacted{f': {why}' if why else ''}", "cli")


def own_words(text: str) -> Iterator[Event]:
    if DONE.match(text):
        yield Compaction()
