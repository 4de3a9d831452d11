from __future__ import annotations

from dataclasses import replace

import pytest

from agentmux_launcher.startup import Identity, Peer, first_turn, opening

IDENTITY = Identity("Code Reviewer", "reviewer", "claude", "/home/me/shop", "1.2.3", "2026-11-30")
PEERS = [Peer("tester", "Tester", "codex"), Peer("reviewer", "Code Reviewer", "claude"), Peer("docs", "Docs", "gemini")]


def test_what_changes_least_stands_first():
    assert opening(IDENTITY, "Read CONTRIBUTING.md first.\n", PEERS) == (
        "# Session Context\n\n"
        "## Startup Instructions\n\nRead CONTRIBUTING.md first.\n\n"
        "## Identity\n\n"
        "- Name: Code Reviewer\n- Slug: reviewer\n- Provider: claude\n- Working Directory: /home/me/shop\n\n"
        "## Peer Agents\n\n- **Tester** (codex)\n- **Docs** (gemini)\n\n"
        "## Session\n\n- AgentMux Version: 1.2.3\n- Date (UTC): 2026-11-30\n\n"
        "---\n\n"
        "**ACTION REQUIRED:** follow the startup instructions above now, then do what is asked below. "
        "Do not answer with an acknowledgement alone.\n\n"
    )


def test_sections_with_nothing_to_say_leave_no_trace():
    alone = replace(IDENTITY, display="reviewer")

    assert opening(alone, None, PEERS[1:2]) == (
        "# Session Context\n\n"
        "## Identity\n\n- Name: reviewer\n- Provider: claude\n- Working Directory: /home/me/shop\n\n"
        "## Session\n\n- AgentMux Version: 1.2.3\n- Date (UTC): 2026-11-30\n\n"
        "---\n\n"
    )


def test_the_first_characters_are_the_same_for_every_agent():
    others = [opening(replace(IDENTITY, display=name, slug=name), name, []) for name in ("a", "b" * 30)]

    assert {text[:21] for text in others} == {"# Session Context\n\n##"}


def test_peers_are_listed_up_to_a_number():
    many = [Peer(f"p{number}", f"P{number}", "codex") for number in range(13)]

    assert "- **P9** (codex)\n- and 3 more\n" in opening(IDENTITY, None, many)


@pytest.mark.parametrize("startup", ["__SKIP__", "\n __SKIP__\n"])
def test_a_word_leaves_it_all_out(startup):
    assert not opening(IDENTITY, startup, PEERS)


def test_a_command_of_the_clis_own_is_not_opened():
    assert first_turn("opening\n", "/review now") == "/review now"
    assert first_turn("opening\n", "review now") == "opening\nreview now"
