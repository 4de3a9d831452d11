"""Children on Windows, with stand-ins for its kernel and its pseudo consoles."""

from __future__ import annotations

import ctypes
import os
import sys
import types
from unittest import mock

import pytest

from agentmux_launcher import windows_processes
from agentmux_launcher.pty import Command, Exit, Size, SpawnError, Wiring, job, windows

SCREEN = Wiring("pty", "pty", "pty")
COMMAND = Command(["C:\\cli.exe", "an arg"], {"A": "b"}, "C:\\project")


class Console:
    """What `winpty.PtyProcess` is, as far as it is used."""

    def __init__(self, argv, cwd, env, dimensions):
        self.given = (argv, cwd, env, dimensions)
        self.pid = 2**22 + 1
        self.said = ["é", "bye"]
        self.typed = []
        self.sizes = []
        self.closed = False
        self.exitstatus = None

    @classmethod
    def spawn(cls, argv, cwd=None, env=None, dimensions=(24, 80)):
        if argv[0] == "missing":
            raise FileNotFoundError(argv[0])
        return cls(argv, cwd, env, dimensions)

    def read(self):
        if not self.said:
            raise EOFError
        return self.said.pop(0)

    def write(self, text):
        self.typed.append(text)

    def isalive(self):
        return self.exitstatus is None

    def terminate(self):
        self.exitstatus = 3

    def setwinsize(self, rows, columns):
        self.sizes.append((rows, columns))

    def close(self):
        self.closed = True


@pytest.fixture
def kernel(monkeypatch):
    """Windows' kernel32, which takes everything."""
    made = mock.MagicMock()
    made.CreateJobObjectW.return_value = 11
    made.OpenProcess.return_value = 22
    monkeypatch.setattr(ctypes, "WinDLL", lambda *_, **__: made, raising=False)
    return made


@pytest.fixture
def console(kernel, monkeypatch):  # noqa: ARG001  the job needs one
    """A function that starts a child on a pseudo console, and gives both."""
    monkeypatch.setitem(sys.modules, "winpty", types.SimpleNamespace(PtyProcess=Console))

    def start():
        child = windows.spawn(COMMAND, SCREEN, Size(30, 100))
        return child, child._child

    return start


def test_a_screen_gets_what_it_was_promised(console):
    _, made = console()

    assert made.given == (["C:\\cli.exe", "an arg"], "C:\\project", {"A": "b"}, (30, 100))


def test_what_goes_through_a_screen_is_utf8(console):
    child, made = console()

    child.write("ü\r".encode())

    assert [child.stdout.read() for _ in range(3)] == ["é".encode(), b"bye", b""]
    assert made.typed == ["ü\r"]


def test_a_screen_is_resized_terminated_and_let_go(console, kernel):
    child, made = console()
    assert child.ended() is None

    child.resize(Size(50, 80))
    child.terminate()

    assert (made.sizes, child.wait(), child.close_stdin()) == ([(50, 80)], Exit(code=3), False)
    child.release()
    assert made.closed
    kernel.CloseHandle.assert_called()


def test_a_child_is_in_a_job_that_ends_with_the_launcher(kernel):
    held = job.Job(4711)

    kernel.OpenProcess.assert_called_once_with(0x1F0FFF, 0, 4711)
    (handle, kind, limits, size), _ = kernel.SetInformationJobObject.call_args
    assert (handle.value, kind) == (11, 9)
    assert size == ctypes.sizeof(limits._obj)
    assert limits._obj.basic.flags == 0x2000
    (handle, process), _ = kernel.AssignProcessToJobObject.call_args
    assert (handle.value, process.value) == (11, 22)
    held.end()
    assert kernel.TerminateJobObject.call_count == 1


def test_what_cannot_be_started_says_why(console):
    del console
    with pytest.raises(SpawnError) as raised:
        windows.spawn(Command(["missing"], {}, "."), SCREEN, Size())

    assert (raised.value.exit_code, str(raised.value)) == (127, "`missing`: not found")


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for its kernel contains nothing")
def test_frames_come_through_pipes(kernel):
    code = "import sys; sys.stderr.write('aside'); sys.stdout.write(sys.stdin.read().upper())"
    child = windows.spawn(Command([sys.executable, "-c", code], dict(os.environ), "."), Wiring(), Size())
    child.write(b"hello")
    assert child.close_stdin()

    assert child.wait() == Exit(code=0)
    assert (child.stdout.read(), child.stderr.read(), child.ended()) == (b"HELLO", b"aside", Exit(code=0))
    child.kill()
    assert kernel.TerminateJobObject.call_count == 1
    child.release()


@pytest.mark.parametrize(("code", "dead"), [(259, False), (0, True)])
def test_a_process_is_known_by_when_it_was_started(code, dead):
    def times(_handle, created, *_):
        created._obj.value = 133_000_000_000_000_000
        return 1

    def exit_code(_handle, where):
        where._obj.value = code
        return 1

    kernel = mock.MagicMock(GetProcessTimes=times, GetExitCodeProcess=exit_code)
    kernel.OpenProcess.return_value = 33

    assert windows_processes.look(7, kernel) == ("133000000000000000", dead)
    kernel.OpenProcess.return_value = None
    assert windows_processes.look(7, kernel) is None
