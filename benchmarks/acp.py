"""What a client of the Agent Client Protocol costs for 20,000 pieces of an answer: `agentmux run` beside `acpx`.

    python benchmarks/acp.py [--quick]

Both drive the same stand-in, in turns. `acpx` is a package of npm and needs a Node of at least 22.13 on PATH:

    npm install --global acpx@0.19.1
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FAKE = Path(__file__).parents[1] / "tests" / "fake_acp.py"
SOURCES = [str(Path(__file__).parents[1] / name) for name in ("compiler", "launcher")]
CHUNKS = 20_000
SPEC = "providers: {opencode: {}}\npermission: bypass\n"
FORMATS = {"agentmux": ("json", "text"), "acpx": ("json", "quiet")}


@dataclass(frozen=True, slots=True)
class Place:
    """A project, and a stand-in of an agent that floods; `env` is all that a client's environment holds."""

    project: Path
    agent: Path
    env: dict[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 3 if parser.parse_args().quick else 9
    acpx = shutil.which("acpx")
    with tempfile.TemporaryDirectory() as name:
        place = _place(Path(name))
        commands = {f"agentmux run --output {each}": _agentmux(each) for each in FORMATS["agentmux"]}
        if acpx is None:
            print(
                "acpx is not on PATH, so nothing is compared: `npm install --global acpx@0.19.1` (Node 22.13 or later)"
            )
        else:
            commands |= {f"acpx --format {each} exec": _acpx(acpx, each, place) for each in FORMATS["acpx"]}
        compare(commands, place, rounds)
    print(f"Python {platform.python_version()}, acpx {_version(acpx) if acpx else 'none'}, {platform.platform()}")


def compare(commands: dict[str, list[str]], place: Place, rounds: int) -> None:
    """CPU seconds of each client without its agent, in turns; the first of each warms up and is not counted."""
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            seconds = cpu_of(command, place)
            if number:
                spent[name].append(seconds)
    print(f"CPU seconds (user and system) of the client for {CHUNKS} pieces, median of {rounds} [least to most]")
    for name, seconds in spent.items():
        print(f"  {name:28} {statistics.median(seconds):6.2f}  [{min(seconds):.2f} to {max(seconds):.2f}]")


def cpu_of(command: list[str], place: Place) -> float:
    """What a client and all it waited for spent, less what its agent says that it spent itself."""
    note = Path(place.env["FAKE_ACP"]) / "spent"
    note.unlink(missing_ok=True)
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(command, cwd=place.project, env=place.env, stdin=quiet, stdout=quiet, stderr=quiet)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"`{' '.join(command)}` ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime - float(note.read_text(encoding="utf-8"))


def _agentmux(output: str) -> list[str]:
    return [sys.executable, "-m", "agentmux", "run", "tester", "Hello", "--output", output]


def _acpx(acpx: str, output: str, place: Place) -> list[str]:
    return [acpx, "--approve-all", "--format", output, "--agent", str(place.agent), "exec", "Hello"]


def _version(acpx: str) -> str:
    return subprocess.run([acpx, "--version"], capture_output=True, text=True, check=False).stdout.strip()


def _place(root: Path) -> Place:
    """A stand-in under the name of a provider's CLI, on a PATH that holds Node besides."""
    project, fake, agent = root / "project", root / "fake", root / "bin" / "opencode"
    for folder in (project / "agents.d", fake, agent.parent, root / "home"):
        folder.mkdir(parents=True)
    (project / "agents.d" / "tester.yaml").write_text(SPEC, encoding="utf-8")
    (fake / "script.json").write_text(json.dumps({"turns": [[{"flood": CHUNKS}]]}), encoding="utf-8")
    agent.write_text(f"#!{sys.executable}\n{FAKE.read_text(encoding='utf-8')}", encoding="utf-8")
    agent.chmod(0o755)
    env = {
        "PATH": os.pathsep.join([str(agent.parent), os.environ.get("PATH", os.defpath)]),
        "HOME": str(root / "home"),
        "PYTHONPATH": os.pathsep.join(SOURCES),
        "LANG": "C.UTF-8",
        "FAKE_ACP": str(fake),
    }
    return Place(project, agent, env)


if __name__ == "__main__":
    main()
