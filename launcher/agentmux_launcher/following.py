"""The events of a run out of its folder, while it is written and afterwards."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agentmux_launcher.codec import from_json
from agentmux_launcher.reading import Ended, Reader, reading_of
from agentmux_launcher.run_folder import FRAMES, PROCESSES, STDERR, Begun, plan_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agentmux_launcher.events import Event


class Following:
    """Reads on from where it was. `event`s are as the run itself had them.

    Raises:
        OSError: the folder or a file of it is not there.
        ValueError, TypeError, KeyError: it is none of a run.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._plan = plan_of(folder)
        self._frames = _File(folder / FRAMES)
        self._stderr = _File(folder / STDERR)
        self._processes = _File(folder / PROCESSES)
        self._notes: list[Begun | Ended] = []
        self._reader: Reader | None = None
        self.raw = b""

    def more(self) -> Iterator[Event]:
        """The events of what was written since; `raw` is then what came with them."""
        self.raw = b""
        self._notes += self._new_notes()
        while self._notes:
            note = self._notes[0]
            if isinstance(note, Begun):
                self._begin(note)
            elif self._reader is None:
                return
            else:
                yield from self._read()
                yield from self._reader.close(note)
                self._reader = None
            self._notes.pop(0)
        yield from self._read()

    def finish(self) -> Iterator[Event]:
        """The run is over; a process whose end nobody noted ended with its launcher."""
        yield from self.more()
        if self._reader is not None:
            yield from self._reader.close(Ended())
            self._reader = None

    def _new_notes(self) -> list[Begun | Ended]:
        values = [json.loads(line) for line in self._processes.lines().splitlines()]
        return [
            from_json(Begun, value["begun"]) if "begun" in value else from_json(Ended, value["ended"])
            for value in values
        ]

    def _begin(self, begun: Begun) -> None:
        self._reader = Reader(reading_of(self._plan, begun.start, lasting=begun.lasting))

    def _read(self) -> Iterator[Event]:
        """What the process that runs has written; up to the next one's beginning, if there is one."""
        if self._reader is None:
            return
        following = next((note for note in self._notes if isinstance(note, Begun)), None)
        frames = self._frames.data(following.frames if following else None)
        self.raw += frames
        yield from self._reader.stdout(frames)
        yield from self._reader.stderr(self._stderr.data(following.stderr if following else None))


class _File:
    """A file that grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0

    def data(self, end: int | None = None) -> bytes:
        """What was added, up to the place `end`."""
        with self._path.open("rb") as file:
            file.seek(self._at)
            data = file.read(-1 if end is None else end - self._at)
        self._at += len(data)
        return data

    def lines(self) -> bytes:
        """The whole lines that were added."""
        whole, newline, rest = self.data().rpartition(b"\n")
        self._at -= len(rest)
        return whole + newline
