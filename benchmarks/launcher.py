"""What the launcher costs, each figure beside the same without it: start, frames, memory, many at once.

    python benchmarks/launcher.py [--quick]

A scripted stand-in plays the CLI, so that only the launcher's own share is measured.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agentmux.launch.run_host import VIEWS, RunHost
from agentmux.streams import Stream, Streams
from agentmux_launcher.controllers.per_turn import PerTurn
from agentmux_launcher.conversation import Conversation
from agentmux_launcher.guard import Guard
from agentmux_launcher.launch import Launch
from agentmux_launcher.ledger import Ledger, Run
from agentmux_launcher.manifest import Environment, LaunchPlan
from agentmux_launcher.processes import me
from agentmux_launcher.pty import Command, Size, Wiring, spawn
from agentmux_launcher.run_folder import RunFolder
from agentmux_launcher.run_record import RunRecord
from agentmux_launcher.supervise import Inbox

FAKE = Path(__file__).parents[1] / "tests" / "fake_cli.py"
SPEC = "providers: {codex: {}}\n"
MILLISECONDS = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first_byte(20 if quick else 100)
        frames(folder / "frames", 20_000)
        shell = Shell(folder / "project")
        memory(shell)
        whole(shell, 3 if quick else 10)
        at_once(shell, 10 if quick else 50)


def first_byte(rounds: int) -> None:
    """From the start of a child to its first byte: bare, and as the launcher starts it; side by side."""
    bare, ours = [], []
    for _ in range(rounds):
        bare.append(_bare_first_byte())
        ours.append(_our_first_byte())
    one, two = statistics.median(bare), statistics.median(ours)
    print(f"start to first byte: bare {one:.1f} ms, launcher {two:.1f} ms, {two - one:+.1f} ms (at most +30)")


def _bare_first_byte() -> float:
    began = time.perf_counter()
    child = subprocess.Popen(["/bin/echo", "a"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    os.read(child.stdout.fileno() if child.stdout else 0, 1)
    took = time.perf_counter() - began
    child.communicate()
    return took * MILLISECONDS


def _our_first_byte() -> float:
    began = time.perf_counter()
    child = spawn(Command(["/bin/echo", "a"], dict(os.environ), "/"), Wiring(), Size())
    child.stdout.read()
    took = time.perf_counter() - began
    child.wait()
    child.release()
    return took * MILLISECONDS


def frames(folder: Path, count: int) -> None:
    """CPU that a run of so many text frames costs the launcher, with its record, ledger and events as JSON."""
    folder.mkdir()
    said = {"type": "message", "role": "assistant", "content": "some words of the answer ", "delta": True}
    lines = [
        {"type": "init", "session_id": "s", "model": "m"},
        *[said] * count,
        {"type": "result", "status": "success", "stats": {}},
    ]
    (folder / "said").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (folder / "cli").write_text(f"#!/bin/sh\nexec cat {folder}/said\n", encoding="utf-8")
    (folder / "cli").chmod(0o755)
    began, before = time.perf_counter(), _cpu()
    text = _run(folder)
    cpu, took = _cpu() - before, time.perf_counter() - began
    heard = text.count('"event":"text"')
    print(f"{heard:,} of {count:,} text frames: {cpu:.2f} s of CPU, {took:.2f} s (CPU at most 1 s)")


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _run(folder: Path) -> str:
    plan = LaunchPlan(
        agent="a", provider="gemini", display="A", executable="cli", controller="subprocess", model=None, effort=None,
        permission="ask", delivery="flag", cwd=".", argv=(), env=Environment(), files=(), startup=None,
        prompt_delivery="stdin", frames="gemini-json", session_id_field=None, cli_version="1",
        stdio={"stdin": "pipe", "stdout": "raw-pty", "stderr": "pipe"},
    )  # fmt: skip
    inbox, out = Inbox(), io.StringIO()
    streams = Streams(Stream(out), Stream(io.StringIO()))
    launch = Launch(plan, folder, str(folder / "cli"), dict(os.environ), "bench")
    known = me()
    row = Run(
        "bench", "p", "a", "gemini", "subprocess", None, None, "ask", None, None, None, "f", known.pid, known.started
    )
    with Ledger(folder / "ledger.sqlite3") as ledger:
        record = RunRecord(row, RunFolder(folder / "run"), ledger)
        host = RunHost(VIEWS["json"](streams), inbox, None, chat=False)
        conversation = Conversation(inbox, host, record, Guard("bench"))
        outcome = conversation.run(PerTurn(launch, inbox, conversation), "Hello")
        record.close(outcome.exit_code)
    return out.getvalue()


class Shell:
    """A project of one agent, and the stand-in as its CLI."""

    def __init__(self, project: Path) -> None:
        (project / "agents.d").mkdir(parents=True)
        (project / "agents.d" / "tester.yaml").write_text(SPEC, encoding="utf-8")
        folder = project.parent / "bin"
        folder.mkdir()
        version = self._codex(folder)
        self.project = project
        self.fake = project.parent / "fake"
        self.fake.mkdir()
        self.cli = str(folder / "codex")
        home = {"HOME": str(project.parent), "FAKE_CLI": str(self.fake), "FAKE_VERSION": version}
        self.env = {**os.environ, **home, "PATH": os.pathsep.join([str(folder), os.defpath])}

    def _codex(self, folder: Path) -> str:
        (folder / "codex").write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n', encoding="utf-8")
        (folder / "codex").chmod(0o755)
        return "0.171.0"

    def script(self, *steps: dict[str, object]) -> None:
        (self.fake / "script.json").write_text(json.dumps([steps]), encoding="utf-8")

    def start(self) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "agentmux", "run", "tester", "Hello"]
        return self._started(argv)

    def bare(self) -> subprocess.Popen[bytes]:
        return self._started([self.cli, "exec", "--json", "-"])

    def _started(self, argv: list[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def notes(self) -> int:
        return len(list(self.fake.glob("note-*")))


ANSWER: tuple[dict[str, object], ...] = ({"read": "all"}, {"answer": {"dialect": "codex", "text": "ok"}})


def memory(shell: Shell) -> None:
    """Resident memory of one launcher while its CLI works, and of the guardian beside it."""
    shell.script(*ANSWER)
    shell.start().communicate()
    before = shell.notes
    shell.script({"read": "all"}, {"frames": [{"type": "thread.started", "thread_id": "t"}]}, {"sleep": 3})
    child = shell.start()
    while shell.notes == before:
        time.sleep(0.05)
    time.sleep(0.5)
    others = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/stat") if _parent(path) == child.pid]
    guardian = next(pid for pid in others if "guardian.py" in _command(pid))
    print(f"memory: launcher {_resident(child.pid)} MiB, guardian {_resident(guardian)} MiB (launcher at most 50)")
    child.terminate()
    child.communicate()


def _parent(stat: Path) -> int:
    try:
        return int(stat.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace")


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def whole(shell: Shell, rounds: int) -> None:
    """The whole command against its CLI alone, nothing to compile."""
    shell.script(*ANSWER)
    shell.start().communicate()
    took: dict[str, list[float]] = {"bare": [], "run": []}
    for _ in range(rounds):
        for name, start in (("bare", shell.bare), ("run", shell.start)):
            began = time.perf_counter()
            start().communicate()
            took[name].append(time.perf_counter() - began)
    bare, run = (statistics.median(took[name]) for name in ("bare", "run"))
    print(f"a whole run: CLI alone {bare:.2f} s, agentmux run {run:.2f} s, {run - bare:+.2f} s")


def at_once(shell: Shell, count: int) -> None:
    """Many runs from as many shells: all answer, and the ledger has them all."""
    shell.script(*ANSWER)
    took = {}
    for name, start in (("bare", shell.bare), ("run", shell.start)):
        began = time.perf_counter()
        children = [start() for _ in range(count)]
        answers = [child.communicate()[0] for child in children]
        took[name] = time.perf_counter() - began
    answered = answers.count(b"ok\n")
    with Ledger(shell.project.parent / ".agentmux" / "ledger.sqlite3") as ledger:
        runs = ledger.runs()
        turns = sum(len(ledger.turns(run.run_id)) for run in runs)
    done = sum(run.exit_code == 0 for run in runs)
    kept = f"{done} of {len(runs)} runs and {turns} turns in the ledger"
    print(f"{count} at once: CLIs alone {took['bare']:.1f} s, runs {took['run']:.1f} s; {answered} answered; {kept}")


if __name__ == "__main__":
    main()
