"""Measure `agentmux prefix --history` over 100 commits of 20 agents by 3 providers, without and with its cache.

A figure of this script compares commands of one run on one machine; the ratios travel better than the seconds do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import builds

COMMITS = 100
AGENTS = 20
ROUNDS = 3
OFTEN = 5  # so many bundles take most of the edits
BEGINNING = 1767225600  # 2026-01-01, a commit a day
WHO = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org", "-c", "commit.gpgsign=false")
COMMANDS = {
    "python -c pass": (sys.executable, "-c", "pass"),
    "prefix": (*builds.AGENTMUX, "prefix"),
    "prefix --history": (*builds.AGENTMUX, "prefix", "--history", f"HEAD~{COMMITS}..HEAD"),
    "prefix --history, again": (*builds.AGENTMUX, "prefix", "--history", f"HEAD~{COMMITS}..HEAD"),
    "diff --base git:": (*builds.AGENTMUX, "diff", "--base", "git:HEAD~1", "--fail-on", "never"),
}


def write_repository(root: Path) -> None:
    """A project and 100 edits of it."""
    builds.write_project(root, AGENTS)
    git(root, "init", "--quiet")
    for number in range(COMMITS + 1):
        if number:
            edit(root, number)
        git(root, "add", "--all")
        day = f"{BEGINNING + 86400 * number} +0000"
        git(root, "commit", "--quiet", "--message", f"edit {number}", GIT_AUTHOR_DATE=day, GIT_COMMITTER_DATE=day)


def git(root: Path, *arguments: str, **variables: str) -> None:
    nowhere = dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), os.devnull)
    environment = {**os.environ, **nowhere, **variables}
    command = ("git", "-C", str(root), *WHO, *arguments)
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def edit(root: Path, number: int) -> None:
    """Of ten edits, one turns an agent's list, one changes an agent's own text, eight change a few bundles."""
    agent = root / f"agents.d/agent-{number * 7 % AGENTS:03}.yaml"
    if number % 10 == 0:
        head, _, listed = agent.read_bytes().decode().rpartition("bundles: ")
        first, *others = listed.strip("[]\n").split(", ")
        agent.write_bytes(f"{head}bundles: [{', '.join([*others, first])}]\n".encode())
    elif number % 10 == 1:
        agent.write_bytes(agent.read_bytes().replace(b"\nbundles:", b" Again.\nbundles:"))
    else:
        bundle = root / f"bundles/bundle-{number % OFTEN * 7 % builds.BUNDLES:02}.md"
        bundle.write_bytes(bundle.read_bytes() + f"- Edit {number}.\n".encode())


def rounds() -> dict[str, list[tuple[float, float]]]:
    """Every command once a round, so that a busy machine hurts all of them alike."""
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            write_repository(root)
            for name, command in COMMANDS.items():
                found.setdefault(name, []).append(builds.measure(command, root))
    return found


def main() -> None:
    print(f"{COMMITS} commits of {AGENTS} agents by 3 providers; median of {ROUNDS} rounds")
    builds.show(rounds())


if __name__ == "__main__":
    main()
