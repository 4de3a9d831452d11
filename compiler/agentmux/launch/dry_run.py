"""What `run --dry-run` shows: the command line, names of the environment, files, and what would be added where."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from agentmux.errors import DONE
from agentmux.launch import needs, trusting
from agentmux.launch.user_files import addable
from agentmux_compiler.render.visible import visible
from agentmux_launcher.arguments import shown
from agentmux_launcher.executable import Executable, Origin
from agentmux_launcher.launch import environment

if TYPE_CHECKING:
    import argparse

    from agentmux.streams import Stream
    from agentmux_launcher.launch import Launch


def show(launch: Launch, arguments: argparse.Namespace, out: Stream) -> int:
    """No value of a secret, and no prompt."""
    plan = launch.plan
    ours = environment(plan, Executable("", Origin.PATH), launch.run_id, {}, trusted=launch.trusted)
    told = {
        "argv": [launch.executable, *shown(plan.argv, launch.slots(arguments.prompt))],
        "cwd": plan.cwd,
        "env": sorted({*plan.env.set, *plan.env.renamed, *plan.env.passed, *ours}),
        "unset": list(plan.env.unset),
        "files": list(plan.files),
        "entries": entries(launch, prepare=arguments.prepare),
    }
    if arguments.output == "json":
        out.line(json.dumps({"format_version": 1, **told}, sort_keys=True, ensure_ascii=False))
        return DONE
    rows = [
        shlex.join(told["argv"]),
        f"in     {plan.cwd}",
        *(f"set    {name}" for name in told["env"]),
        *(f"unset  {name}" for name in told["unset"]),
        *(f"file   {path}" for path in told["files"]),
        *(f"entry  {path}" for path in told["entries"]),
    ]
    for row in rows:
        out.line(visible(row))
    return DONE


def entries(launch: Launch, *, prepare: bool) -> list[str]:
    """The user's own files that `--prepare` and `--trust` would add an entry to."""
    gate = trusting.allowed(launch)
    wanted = [*(needs.entries(launch) if prepare else ()), *([gate] if gate else ())]
    return [str(entry.file) for entry in wanted if addable(entry)]
