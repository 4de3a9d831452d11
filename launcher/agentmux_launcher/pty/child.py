"""Runs in the child, between its start and its CLI: what only a process itself can do, then `exec`.

A program of its own, since nothing may run between `fork` and `exec` once there are threads. It imports as little as it
can: every CLI waits for it.

    python -I -S child.py REPORT PARENT TERMINAL LOCALE FOLDER EXECUTABLE ARGUMENT...

REPORT is a descriptor that gets `STAGE ERRNO` where something fails; `exec` closes it otherwise. PARENT is the process
whose end is the child's too. TERMINAL is `1` where stdout is to be the controlling terminal. LOCALE is `=` and the
value of LC_CTYPE, or empty where the environment has none: in the C locale the interpreter sets it by itself.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the public module gives names to numbers, which takes longer than all of the rest here
import os
import sys

_PR_SET_PDEATHSIG = 1


def main(report: int, given: list[str]) -> None:
    """Become the CLI, or report why not."""
    parent, terminal, locale, folder, *argv = given
    os.set_inheritable(report, False)
    stage = "terminal"
    try:
        _restore_signals()
        _end_with(int(parent))
        if terminal == "1":
            _take_terminal()
        stage = "folder"
        os.chdir(folder)
        stage = "executable"
        os.execve(argv[0], argv, _environment(locale))  # noqa: S606  the CLI of a launch plan
    except OSError as error:
        os.write(report, f"{stage} {error.errno}".encode())
    os._exit(127)


def _restore_signals() -> None:
    """What the interpreter ignores would stay ignored behind `exec`."""
    for name in ("SIGPIPE", "SIGXFSZ", "SIGINT"):
        number = getattr(_signal, name, None)
        if number is not None:
            _signal.signal(number, _signal.SIG_DFL)


def _end_with(parent: int) -> None:
    """Have the system end this process, and the CLI that it becomes, with the thread that started it."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415  slow, and of use on Linux only

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(_signal.SIGTERM))
    if os.getppid() != parent:
        os._exit(127)


def _take_terminal() -> None:
    import fcntl  # noqa: PLC0415  of use only where there is a terminal
    import termios  # noqa: PLC0415

    fcntl.ioctl(1, termios.TIOCSCTTY, 0)


def _environment(locale: str) -> dict[bytes, bytes]:
    environment = dict(os.environb)
    environment.pop(b"LC_CTYPE", None)
    if locale:
        environment[b"LC_CTYPE"] = os.fsencode(locale[1:])
    return environment


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
