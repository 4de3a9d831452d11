"""Children behind pipes and PTYs: what reaches them, what comes back, how they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agentmux_launcher import processes
from agentmux_launcher.pty import Command, Exit, Size, SpawnError, Wiring, spawn

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")

FAKE = Path(__file__).parents[1] / "fake_cli.py"
PIPES = Wiring(stdout="pipe")


@pytest.fixture(autouse=True, params=["alone", "beside a thread"])
def threads(request):
    """Children are started in another way where there are threads."""
    done = threading.Event()
    if request.param == "alone":
        wait_for(lambda: threading.active_count() == 1)
        yield
        return
    thread = threading.Thread(target=done.wait)
    thread.start()
    yield
    done.set()
    thread.join()


USUAL = Size()


@pytest.fixture
def fake(tmp_path):
    """A function that starts the stand-in with a script; every child it made is ended at the end."""
    started = []

    def start(*steps, wiring=PIPES, size=USUAL, argv=(), **more):
        (tmp_path / "script.json").write_text(json.dumps([list(steps)]), encoding="utf-8")
        env = {"PATH": os.environ["PATH"], "FAKE_CLI": str(tmp_path), **more}
        child = spawn(Command([sys.executable, str(FAKE), *argv], env, str(tmp_path)), wiring, size)
        started.append(child)
        return child

    yield start
    for child in started:
        child.kill()
        child.release()


@pytest.fixture
def notes(tmp_path):
    """What the first process noted, once it has."""

    def read():
        path = tmp_path / "note-0.json"
        wait_for(path.exists)
        return json.loads(path.read_text(encoding="utf-8"))

    return read


def wait_for(condition, seconds=10.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def descriptors() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


def everything(source) -> bytes:
    return b"".join(iter(source.read, b""))


@pytest.mark.parametrize("wiring", [PIPES, Wiring()], ids=["pipe", "raw-pty"])
def test_every_byte_arrives_as_it_left(fake, wiring):
    every = bytes(range(256)) * 20 + b"\xe2\x98\x83\r\n" + b"x" * 300_000
    child = fake({"bytes": every.hex()}, {"stderr": "a word\n"}, wiring=wiring)

    assert everything(child.stdout) == every
    assert everything(child.stderr) == b"a word\n"
    assert child.wait() == Exit(code=0)


def test_the_child_sees_the_terminal_it_was_promised(fake, notes):
    child = fake(wiring=Wiring(), size=Size(31, 117), argv=("one", "", "é"), LC_CTYPE="C")
    everything(child.stdout)

    seen = notes()
    assert seen["argv"] == ["one", "", "é"]
    assert seen["tty"] == [False, True, False]
    assert seen["size"] == [31, 117]
    assert seen["controlling"]
    assert (seen["pid"], seen["group"], seen["session"]) == (child.known.pid,) * 3


def test_a_pipe_is_no_terminal(fake, notes):
    everything(fake().stdout)

    seen = notes()
    assert (seen["tty"], seen["controlling"], seen["group"]) == ([False] * 3, False, seen["pid"])


@pytest.mark.parametrize("given", [{}, {"LC_CTYPE": "C"}, {"LANG": "C.UTF-8", "A": "b=c\n"}])
def test_the_environment_is_exactly_the_one_given(given):
    command = Command(["/usr/bin/env", "-0"], given, "/")
    child = spawn(command, PIPES, USUAL)
    listed = everything(child.stdout).decode()
    child.release()

    assert dict(pair.split("=", 1) for pair in listed.split("\0") if pair) == given


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_what_an_interpreter_ignores_is_not_ignored_by_its_children():
    command = Command(["/bin/sh", "-c", "grep SigIgn /proc/self/status"], dict(os.environ), "/")
    child = spawn(command, PIPES, USUAL)
    ignored = int(everything(child.stdout).split()[1], 16)
    child.release()

    assert [name for name in ("SIGPIPE", "SIGXFSZ") if ignored & 1 << getattr(signal, name) - 1] == []


def test_what_is_written_arrives_however_slowly_it_is_read(fake, notes):
    child = fake({"sleep": 0.3}, {"read": "all"})
    began = time.monotonic()
    child.write(b"a" * 1_000_000)
    child.write(b"\xc3\xa9\n")
    took = time.monotonic() - began
    assert child.close_stdin()
    assert not child.close_stdin()

    everything(child.stdout)
    assert notes()["stdin"] == ["a" * 1_000_000 + "é\n"]
    assert took < 0.2


def test_writing_to_a_child_that_is_gone_fails_for_nobody(fake):
    child = fake({"exit": 3})
    assert child.wait() == Exit(code=3)

    child.write(b"too late")
    assert child.close_stdin()


@pytest.mark.parametrize(
    ("argv", "folder", "code", "words"),
    [
        (["/no/such/cli"], "/", 127, "`/no/such/cli`: no such file or directory"),
        (["/etc/passwd"], "/", 126, "`/etc/passwd`: permission denied"),
        (["/etc/passwd/cli"], "/", 127, "`/etc/passwd/cli`: not a directory"),
        (["/bin/true"], "/no/such/folder", 125, "`/no/such/folder`: no such file or directory"),
        (["/bin/true\0"], "/", 125, "the child cannot be started: embedded null byte"),
    ],
)
@pytest.mark.parametrize("wiring", [PIPES, Wiring()], ids=["pipe", "raw-pty"])
def test_what_cannot_be_started_says_why_and_leaves_nothing_open(argv, folder, code, words, wiring):
    before = descriptors()

    with pytest.raises(SpawnError) as raised:
        spawn(Command(argv, {}, folder), wiring, USUAL)

    assert (raised.value.exit_code, str(raised.value)) == (code, words)
    assert descriptors() == before


def test_a_child_that_ended_and_was_let_go_leaves_nothing_open(fake):
    before = descriptors()
    child = fake({"text": "bye\n"}, wiring=Wiring())
    everything(child.stdout)
    everything(child.stderr)
    child.release()

    wait_for(lambda: descriptors() == before)


@pytest.mark.parametrize(
    ("steps", "ended"),
    [
        ([{"exit": 0}], Exit(code=0)),
        ([{"exit": 145}], Exit(code=145)),
        ([{"die": "SIGSEGV"}], Exit(signal=signal.SIGSEGV)),
        ([{"die": "SIGKILL"}], Exit(signal=signal.SIGKILL)),
    ],
)
def test_how_it_ended(fake, steps, ended):
    child = fake(*steps)

    assert child.wait() == ended
    assert child.ended() == ended
    child.release()
    assert child.ended() == ended


@pytest.mark.parametrize(("steps", "ended"), [([{"exit": 3}], Exit(code=3)), ([{"die": "SIGKILL"}], Exit(signal=9))])
def test_how_it_ended_where_one_cannot_look_without_taking(fake, monkeypatch, steps, ended):
    monkeypatch.delattr(os, "waitid")
    child = fake(*steps)

    assert child.wait() == ended
    child.kill()
    child.release()
    assert child.ended() == ended


def test_signals_reach_the_whole_group_and_nobody_once_it_is_let_go(fake, notes):
    child = fake({"spawn": {"seconds": 60}}, {"wait": True})
    wait_for(lambda: notes()["children"])
    (grandchild,) = notes()["children"]
    seen = processes.known(grandchild)
    assert child.ended() is None

    child.terminate()

    assert child.wait() == Exit(signal=signal.SIGTERM)
    wait_for(lambda: not processes.alive(seen))
    child.release()
    child.kill()


def test_the_number_of_a_child_stays_its_own_until_it_is_let_go(fake):
    child = fake({"exit": 0})
    child.wait()

    assert processes.look(child.known.pid).dead
    child.release()
    assert processes.look(child.known.pid) is None


def test_a_reader_that_is_left_ends_while_somebody_holds_the_stream(fake, notes):
    child = fake({"spawn": {"seconds": 60, "keep": True}}, {"exit": 0}, wiring=Wiring())
    got = []
    reading = threading.Thread(target=lambda: got.append(everything(child.stdout)))
    reading.start()
    child.wait()
    (grandchild,) = notes()["children"]

    child.release()
    assert child.stdout.read() == b""
    os.kill(grandchild, signal.SIGKILL)
    reading.join(5)

    assert got == [b""]


def test_the_size_can_change(fake, notes):
    child = fake({"read": "line"}, {"exit": 0}, wiring=Wiring())
    child.resize(Size(40, 90))
    child.write(b"\n")
    everything(child.stdout)

    assert notes()["size"] in ([25, 200], [40, 90])


def test_the_child_ends_when_the_launcher_is_killed(tmp_path, notes):
    script = [[{"wait": True}]]
    (tmp_path / "script.json").write_text(json.dumps(script), encoding="utf-8")
    code = (
        "import os, sys, time\n"
        "from agentmux_launcher.pty import *\n"
        f"env = {{'PATH': os.environ['PATH'], 'FAKE_CLI': {str(tmp_path)!r}}}\n"
        f"spawn(Command([sys.executable, {str(FAKE)!r}], env, '/'), Wiring(stdout='pipe'), Size())\n"
        "time.sleep(60)\n"
    )
    path = os.pathsep.join(sys.path)
    launcher = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path})
    child = processes.known(notes()["pid"])
    assert processes.alive(child)

    launcher.kill()
    launcher.wait()

    wait_for(lambda: not processes.alive(child))
