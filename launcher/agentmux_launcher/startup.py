"""The first turn of a new session: what an agent is told before it is asked for the first time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SKIP = "__SKIP__"
PEERS = 10

# Constant, whatever the agent: what keys a session by the first characters of its first prompt sees the same ones.
_HEADING = "# Session Context\n\n"


@dataclass(frozen=True, slots=True)
class Peer:
    """An agent of the project."""

    slug: str
    display: str
    provider: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the agent is, and where. `date` is ISO, in UTC."""

    display: str
    slug: str
    provider: str
    folder: str
    version: str
    date: str


def opening(identity: Identity, startup: str | None, peers: Sequence[Peer]) -> str:
    """The text in front of the first prompt. What changes least comes first, so that a cache keeps the most.

    Empty where the startup text is `__SKIP__`.
    """
    text = (startup or "").strip()
    if text == SKIP:
        return ""
    sections = [
        f"## Startup Instructions\n\n{text}\n" if text else "",
        _identity(identity),
        _peers(identity, peers),
        f"## Session\n\n- AgentMux Version: {identity.version}\n- Date (UTC): {identity.date}\n",
        f"---\n\n{_DIRECTIVE}\n" if text else "---\n",
    ]
    return _HEADING + "\n".join(section for section in sections if section) + "\n"


_DIRECTIVE = (
    "**ACTION REQUIRED:** follow the startup instructions above now, then do what is asked below. Do not answer with "
    "an acknowledgement alone."
)


def first_turn(before: str, prompt: str) -> str:
    """The first turn. A command of the CLI's own (`/review`) is one only where it begins the turn."""
    return prompt if prompt.startswith("/") else before + prompt


def _identity(identity: Identity) -> str:
    rows = [("Name", identity.display), ("Slug", identity.slug), ("Provider", identity.provider)]
    if identity.slug == identity.display:
        del rows[1]
    listed = "".join(f"- {name}: {value}\n" for name, value in (*rows, ("Working Directory", identity.folder)))
    return f"## Identity\n\n{listed}"


def _peers(identity: Identity, peers: Sequence[Peer]) -> str:
    others = [peer for peer in peers if peer.slug != identity.slug]
    if not others:
        return ""
    rows = [f"- **{peer.display}** ({peer.provider})\n" for peer in others[:PEERS]]
    if len(others) > PEERS:
        rows.append(f"- and {len(others) - PEERS} more\n")
    return "## Peer Agents\n\n" + "".join(rows)
