"""What a child is started with, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

TIMED_OUT, FAILED_BEFORE, NOT_EXECUTABLE, NOT_FOUND, SIGNALLED = 124, 125, 126, 127, 128


@dataclass(frozen=True, slots=True)
class Size:
    """Of a terminal, in characters."""

    rows: int = 25
    columns: int = 200


@dataclass(frozen=True, slots=True)
class Wiring:
    """How each stream of the child is wired; a raw PTY echoes nothing and translates no line end."""

    stdin: Literal["pipe", "pty"] = "pipe"
    stdout: Literal["pipe", "raw-pty", "pty"] = "raw-pty"
    stderr: Literal["pipe", "pty"] = "pipe"

    @property
    def terminal(self) -> bool:
        """Whether the child has a terminal of its own and nothing besides."""
        return self.stdin == "pty"


@dataclass(frozen=True, slots=True)
class Command:
    """What to start: `argv` with a path first, exactly this environment, in this folder."""

    argv: Sequence[str] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    cwd: str


@dataclass(frozen=True, slots=True)
class Exit:
    """How a child ended: with a code, or by a signal."""

    code: int | None = None
    signal: int | None = None

    @property
    def shown(self) -> int:
        """The one number that shells make of it."""
        if self.signal is not None:
            return SIGNALLED + self.signal
        return 0 if self.code is None else self.code


class SpawnError(Exception):
    """The child could not be started; `exit_code` is what `env` and `timeout` give for the same reason."""

    def __init__(self, message: str, exit_code: int = FAILED_BEFORE) -> None:
        super().__init__(message)
        self.exit_code = exit_code
