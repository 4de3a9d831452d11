"""Run a plan against the recorder, with exactly the streams its CLI wants, and keep everything that came of it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import tty
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentmux_launcher.arguments import expand

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from agentmux_launcher.manifest import LaunchPlan


@dataclass(frozen=True, slots=True)
class Ran:
    """How a CLI ended and all that it wrote. `exit_code` is negative where a signal ended it."""

    argv: tuple[str, ...]
    exit_code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False

    @property
    def frames(self) -> list[dict[str, Any]]:
        """The lines of stdout that are JSON objects."""
        return [frame for line in self.stdout.splitlines() if (frame := _frame(line)) is not None]

    def last(self, field: str) -> Any:
        """The value of a field in the last frame that has it, None where none has."""
        return next((frame[field] for frame in reversed(self.frames) if field in frame), None)


def _frame(line: bytes) -> dict[str, Any] | None:
    with contextlib.suppress(ValueError):
        value = json.loads(line)
        return value if isinstance(value, dict) else None
    return None


def plan_argv(plan: LaunchPlan, project: Path, executable: Path, **values: str) -> list[str]:
    """The command of a launch plan; `values` are those of its slots (`resume`, `prompt`)."""
    return [str(executable), *expand(plan.argv, lambda path: (project / path).read_text(encoding="utf-8"), values)]


def plan_env(plan: LaunchPlan, sandbox: Mapping[str, str], *, trusted: bool = False) -> dict[str, str]:
    """What the plan sets, renames and removes, over a sandbox's environment (which holds the redirection)."""
    gate = plan.gate.set if plan.gate and trusted else {}
    renamed = {name: sandbox[source] for name, source in plan.env.renamed.items() if source in sandbox}
    env = {**sandbox, **gate, **plan.env.set, **renamed}
    return {name: value for name, value in env.items() if name not in plan.env.unset}


def run_plan(  # noqa: PLR0913  all but the argv by name
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    prompt: str | None = None,
    raw_pty: bool = False,
    timeout: float = 120,
) -> Ran:
    """Start an expanded argv with exactly this environment and `prompt` on stdin (None: nothing), to its end.

    stdin and stderr are pipes; stdout too, or a raw PTY. Past `timeout` seconds the process group is killed.
    """
    reader, writer = _terminal() if raw_pty else os.pipe()
    child = subprocess.Popen(
        list(argv),
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=writer,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    os.close(writer)
    out: list[bytes] = []
    draining = threading.Thread(target=_drain, args=(reader, out), daemon=True)
    draining.start()
    with child:
        stderr, timed_out = _to_the_end(child, (prompt or "").encode(), timeout)
    draining.join(10)
    os.close(reader)
    return Ran(tuple(argv), child.returncode, b"".join(out), stderr, timed_out)


def _to_the_end(child: subprocess.Popen[bytes], prompt: bytes, timeout: float) -> tuple[bytes, bool]:
    try:
        return child.communicate(prompt, timeout=timeout)[1], False
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return child.communicate()[1], True


def _terminal() -> tuple[int, int]:
    reader, writer = os.openpty()
    tty.setraw(writer)
    return reader, writer


def _drain(reader: int, out: list[bytes]) -> None:
    # The reading side of a PTY ends with an error where a pipe ends with nothing.
    with contextlib.suppress(OSError):
        while data := os.read(reader, 1 << 16):
            out.append(data)
