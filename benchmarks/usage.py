"""Read 1 GB of transcripts, ours beside ccusage on the same files, and hold what each counts against the truth.

    python benchmarks/usage.py [--quick] [--keep FOLDER]

`AGENTMUX_CCUSAGE` names a folder outside the repository into which npm installs ccusage; without it ours stands alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import transcripts

if TYPE_CHECKING:
    from collections.abc import Sequence

# The newest whose program is in the registry: that of 20.0.26 is not, and npm leaves it out without a word.
CCUSAGE = "20.0.24"
FOLDER_VARIABLE = "AGENTMUX_CCUSAGE"
MEGA, MEBI = 1_000_000, 1 << 20
FIGURES = ("input", "cache_read", "cache_write", "output")
THEIR_FIGURES = ("inputTokens", "cacheReadTokens", "cacheCreationTokens", "outputTokens")
RECORDED = Path(__file__).parents[1] / "tests" / "usage" / "fixtures" / "transcripts"
# What the recorder served for these transcripts, as far as the CLI wrote it down, and where its folder goes.
SERVED = {
    "claude": (".claude", (0, 46_808, 22_715, 28)),
    "codex": (".codex", (26_721, 34_304, 0, 33)),
    "gemini": (".", (8_415, 16_384, 0, 17)),
    "qwen": (".qwen", (30_858, 38_784, 0, 34)),
}
OURS = """
import json, sys
from pathlib import Path
from agentmux_usage.gather import opened
from agentmux_usage.places import own_sources
folder = Path(sys.argv[2])
with opened(own_sources({"HOME": sys.argv[1]}, folder), folder) as index:
    totals = [head.totals for head in index.heads()]
_, given, read, written, hour, output, _ = (sum(each) for each in zip(*totals, strict=True))
print(json.dumps({"input": given, "cache_read": read, "cache_write": written + hour, "output": output}))
"""
WHOLE = """
import json, sys
from collections import Counter
from pathlib import Path
from agentmux_usage.gather import gather
from agentmux_usage.places import own_sources
folder, sums = Path(sys.argv[2]), Counter()
for session in gather(own_sources({"HOME": sys.argv[1]}, folder), folder):
    for response in session.responses:
        tokens = response.tokens
        sums["input"] += tokens.input
        sums["cache_read"] += tokens.cache_read
        sums["cache_write"] += tokens.cache_write + tokens.cache_write_1h
        sums["output"] += tokens.output
print(json.dumps(sums))
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """One process: CPU seconds (user and system), wall seconds, its largest memory in MiB, and what it counted."""

    name: str
    cpu: float
    wall: float
    memory: float
    counted: Mapping[str, int]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="100 MB instead of 1 GB")
    parser.add_argument("--keep", type=Path, help="leave the transcripts in this folder, and use those that are there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        home = arguments.keep or Path(name) / "home"
        truth = written(home, sessions=80 if arguments.quick else 800)
        size = sum(path.stat().st_size for path in home.rglob("*.jsonl"))
        print(f"Python {sys.version.split()[0]}, {sys.platform}, {os.cpu_count()} cores; {size / MEGA:,.0f} MB\n")
        index, program = Path(name) / "index", ccusage()
        found = [
            ours("agentmux, from nothing", OURS, home, index),
            ours("agentmux, nothing new", OURS, home, index),
            ours("every response again", WHOLE, home, index),
            command("agentmux usage", home, Path(name) / "own"),
            command("agentmux usage, again", home, Path(name) / "own"),
            *([theirs(program, home, "claude")] if program else []),
        ]
        show(found, size, truth)
        recorded(Path(name) / "recorded", Path(name), program)


def written(home: Path, sessions: int) -> Mapping[str, Mapping[str, int]]:
    """The truth by policy; it is kept beside the transcripts."""
    kept = home / "truth.json"
    if not kept.is_file():
        home.mkdir(parents=True, exist_ok=True)
        truth = transcripts.write(home, transcripts.Shape(sessions=sessions, calls=200, text=2000), ("claude",))
        policies = {policy: truth.of("claude", policy) for policy in ("once", "first", "lines", "pairs")}
        kept.write_text(json.dumps(policies), encoding="utf-8")
    policies = json.loads(kept.read_bytes())
    return {name: {**of, "cache_write": of["cache_write"] + of["cache_write_1h"]} for name, of in policies.items()}


def ours(name: str, script: str, home: Path, index: Path) -> Measured:
    measured, said = run(name, (sys.executable, "-c", script, str(home), str(index)), dict(os.environ))
    return Measured(name, *measured, json.loads(said))


def command(name: str, home: Path, own: Path) -> Measured:
    """The command itself, with its measures, prices and broken caches."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "AGENTMUX_HOME": str(own)}
    measured, said = run(name, (sys.executable, "-m", "agentmux", "usage", "--format", "json"), environ)
    sums = json.loads(said)["totals"]
    names = ("uncached", "cache_read", "cache_write", "output")
    return Measured(name, *measured, {figure: sums[our] for figure, our in zip(FIGURES, names, strict=True)})


def ccusage() -> Path | None:
    """The program, installed if need be; None, with the reason, where it cannot be run."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder is None:
        print(f"ccusage was not run: `{FOLDER_VARIABLE}` names no folder to install it into\n")
        return None
    program = Path(folder) / "node_modules" / ".bin" / "ccusage"
    try:
        if not program.exists():
            asked = ("npm", "install", "--prefix", folder, "--no-audit", "--no-fund", f"ccusage@{CCUSAGE}")
            subprocess.run(asked, check=True, capture_output=True)
        subprocess.run((program, "--version"), check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"ccusage was not run: {error}\n")
        return None
    return program


def theirs(program: Path, home: Path, provider: str) -> Measured:
    """What ccusage counts of a provider."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    name = f"ccusage {CCUSAGE}"
    measured, said = run(name, (str(program), provider, "daily", "--offline", "--json"), environ)
    sums = json.loads(said)["totals"]
    return Measured(name, *measured, {name: sums[their] for name, their in zip(FIGURES, THEIR_FIGURES, strict=True)})


def recorded(home: Path, scratch: Path, program: Path | None) -> None:
    """The transcripts that real CLIs left, one provider after the other."""
    print(f"\n{'what real CLIs wrote':26}" + "".join(f"{name:>17}" for name in FIGURES))
    for provider, (folder, served) in SERVED.items():
        shutil.copytree(RECORDED / provider, home / provider / folder, dirs_exist_ok=True)
        found = [ours("agentmux", OURS, home / provider, scratch / f"index-{provider}")]
        found += [theirs(program, home / provider, provider)] if program else []
        rows = [("served", served), *((each.name, [each.counted[name] for name in FIGURES]) for each in found)]
        for name, values in rows:
            print(f"{f'{provider}: {name}':26}" + "".join(f"{value:17,}" for value in values))


def run(name: str, argv: Sequence[str], environ: Mapping[str, str]) -> tuple[tuple[float, float, float], bytes]:
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out, subprocess.Popen(argv, stdout=out, env=environ) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        if child.returncode:
            raise SystemExit(f"{name} ended with {child.returncode}")
        out.seek(0)
        memory = usage.ru_maxrss / (MEBI if sys.platform == "darwin" else 1024)
        return (usage.ru_utime + usage.ru_stime, wall, memory), out.read()


def show(found: Sequence[Measured], size: int, truth: Mapping[str, Mapping[str, int]]) -> None:
    print(f"{'reader':26}{'CPU s':>9}{'MB/CPU s':>10}{'wall s':>9}{'peak MiB':>10}")
    for each in found:
        print(f"{each.name:26}{each.cpu:9.2f}{size / MEGA / each.cpu:10.0f}{each.wall:9.2f}{each.memory:10.1f}")
    print(f"\n{'counted':26}" + "".join(f"{name:>17}" for name in FIGURES))
    rows = [("the truth", truth["once"]), *((each.name, each.counted) for each in found)]
    rows += [(f"policy: {name}", truth[name]) for name in ("first", "lines", "pairs")]
    for name, counted in rows:
        print(f"{name:26}" + "".join(f"{counted[figure]:17,}" for figure in FIGURES))
    right = [each.name for each in found if all(each.counted[name] == truth["once"][name] for name in FIGURES)]
    print(f"\nexact: {', '.join(right) or 'none'}")


if __name__ == "__main__":
    main()
