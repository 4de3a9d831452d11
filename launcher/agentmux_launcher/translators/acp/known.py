"""What ACP agents write that has no event: it is known, says nothing of a turn, and is let pass."""

from __future__ import annotations

# Notifications of agents' own, by what each of them wrote when it was measured, 2026-11-30.
EXTENSIONS = frozenset(
    {
        "_auth/status_update",  # claude-agent-acp 0.101.0, codex-acp 2.6.0: which key is used
        "_x.ai/mcp/init_progress",  # Grok 1.0.41, as all that begin so
        "_x.ai/mcp/servers_updated",
        "_x.ai/mcp_initialized",
        "_x.ai/models/update",
        "_x.ai/queue/changed",
        "_x.ai/session/prompt_complete",
        "_x.ai/session/setup",
        "_x.ai/sessions/changed",
        "qwen/notify/session/prompt-suggestion",  # Qwen Code 0.24.4: what the user might say next
    }
)
# Updates inside of Grok's own notifications. Those that count tokens do so again in the answer to the prompt.
GROK_UPDATES = frozenset(
    {
        "background_tasks",
        "interaction_resolved",
        "last_turn_summary",
        "pending_interaction",
        "response_completed",
        "session_summary_generated",
        "tool_call_delta_chunk",
        "turn_completed",
    }
)
# Requests of the protocol that a client serves: what they are for shows in the tool calls.
SERVED = frozenset(
    {
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/kill",
        "terminal/output",
        "terminal/release",
        "terminal/wait_for_exit",
    }
)
