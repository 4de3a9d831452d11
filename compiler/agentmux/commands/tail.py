"""`agentmux tail`: follow a run, or replay a recording of a CLI's output."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

from agentmux.commands.ps import runs
from agentmux.errors import DONE, CannotRun
from agentmux.launch.run_host import About, view_of
from agentmux.recordings import reading_of
from agentmux.run_names import find, unnamed
from agentmux_launcher.following import Following
from agentmux_launcher.frames import Frame, split
from agentmux_launcher.person import somebody
from agentmux_launcher.processes import alive
from agentmux_launcher.reading import ended, replay
from agentmux_launcher.run_folder import FRAMES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from agentmux.launch.run_host import View
    from agentmux.streams import Streams
    from agentmux_launcher.events import Event
    from agentmux_launcher.ledger import Run


POLL = 0.1  # seconds between two looks at a run that goes on


def run(arguments: argparse.Namespace, streams: Streams) -> int:
    if arguments.file is None:
        raise unnamed("tail")
    if not Path(arguments.file).is_file() and arguments.provider is None:
        return _follow(arguments, streams)
    if arguments.provider is None:
        raise CannotRun("whose recording is it?", remedy="name its provider with `--provider P`")
    stdout = _read(arguments.file)
    stderr = _read(arguments.stderr) if arguments.stderr else b""
    if arguments.output == "raw":
        _raw(stdout, streams)
        return DONE
    events = replay(stdout, stderr, ended(arguments.exit_code), reading_of(arguments.provider, stdout))
    with _shown(arguments.output, streams, About(arguments.provider, None, None, _unknown, _unknown)) as view:
        _show(events, view)
    return DONE


def _follow(arguments: argparse.Namespace, streams: Streams) -> int:
    """A run from its beginning on, until it ends."""
    run = find(arguments.file, runs(), arguments.project)
    about = About(run.provider, run.agent, run.model, lambda: (run.ended or time.time()) - run.started, _unknown)
    with _kept(run):
        following = Following(Path(run.folder))
    with _shown(arguments.output, streams, about) as view:
        _keep_up(run, following, view)
    return DONE


@contextlib.contextmanager
def _kept(run: Run) -> Iterator[None]:
    """Reading what a run left, which others may have removed, spoiled, or written in another version."""
    try:
        yield
    except FileNotFoundError as error:
        raise CannotRun(f"the folder of `{run.run_id}` is not there any more") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        frames = Path(run.folder) / FRAMES
        remedy = f"`agentmux tail --provider {run.provider} {frames}` reads what the CLI wrote"
        raise CannotRun(f"what is kept of `{run.run_id}` cannot be read", remedy=remedy) from error


def _read_on(run: Run, events: Iterator[Event]) -> Iterator[Event]:
    with _kept(run):
        yield from events


def _keep_up(run: Run, following: Following, view: View) -> None:
    while True:
        runs_on = run.ended is None and alive(run.launcher)
        _show(_read_on(run, following.more() if runs_on else following.finish()), view)
        view.output(following.raw)
        view.tick()
        if not runs_on:
            break
        time.sleep(POLL)


@contextlib.contextmanager
def _shown(output: str, streams: Streams, about: About) -> Iterator[View]:
    """A view, closed in whatever way it ends."""
    view = view_of(output, streams, about)
    view.attend(somebody(), chat=False)
    try:
        yield view
    finally:
        view.close()


def _unknown() -> None:
    """When things happened is written nowhere."""


def _show(events: Iterator[Event], view: View) -> None:
    for event in events:
        view.event(event)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        raise CannotRun(f"no recording `{path}`") from error


def _raw(stdout: bytes, streams: Streams) -> None:
    for item in split([stdout]):
        if isinstance(item, Frame):
            streams.out.line(item.line.decode("utf-8", "replace"))
