"""Outlives the launcher to end what it leaves behind: a program of its own, told of each child on its stdin.

    python -I -S guardian.py RUN

Lines are `PID STARTED` for a child of the launcher, and `done` where the launcher itself has seen to everything. Where
its stdin ends without that, the launcher is gone.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

_OF_ITSELF, _GRACE = 1.0, 3.0  # seconds for a CLI to end because its terminal is gone, and after it was asked to


def main(run_id: str) -> None:
    """Wait for the end of the launcher; end what its run has left."""
    told = [line.rstrip("\n") for line in sys.stdin]
    if "done" in told:
        return
    time.sleep(_OF_ITSELF)
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from agentmux_launcher import processes  # noqa: PLC0415  most guardians never need it

    children = [processes.Known(int(pid), started) for pid, _, started in (line.partition(" ") for line in told)]
    processes.end(lambda: processes.of_run(run_id, children), _GRACE)


if __name__ == "__main__":
    main(sys.argv[1])
