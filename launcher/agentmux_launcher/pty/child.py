"""Runs in the child, between its start and its CLI: what only a process itself can do, then `exec`.

A program of its own where there are threads, since nothing may run between `fork` and `exec` then. It imports as little
as it can: every CLI waits for it.

    python -I -S child.py REPORT PARENT TERMINAL LOCALE FOLDER EXECUTABLE ARGUMENT...

REPORT is a descriptor that gets `STAGE ERRNO` where something fails; `exec` closes it otherwise. PARENT is the process
whose end is the child's too. TERMINAL is `1` where stdout is to be the controlling terminal. LOCALE is `=` and the
value of LC_CTYPE, or empty where the environment has none: in the C locale the interpreter sets it by itself.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the public module gives names to numbers, which takes longer than all of the rest here
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def main(report: int, given: list[str]) -> None:
    """Become the CLI, or report why not."""
    parent, terminal, locale, folder, *argv = given
    os.set_inheritable(report, False)
    stage = "terminal"
    try:
        _restore_signals()
        preparation(int(parent), terminal=terminal == "1")()
        stage = "folder"
        os.chdir(folder)
        stage = "executable"
        os.execve(argv[0], argv, _environment(locale))  # noqa: S606  the CLI of a launch plan
    except OSError as error:
        os.write(report, f"{stage} {error.errno}".encode())
    os._exit(127)


def preparation(parent: int, *, terminal: bool) -> Callable[[], None]:
    """What a process does before it becomes the CLI; all that it needs is imported here.

    It is to end with the thread that started it, and stdout to be its terminal.
    """
    end_with_parent, take_terminal = _end_with_parent(), _take_terminal() if terminal else None

    def prepare() -> None:
        end_with_parent()
        if os.getppid() != parent:
            os._exit(127)
        if take_terminal:
            take_terminal()

    return prepare


def _restore_signals() -> None:
    """What the interpreter ignores would stay ignored behind `exec`."""
    for name in ("SIGPIPE", "SIGXFSZ", "SIGINT"):
        number = getattr(_signal, name, None)
        if number is not None:
            _signal.signal(number, _signal.SIG_DFL)


def _end_with_parent() -> Callable[[], object]:
    if sys.platform != "linux":
        return lambda: None
    import ctypes  # noqa: PLC0415  slow, and of use on Linux only

    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, int(_signal.SIGTERM))


def _take_terminal() -> Callable[[], object]:
    import fcntl  # noqa: PLC0415  of use only where there is a terminal
    import termios  # noqa: PLC0415

    return lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0)


def _environment(locale: str) -> dict[bytes, bytes]:
    environment = dict(os.environb)
    environment.pop(b"LC_CTYPE", None)
    if locale:
        environment[b"LC_CTYPE"] = os.fsencode(locale[1:])
    return environment


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
