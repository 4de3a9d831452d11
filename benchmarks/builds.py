"""Measure builds of 200 agents by 3 providers, side by side with an interpreter that does nothing.

A figure of this script compares commands of one run on one machine; the ratios travel better than the seconds do.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

AGENTS = 200
BUNDLES = 40
LISTED = 6
ROUNDS = 5
SENTENCES = (
    "Say what you know, and how you know it.",
    "Leave a file in the state in which you would like to find it.",
    "A name that needs a comment is the wrong name.",
    "Run the smallest test that could fail before the largest one that could pass.",
    "Ask before you delete what you did not write.",
)
AGENTMUX = (sys.executable, "-m", "agentmux")


def write_project(root: Path, agents: int = AGENTS) -> int:
    """Write a project of agents that share 40 bundles; the size of its sources in bytes."""
    base = "abstract: true\nproviders: {claude: {model: opus}, codex: {}, gemini: {}}\ndelivery: flag\n"
    sources = {"agents.d/base.yaml": base}
    for number in range(BUNDLES):
        lines = (f"- {SENTENCES[(number + line) % len(SENTENCES)]} ({number}.{line})" for line in range(40))
        sources[f"bundles/bundle-{number:02}.md"] = f"---\ntitle: Bundle {number}\n---\n" + "\n".join(lines) + "\n"
    for number in range(agents):
        listed = ", ".join(f"bundle-{(number * 7 + step * 3) % BUNDLES:02}" for step in range(LISTED))
        instructions = f"You are agent {number}. {SENTENCES[number % len(SENTENCES)]}"
        sources[f"agents.d/agent-{number:03}.yaml"] = (
            f"extends: base\ninstructions: |\n  {instructions}\nbundles: [{listed}]\n"
        )
    for path, text in sources.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return sum(len(text.encode()) for text in sources.values())


def measure(command: tuple[str, ...], root: Path) -> tuple[float, float]:
    """CPU seconds (user and system, children included) and wall seconds of one run."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)
    after, end = os.times(), time.perf_counter()
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return cpu, end - start


def rounds() -> dict[str, list[tuple[float, float]]]:
    """Every command once a round, so that a busy machine hurts all of them alike."""
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            write_project(root)
            for name, command in (
                ("python -c pass", (sys.executable, "-c", "pass")),
                ("agentmux --version", (*AGENTMUX, "--version")),
                ("cold build", (*AGENTMUX, "build")),
                ("build, nothing to do", (*AGENTMUX, "build")),
                ("build --check", (*AGENTMUX, "build", "--check")),
            ):
                found.setdefault(name, []).append(measure(command, root))
    return found


def show(found: dict[str, list[tuple[float, float]]]) -> None:
    """Medians, and the ratio to an interpreter that does nothing."""
    print(f"Python {sys.version.split()[0]}, {sys.platform}, {os.cpu_count()} cores\n")
    print(f"{'command':24}{'CPU s':>9}{'wall s':>9}{'CPU ratio':>12}")
    bare = statistics.median(cpu for cpu, _ in found["python -c pass"])
    for name, runs in found.items():
        cpu, wall = (statistics.median(column) for column in zip(*runs, strict=True))
        print(f"{name:24}{cpu:9.3f}{wall:9.3f}{cpu / bare:12.1f}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        size = write_project(Path(folder))
    print(f"{AGENTS} agents by 3 providers, {size:,} bytes of sources; median of {ROUNDS} rounds")
    show(rounds())


if __name__ == "__main__":
    main()
