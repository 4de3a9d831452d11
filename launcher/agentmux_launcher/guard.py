"""The guardian from the launcher's side: started with the first child, dismissed when all is seen to."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentmux_launcher.processes import Known

_PROGRAM = str(Path(__file__).with_name("pty") / "guardian.py")


class Guard:
    """Ends what a run has started should this process end without having done so.

    Not on Windows, where a job object does it.
    """

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._program: subprocess.Popen[bytes] | None = None

    def watch(self, child: Known) -> None:
        if sys.platform == "win32":
            return
        if self._program is None:
            self._program = self._started()
        self._tell(f"{child.pid} {child.started}")

    def dismiss(self) -> None:
        """Everything is seen to."""
        if self._program is None:
            return
        self._tell("done")
        with contextlib.suppress(OSError):
            assert self._program.stdin is not None  # noqa: S101  it was asked for
            self._program.stdin.close()
        self._program.wait()
        self._program = None

    def _started(self) -> subprocess.Popen[bytes] | None:
        """A session of its own: what ends the launcher's group, or its terminal, does not end it."""
        with contextlib.suppress(OSError):
            return subprocess.Popen(  # noqa: S603  our own
                [sys.executable, "-I", "-S", _PROGRAM, self._run_id],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": os.defpath},
                start_new_session=True,
            )
        return None

    def _tell(self, line: str) -> None:
        if self._program is not None and self._program.stdin is not None:
            with contextlib.suppress(OSError):
                self._program.stdin.write(f"{line}\n".encode())
                self._program.stdin.flush()
