"""The folder of one run: what its CLI wrote, byte for byte, and where each of its processes begins and ends in it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentmux_launcher import processes
from agentmux_launcher.codec import from_json, to_json
from agentmux_launcher.frames import LONGEST_LINE
from agentmux_launcher.pty.streams import write_all
from agentmux_launcher.reading import Ended
from agentmux_launcher.usage import FRESH, Start

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from agentmux_launcher.manifest import LaunchPlan

RUNS = ".agentmux/runs"
FRAMES, STDERR, PROCESSES, PLAN = "frames.jsonl", "stderr.log", "processes.jsonl", "plan.json"
LAUNCHER = "launcher.json"


def new_id() -> str:
    """An id for a run; later ones sort behind earlier ones."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True)
class Begun:
    """A process of the CLI, the places in the files where it begins, and how its session's counters stood."""

    frames: int
    stderr: int
    start: Start = FRESH
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """What one process wrote. `ended` is None while it runs."""

    begun: Begun
    frames: bytes
    stderr: bytes
    ended: Ended | None


class RunFolder:
    """Written as things come; whatever ends the launcher, no more than a last line is lost.

    `launcher.json` names the process that writes, by which others see whether it still runs. `lost` says that
    something could not be written.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        _hide(folder.parent)
        self.folder = folder
        self.lost = False
        (folder / LAUNCHER).write_bytes(json.dumps(to_json(processes.me())).encode() + b"\n")
        self._files = {name: _opened(folder / name) for name in (FRAMES, STDERR, PROCESSES)}
        self._sizes = dict.fromkeys(self._files, 0)
        self._rest = bytearray()
        self._in_line = False

    def plan(self, plan: LaunchPlan) -> None:
        """Keep the plan, which is enough to read the frames by."""
        text = json.dumps(to_json(plan), indent=1, sort_keys=True, ensure_ascii=False)
        (self.folder / PLAN).write_bytes(text.encode() + b"\n")

    def begin(self, start: Start, *, lasting: bool) -> None:
        self._flush()
        self._note(Begun(self._sizes[FRAMES], self._sizes[STDERR], start, lasting))

    def end(self, ended: Ended) -> None:
        self._flush()
        self._note(ended)

    def output(self, data: bytes) -> None:
        """What came on stdout. It is written line by line, so that what is sent stands between two lines.

        A line that is too long for a frame is written as it comes.
        """
        end = data.rfind(b"\n") + 1
        if end or self._in_line or len(self._rest) + len(data) > LONGEST_LINE:
            self._write(FRAMES, bytes(self._rest) + data[: end or None])
            self._rest = bytearray(data[end:] if end else b"")
            self._in_line = not end
        else:
            self._rest += data

    def errors(self, data: bytes) -> None:
        self._write(STDERR, data)

    def sent(self, frame: Mapping[str, Any]) -> None:
        told = json.dumps({"dir": "in", "frame": frame}, ensure_ascii=False, separators=(",", ":"))
        self._write(FRAMES, told.encode("utf-8", "backslashreplace") + b"\n")

    def close(self) -> None:
        self._flush()
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files = {}

    def _flush(self) -> None:
        """A last line without an end gets one, since another process may follow."""
        if self._rest or self._in_line:
            self._write(FRAMES, bytes(self._rest) + b"\n")
            self._rest.clear()
            self._in_line = False

    def _note(self, what: Begun | Ended) -> None:
        kind = "begun" if isinstance(what, Begun) else "ended"
        self._write(PROCESSES, json.dumps({kind: to_json(what)}).encode() + b"\n")

    def _write(self, name: str, data: bytes) -> None:
        if data and name in self._files:
            self.lost = self.lost or not write_all(self._files[name], data)
            self._sizes[name] += len(data)


def _hide(runs: Path) -> None:
    """What CLIs said is not for a repository, whatever its own rules are."""
    with contextlib.suppress(OSError), (runs / ".gitignore").open("x", encoding="utf-8", newline="\n") as file:
        file.write("*\n")


def _opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)


def parts(folder: Path) -> list[Part]:
    """What each process of a run wrote, the last one maybe still writing.

    Raises:
        OSError: a file of the folder is not there.
        ValueError, TypeError, KeyError: it is not one of ours.
    """
    notes = [
        json.loads(line) for line in (folder / PROCESSES).read_bytes().splitlines(keepends=True) if line[-1:] == b"\n"
    ]
    frames, stderr = ((folder / name).read_bytes() for name in (FRAMES, STDERR))
    begun = [from_json(Begun, note["begun"]) for note in notes if "begun" in note]
    ended = [from_json(Ended, note["ended"]) for note in notes if "ended" in note]
    following = [*begun[1:], Begun(len(frames), len(stderr))]
    ends: list[Ended | None] = [*ended, None]
    return [
        Part(each, frames[each.frames : after.frames], stderr[each.stderr : after.stderr], ends[number])
        for number, (each, after) in enumerate(zip(begun, following, strict=True))
    ]


def plan_of(folder: Path) -> LaunchPlan:
    """The plan of a run; raises as `parts`."""
    from agentmux_launcher.manifest import LaunchPlan  # noqa: PLC0415  its annotations are read here only

    return from_json(LaunchPlan, json.loads((folder / PLAN).read_bytes()))
