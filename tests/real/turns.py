"""The shortest headless turns of each CLI, written by hand: what the recorder's own tests need, apart from any plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentmux_launcher.recorder import ToolCall

from .run import Ran, run_plan

if TYPE_CHECKING:
    from pathlib import Path

    from .sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Turns:
    """How one CLI is asked. `{}` in `argv` is the prompt, which else comes on stdin; `{id}` in `resume` the session.

    `place` is where in the request the instruction file `instructions` stands, `tool` a call that prints TOOL-42
    (or lists the folder), `allow` the arguments that let it pass, `session` the field of a frame with the id,
    `last` what stands behind all other arguments.
    """

    instructions: str
    place: str
    argv: tuple[str, ...]
    resume: tuple[str, ...]
    session: str
    tool: ToolCall
    allow: tuple[str, ...] = ()
    last: tuple[str, ...] = ()


# Qwen Code 0.24.4 now and then loses the output of a command that ends at once.
_ECHO = "echo TOOL-$((40+2)); sleep 0.5"

TURNS = {
    "claude": Turns(
        "CLAUDE.md",
        "messages[0](user).content[0]",
        ("-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--model", "sonnet"),
        ("-r", "{id}"),
        "session_id",
        ToolCall("Bash", {"command": _ECHO, "description": "probe"}),
        ("--permission-mode", "bypassPermissions"),
    ),
    "codex": Turns(
        "AGENTS.md",
        "input[2](user).content[0]",
        ("exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5.5"),
        ("resume", "{id}"),
        "thread_id",
        ToolCall("exec_command", {"cmd": _ECHO}),
        last=("-",),
    ),
    "gemini": Turns(
        "GEMINI.md",
        "contents[0](user).parts[0]",
        ("-p", "{}", "-o", "stream-json", "-m", "gemini-2.5-pro"),
        ("-r", "{id}"),
        "session_id",
        ToolCall("list_directory", {"dir_path": "."}),
    ),
    "kimi": Turns(
        "AGENTS.md",
        "messages[0](system).content[0]",
        ("-p", "{}", "--output-format", "stream-json"),
        ("-r", "{id}"),
        "session_id",
        ToolCall("Bash", {"command": _ECHO}),
    ),
    "opencode": Turns(
        "AGENTS.md",
        "messages[0](system).content[0]",
        ("run", "--format", "json", "{}"),
        ("-s", "{id}"),
        "sessionID",
        ToolCall("bash", {"command": _ECHO, "description": "probe"}),
    ),
    "qwen": Turns(
        "QWEN.md",
        "messages[0](system).content[0]",
        ("-p", "{}", "-o", "stream-json", "--include-partial-messages", "--auth-type", "openai", "--yolo"),
        ("-r", "{id}"),
        "session_id",
        ToolCall("run_shell_command", {"command": _ECHO, "is_background": False}),
    ),
}


def take_turn(provider: str, executable: Path, sandbox: Sandbox, prompt: str, session: str | None = None) -> Ran:
    """One turn of a CLI in its sandbox; with `session`, a turn that goes on with it."""
    turns = TURNS[provider]
    going_on = [word.replace("{id}", session) for word in turns.resume] if session else []
    words = [word.replace("{}", prompt) for word in (*turns.argv, *turns.allow)]
    on_stdin = "{}" not in turns.argv
    argv = [str(executable), *words, *going_on, *turns.last]
    return run_plan(
        argv, env=sandbox.env, cwd=sandbox.project, prompt=prompt if on_stdin else None, raw_pty=True, timeout=180
    )
