"""`agentmux watch`: rebuild on every edit of a source, one line a rebuild."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux import project
from agentmux.day import today
from agentmux.errors import DONE, CannotRun, system_message
from agentmux_compiler import pipeline, watch
from agentmux_compiler.render.line import rebuilt
from agentmux_compiler.render.visible import visible
from agentmux_compiler.tree import DiskTree
from agentmux_compiler.writing.present_state import PresentState

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from agentmux.streams import Streams


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    for option, default in (("check", False), ("accept", False), ("format", "full"), ("fail_on", "error")):
        if getattr(arguments, option, default) != default:
            raise CannotRun(f"`--{option.replace('_', '-')}` and watching exclude each other")
    root = project.find(arguments.project)
    agents = project.check_agents(root, arguments.agents)
    scope = pipeline.Scope(agents, project.check_providers(arguments.provider))
    options = pipeline.BuildOptions(scope, force=arguments.force)
    with stopped_by_terminate() as stop:

        def say(line: str) -> None:
            streams.out.line(line)
            if streams.out.closed:
                stop.set()

        listener = watch.Listener(
            built=lambda done: say(rebuilt(done.report, done.seconds)),
            failed=lambda error: say(f"error: {visible(system_message(error))}; nothing was built"),
        )
        streams.err.line("watching the sources; Ctrl-C ends it")
        watch.watch(root, lambda: build(root, options), listener, lambda folders: watch.events(folders, stop))
    return DONE


def build(root: Path, options: pipeline.BuildOptions) -> watch.Round:
    """One build. Without its agents the project is gone, or on its way to another state: nothing is removed then."""
    if not (root / project.AGENTS).is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), project.AGENTS)
    started = time.monotonic()
    tree = DiskTree(root)
    built = pipeline.run_build(root, replace(options, today=today()), tree)
    now = PresentState(root)
    blocked = {path: now.output(path) for path in built.blocked}
    return watch.Round(built.report, tree.trace, time.monotonic() - started, blocked)


@contextmanager
def stopped_by_terminate() -> Iterator[threading.Event]:
    """An event that SIGTERM sets, so that a build that runs is finished first."""
    stop = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: stop.set())
    try:
        yield stop
    finally:
        signal.signal(signal.SIGTERM, before)
