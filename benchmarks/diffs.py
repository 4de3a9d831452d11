"""CPU of comparing 1,000 plans (200 agents by 5 providers) whose first two bundles changed places, counts warm.

The figure stands beside what compiling the same plans costs, measured in the same run.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from agentmux_compiler.pipeline import compile_project
from agentmux_compiler.prefix.diff import diff_all
from agentmux_compiler.tree import MemoryTree

if TYPE_CHECKING:
    from agentmux_compiler.lowered import PlanPrefix

PROVIDERS = """  claude: {model: opus}
  codex: {model: gpt-5.5}
  gemini: {}
  qwen: {}
  kimi: {permission: bypass}
"""
LINES = "".join(f"- Rule {number}: say what was measured, and where.\n" for number in range(130))
ROUNDS = 3


def plans(first: int, second: int) -> list[PlanPrefix]:
    files = {f"bundles/b{name}.md": f"# Bundle {name}\n\n{LINES}".encode() for name in range(40)}
    for number in range(200):
        listed = ", ".join(f"b{(number + place) % 40}" for place in (first, second, 2, 3, 4, 5))
        text = f"providers:\n{PROVIDERS}delivery: flag\nbundles: [{listed}]\n"
        files[f"agents.d/a{number}.yaml"] = text.encode()
    return [plan.prefix for plan in compile_project(MemoryTree(files)).plans]


def main() -> None:
    start = time.process_time()
    before = {plan.key: plan for plan in plans(0, 1)}
    compiled = time.process_time() - start
    after = plans(1, 0)
    diff_all(before, after, "snapshots")
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        diff_all(before, after, "snapshots")
        seconds.append(time.process_time() - start)
    median = sorted(seconds)[ROUNDS // 2]
    print(f"compile 1,000 plans  {compiled:.2f} s CPU")
    print(f"compare 1,000 plans  {median:.2f} s CPU, {median / compiled:.2f} of compiling")


if __name__ == "__main__":
    main()
