"""The ladder down which a child is stopped, what is left of it, and what ends with the launcher."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentmux_launcher import processes
from agentmux_launcher.guard import Guard
from agentmux_launcher.pty import Command, Exit, Size, Wiring, spawn
from agentmux_launcher.supervise import Child, Closed, Errors, Gone, Grace, Inbox, Output, Rung, Signalled, State

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")

FAKE = Path(__file__).parents[1] / "fake_cli.py"
SHORT = Grace(asked=1.2, terminated=0.8, drained=0.5, finished=1.0)
RUN = f"20261130-supervise-test-{os.getpid()}"


class Watched:
    """A child of the stand-in, and all that came of it."""

    def __init__(self, folder, steps, env):
        (folder / "script.json").write_text(json.dumps([steps]), encoding="utf-8")
        env = {"PATH": os.environ["PATH"], "FAKE_CLI": str(folder), "AGENTMUX_RUN_ID": RUN, **env}
        self.folder = folder
        self.inbox = Inbox()
        self.child = Child(spawn(Command([sys.executable, str(FAKE)], env, "/"), Wiring(), Size()), self.inbox, SHORT)
        self.out = bytearray()
        self.err = bytearray()
        self.began = time.monotonic()

    def until(self, condition, seconds=15):
        """Go on until something holds."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline
            match self.inbox.get(min(0.05, self.child.remaining() or 0.05)):
                case Output(_, data):
                    self.out += data
                case Errors(_, data):
                    self.err += data
                case Closed() | Gone() as message:
                    self.child.take(message)
            self.child.tick()

    def to_the_end(self):
        self.until(lambda: self.child.done)
        return time.monotonic() - self.began

    def stop(self, *, asks=False):
        self.until(lambda: b"ready" in self.out)
        self.began = time.monotonic()
        self.child.stop(lambda: asks)

    def notes(self):
        return json.loads((self.folder / "note-0.json").read_text(encoding="utf-8"))


@pytest.fixture
def watch(tmp_path):
    """A function that starts the stand-in with some steps under supervision."""
    watched = []

    def start(*steps, **env):
        watched.append(Watched(tmp_path, list(steps), env))
        return watched[-1]

    yield start
    for each in watched:
        each.child.process.kill()
        processes.end(lambda: processes.of_run(RUN), 1)
        each.child.process.release()


READY = {"text": "ready\n"}


def test_a_child_that_ends_by_itself_is_done_when_all_it_said_has_come(watch):
    run = watch({"text": "x" * 100_000}, {"stderr": "a word"}, {"exit": 3})
    assert run.child.state is State.RUNNING

    run.to_the_end()

    assert (run.child.exit, run.child.rung, run.child.cut) == (Exit(code=3), Rung.NONE, False)
    assert (run.out, run.err) == (b"x" * 100_000, b"a word")
    assert run.child.remaining() is None


def test_a_child_that_obeys_its_stdin_is_not_signalled(watch):
    run = watch(READY, {"read": "all"}, {"exit": 0})

    run.stop()
    run.to_the_end()

    assert (run.child.exit, run.child.rung) == (Exit(code=0), Rung.ASKED)


def test_one_that_does_not_is_terminated_after_its_time(watch):
    run = watch(READY, {"wait": True})

    run.stop()

    assert SHORT.asked <= run.to_the_end() < SHORT.asked + SHORT.terminated
    assert (run.child.exit, run.child.rung) == (Exit(signal=signal.SIGTERM), Rung.TERMINATED)


def test_nothing_is_waited_for_where_nothing_could_be_asked(watch):
    run = watch(READY, {"wait": True})
    run.child.process.close_stdin()

    run.stop(asks=False)

    assert run.to_the_end() < SHORT.asked
    assert run.child.rung is Rung.TERMINATED


def test_one_that_was_asked_has_its_time_though_its_stdin_was_closed(watch):
    run = watch(READY, {"wait": True})
    run.child.process.close_stdin()

    run.stop(asks=True)

    assert run.to_the_end() >= SHORT.asked


def test_one_that_ignores_being_terminated_is_killed(watch):
    run = watch({"ignore": "SIGTERM"}, READY, {"wait": True})

    run.stop()

    assert run.to_the_end() >= SHORT.asked + SHORT.terminated
    assert (run.child.exit, run.child.rung) == (Exit(signal=signal.SIGKILL), Rung.KILLED)


def test_to_stop_twice_kills_at_once(watch):
    run = watch({"ignore": "SIGTERM"}, READY, {"wait": True})

    run.stop()
    run.child.stop(lambda: True)

    assert run.to_the_end() < SHORT.asked
    assert run.child.rung is Rung.KILLED


def test_a_child_with_nothing_more_to_do_has_its_time_and_is_then_stopped(watch):
    run = watch(READY, {"read": "all"}, {"wait": True})
    run.until(lambda: b"ready" in run.out)

    run.child.finish()

    assert run.to_the_end() >= SHORT.finished
    assert (run.child.exit, run.child.rung) == (Exit(signal=signal.SIGTERM), Rung.TERMINATED)


def test_what_a_grandchild_holds_open_is_waited_for_no_longer_than_it_takes_to_drain(watch):
    run = watch({"text": "said"}, {"ignore": "SIGHUP"}, {"spawn": {"seconds": 60, "keep": True}}, {"exit": 0})

    assert SHORT.drained <= run.to_the_end()
    assert (run.out, run.child.exit, run.child.cut) == (b"said", Exit(code=0), True)


@pytest.mark.parametrize(
    "grandchild",
    [
        {"seconds": 60},
        {"seconds": 60, "detach": True},
        {"seconds": 60, "clean": True},
    ],
    ids=["same group", "own session", "own environment"],
)
def test_what_a_child_left_behind_is_found_and_ended_and_nobody_else(watch, grandchild):
    stranger = subprocess.Popen(["sleep", "60"], start_new_session=True)
    run = watch({"ignore": "SIGHUP"}, {"spawn": grandchild}, {"exit": 0})
    run.to_the_end()
    (left,) = run.notes()["children"]
    left = processes.known(left)

    ended = processes.end(lambda: processes.of_run(RUN, [run.child.process.known]), 1)

    assert [seen.known for seen in ended] == [left]
    assert not processes.alive(left)
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_what_is_about_to_end_is_let_do_so():
    child = subprocess.Popen(["sleep", "0.3"], env={"PATH": os.environ["PATH"], "AGENTMUX_RUN_ID": RUN})

    ended = processes.end(lambda: processes.of_run(RUN), 1, patience=30)

    assert (ended, child.wait()) == ([], 0)


def test_what_is_of_another_run_is_not_ours(watch):
    run = watch({"spawn": {"seconds": 60, "detach": True}}, {"exit": 0})
    run.to_the_end()

    assert processes.of_run(f"{RUN}-other") == []
    assert [seen.known.pid for seen in processes.of_run(RUN)] == run.notes()["children"]


def test_a_process_is_only_itself():
    me = processes.me()

    assert processes.alive(me)
    assert not processes.alive(processes.Known(me.pid, "another start"))
    assert not processes.alive(processes.Known(me.pid, ""))
    assert not processes.send(processes.Known(me.pid, "another start"), signal.SIGKILL)


def test_a_signal_handler_can_put_into_an_inbox_that_waits():
    inbox = Inbox()
    before = signal.signal(signal.SIGUSR1, lambda number, _: inbox.put(Signalled(number)))
    signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        killer = subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -USR1 {os.getpid()}"])
        assert inbox.get(10) == Signalled(signal.SIGUSR1)
        killer.wait()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert inbox.get(0) is None


def test_a_child_that_says_more_than_is_taken_waits(watch):
    run = watch({"repeat": {"frame": {"text": "x" * 1000}, "times": 20_000}}, {"exit": 0})
    time.sleep(0.5)
    assert run.child.process.ended() is None

    run.to_the_end()

    assert len(run.out) == 20_000 * len('{"text": ""}\n') + 20_000_000


LAUNCHER = """
import os, sys, time
from agentmux_launcher.guard import Guard
from agentmux_launcher.pty import *
env = {"PATH": os.environ["PATH"], "FAKE_CLI": sys.argv[2], "AGENTMUX_RUN_ID": sys.argv[3]}
child = spawn(Command([sys.executable, sys.argv[1]], env, "/"), Wiring(), Size())
guard = Guard(sys.argv[3])
guard.watch(child.known)
print("started", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("steps", [[{"ignore": "SIGTERM"}, {"ignore": "SIGHUP"}], []], ids=["deaf", "obedient"])
def test_nothing_outlives_a_launcher_that_was_killed(tmp_path, steps):
    run_id = f"{RUN}-{len(steps)}"
    script = [[*steps, {"spawn": {"seconds": 90, "detach": True}}, {"wait": True}]]
    (tmp_path / "script.json").write_text(json.dumps(script), encoding="utf-8")
    launcher = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, str(FAKE), str(tmp_path), run_id],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
    )
    assert launcher.stdout.readline() == b"started\n"
    deadline = time.monotonic() + 15
    while len(processes.of_run(run_id)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)

    launcher.kill()
    launcher.communicate()

    while processes.of_run(run_id):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_guard_that_is_dismissed_ends_nothing(watch):
    run = watch(READY, {"wait": True})
    guard = Guard(RUN)
    guard.dismiss()
    guard.watch(run.child.process.known)
    run.until(lambda: b"ready" in run.out)

    guard.dismiss()

    time.sleep(1.5)
    assert run.child.process.ended() is None
