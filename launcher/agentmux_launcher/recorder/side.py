"""Requests that a CLI makes beside the conversation, and the harmless answers they get: data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_launcher.recorder.answers import Answer

if TYPE_CHECKING:
    from agentmux_launcher.recorder.wire import RenderedRequest


@dataclass(frozen=True, slots=True)
class SideRequest:
    """A kind of side request, told by how the first text behind the tools and the last part of its prompt begin.

    Only beginnings count: a conversation may quote any of these sentences. `max_tokens` must be equal where given.
    """

    name: str
    answer: str
    source: str
    opening: str = ""
    last: str = ""
    max_tokens: int | None = None

    def is_asked_by(self, request: RenderedRequest) -> bool:
        texts = [part.text.lstrip() for part in request.parts if part.layer != "tools"]
        if not texts or self.max_tokens not in {None, request.parameters.get("max_tokens")}:
            return False
        return texts[0].startswith(self.opening) and texts[-1].startswith(self.last)


SIDE_REQUESTS = (
    SideRequest(
        "routing",
        '{"reasoning":"recorded","model_choice":"pro","complexity_reasoning":"recorded","complexity_score":50}',
        "seen, Gemini CLI 0.61.0 without -m, 2026-11-30",
        opening="You are a specialized Task Routing AI.",
    ),
    SideRequest(
        "loop-check",
        '{"unproductive_state_analysis":"none","unproductive_state_confidence":0.0}',
        "read in the package, Gemini CLI 0.61.0, 2026-11-30",
        opening="You are a diagnostic agent that determines whether a conversational AI assistant is stuck",
    ),
    SideRequest(
        "next-speaker",
        '{"reasoning":"recorded","next_speaker":"user"}',
        "read in the package, Gemini CLI 0.61.0, 2026-11-30",
        last="Analyze *only* the content and structure of your immediately preceding res",
    ),
    SideRequest(
        "session-summary",
        "Recorded session",
        "read in the package, Gemini CLI 0.61.0, 2026-11-30",
        last="Summarize the user's primary intent or goal in this conversation in ONE sentence",
    ),
    SideRequest(
        "memory",
        "Nothing to keep.",
        "seen after every turn, Qwen Code 0.24.4, 2026-11-30",
        opening="You are now acting as the managed memory extraction subagent",
    ),
    SideRequest(
        "title",
        '{"title": "Recorded session"}',
        "read in the package, Qwen Code 0.24.4, 2026-11-30",
        opening="Generate a concise, sentence-case title",
    ),
    SideRequest(
        "title",
        "Recorded session",
        "seen before the first turn, OpenCode 1.18.33, 2026-11-30",
        opening="You are a title generator.",
    ),
    SideRequest(
        "title",
        '{"title": "Recorded session"}',
        "seen before the first turn, claude-agent-acp 0.101.0, 2026-11-30",
        opening="You are a Claude agent, built on Anthropic's Claude Agent SDK.",
        last="<session>\n",
    ),
    SideRequest(
        "title",
        "Recorded session",
        "seen before the first turn, Grok Build 1.0.41, 2026-11-30",
        opening="You are tasked with generating the session title.",
    ),
    SideRequest(
        "title",
        "Recorded session",
        "seen after a second turn, Grok Build 1.0.41, 2026-11-30",
        last="<system-reminder>Generate a session title for the conversation above.",
    ),
    SideRequest(
        "suggestion",
        "Recorded",
        "seen after a second turn or a tool's, claude-agent-acp 0.101.0 and Qwen Code 0.24.4 by ACP, 2026-11-30",
        last="[SUGGESTION MODE: Suggest what the user might naturally type next",
    ),
    SideRequest(
        "dashboard",
        "Recorded",
        "seen after every turn, Grok Build 1.0.41, 2026-11-30",
        last="<system-reminder>Write an ultra-short dashboard line that captures the AGENT'S REPLY",
    ),
    SideRequest(
        "probe",
        "pong",
        "read in the package, Kimi Code 2.1.0, 2026-11-30",
        opening="You are a connectivity probe.",
    ),
    SideRequest(
        "quota",
        "ok",
        "read in the package, Claude Code 2.1.332, 2026-11-30",
        opening="quota",
        last="quota",
        max_tokens=1,
    ),
)


def side_request(request: RenderedRequest) -> SideRequest | None:
    """The kind of side request that this is, None for a turn of the conversation."""
    return next((each for each in SIDE_REQUESTS if each.is_asked_by(request)), None)


def harmless(kind: SideRequest) -> Answer:
    """The answer to a side request that changes nothing for the conversation."""
    return Answer(text=kind.answer, deltas=1)
