"""A terminal that knows what the live view may write and nothing else, and a project to run in it."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest

FAKE = Path(__file__).parents[2] / "fake_cli.py"
SEQUENCE = re.compile(r"\x1b(?:\[(\??\d*(?:;\d+)*)([A-Za-z])|([78D]))")


class Paper:
    """A terminal: rows that fold, a cursor that waits behind a full row, and what has left at the top.

    `odd` (1 or 2) is how wide it draws symbols, which terminals disagree on. Whatever it does not know is an error.
    """

    def __init__(self, width=80, height=24, odd=2):
        self.width, self.height, self.odd = width, height, odd
        self.rows = [[]]
        self.folded = [False]
        self.top = self.row = self.column = 0
        self.saved = None
        self.styled = False
        self.folds = True

    def feed(self, text):
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = SEQUENCE.match(text, at)
                assert found, repr(text[at : at + 20])
                self._sequence(*found.groups())
                at = found.end()
            else:
                self._one(text[at])
                at += 1

    @property
    def lines(self):
        """Everything that is there, a line for each that was written, as copying it would give."""
        lines, open_line = [], False
        for row, folded in zip(self.rows, self.folded, strict=True):
            text = "".join(row)
            lines = [*lines[:-1], lines[-1] + text] if open_line else [*lines, text]
            open_line = folded
        return lines

    @property
    def screen(self):
        return ["".join(row).rstrip() for row in self.rows[self.top :]]

    def resize(self, width, height):
        """Fold every line anew, as most terminals do."""
        line, before = 0, 0
        for number in range(self.row):
            line, before = (line, before + len(self._cells(number))) if self.folded[number] else (line + 1, 0)
        offset = before + self.column
        lines, open_line = [], False
        for number, folded in enumerate(self.folded):
            cells = self._cells(number)
            lines = [*lines[:-1], lines[-1] + cells] if open_line else [*lines, cells]
            open_line = folded
        self.width, self.height, self.rows, self.folded = width, height, [], []
        for number, cells in enumerate(lines):
            pieces = [cells[at : at + width] for at in range(0, len(cells), width)] or [[]]
            if number == line:
                self.row = len(self.rows) + min(offset // width, len(pieces) - 1)
                self.column = offset - (self.row - len(self.rows)) * width
            self.rows += pieces
            self.folded += [True] * (len(pieces) - 1) + [False]
        self.top = max(0, len(self.rows) - height)

    def _cells(self, number):
        return self.rows[number]

    def _one(self, character):
        if character == "\n":
            self._down()
        elif character == "\r":
            self.column = 0
        elif character == "\t":
            self._put_tab()
        else:
            assert unicodedata.category(character) != "Cc", repr(character)
            self._put(character)

    def _put(self, character):
        wide = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        wide = self.odd if unicodedata.category(character) in {"So", "Sk"} else wide
        wide = self.odd - 1 if unicodedata.category(character) in {"Mn", "Cf"} else wide
        if wide == 0 and self.column:
            self.rows[self.row][self.column - 1] += character
            return
        wide = max(1, wide)
        if self.column + wide > self.width and not self.folds:
            self.column = self.width - wide
        if self.column + wide > self.width:
            self.folded[self.row] = True
            self._down()
            self.column = 0
        self._fill(self.column)
        self.rows[self.row][self.column : self.column + wide] = [character, *[""] * (wide - 1)]
        self.column += wide

    def _put_tab(self):
        self._fill(self.column)
        after = max(self.column, min((self.column // 8 + 1) * 8, self.width - 1))
        if after > self.column:
            self.rows[self.row][self.column : after] = ["\t", *[""] * (after - self.column - 1)]
        self.column = after

    def _fill(self, column):
        row = self.rows[self.row]
        row += [" "] * (column - len(row))

    def _down(self):
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])
            self.folded.append(False)
        self.top = max(self.top, self.row - self.height + 1)

    def _sequence(self, numbers, letter, short):
        if short == "7":
            self.saved = (self.row - self.top, self.column)
        elif short == "8":
            self.row, self.column = self.top + self.saved[0], self.saved[1]
        elif short == "D":
            self.column = min(self.column, self.width - 1)
            self._down()
        elif letter == "A":
            self.column = min(self.column, self.width - 1)
            self.row = max(self.top, self.row - int(numbers))
        elif numbers == "?7":
            self.folds = letter == "h"
        elif letter == "J":
            assert numbers == ""
            self.rows = [*self.rows[: self.row], self.rows[self.row][: min(self.column, self.width - 1)]]
            self.folded = [*self.folded[: self.row], False]
        else:
            assert letter == "m", (numbers, letter)
            self.styled = True


@pytest.fixture(scope="session")
def paper():
    """A function that makes a terminal."""
    return Paper


class Shell:
    """A project with one agent, and the stand-in as its CLI."""

    def __init__(self, root, repository):
        self.project, self.fake, folder = root / "project", root / "fake", root / "bin"
        for each in (self.project / "agents.d", self.fake, folder):
            each.mkdir(parents=True)
        spec = "providers: {claude: {model: opus}, codex: {}}\npermission: ask\ninstructions: Review the diff.\n"
        (self.project / "agents.d" / "reviewer.yaml").write_text(spec, encoding="utf-8")
        for name, version in {"claude": "2.1.332", "codex": "0.171.0"}.items():
            text = f'#!/bin/sh\nFAKE_VERSION={version} exec {sys.executable} {FAKE} "$@"\n'
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(0o755)
        self.env = {
            "PATH": os.pathsep.join([str(folder), os.defpath]),
            "PYTHONPATH": os.pathsep.join(str(repository / name) for name in ("compiler", "launcher")),
            "HOME": str(root / "home"),
            "FAKE_CLI": str(self.fake),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }

    def script(self, *of_processes):
        (self.fake / "script.json").write_text(json.dumps(of_processes), encoding="utf-8")

    def notes(self, number=0):
        return json.loads((self.fake / f"note-{number}.json").read_text(encoding="utf-8"))


@pytest.fixture
def shell(tmp_path, repository):
    return Shell(tmp_path, repository)


class Terminal:
    """A person at a terminal in which `agentmux` runs: what it wrote, and what that looks like."""

    # A session of its own, whose terminal is the one on stdin.
    START = (
        "import fcntl, os, sys, termios\n"
        "os.setsid()\n"
        "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'agentmux', *sys.argv[1:]])\n"
    )

    def __init__(self, shell, words, width, height):
        self.termios = pytest.importorskip("termios")
        self.master, self.slave = os.openpty()
        self.paper = Paper(width, height)
        self.raw = b""
        self._rest = b""
        self.termios.tcsetwinsize(self.slave, (height, width))
        self.child = subprocess.Popen(
            [sys.executable, "-c", self.START, *words],
            cwd=shell.project,
            env=shell.env,
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
        )

    @property
    def echoes(self):
        return bool(self.termios.tcgetattr(self.slave)[3] & self.termios.ECHO)

    def until(self, condition, seconds=20):
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "\n".join(self.paper.lines)
            self._read(0.05)

    def sees(self, text):
        self.until(lambda: text in "\n".join(self.paper.lines))

    def types(self, text):
        os.write(self.master, text.encode())

    def resize(self, width, height):
        self.paper.resize(width, height)
        self.termios.tcsetwinsize(self.slave, (height, width))

    def settles(self):
        """Read on until nothing comes."""
        while self._read(0.05):
            pass

    def ends(self, seconds=20):
        """Its exit code, once all is read that it wrote."""
        self.until(lambda: self.child.poll() is not None, seconds)
        self.settles()
        return self.child.returncode

    def close(self):
        self.child.kill()
        self.child.wait()
        os.close(self.master)
        os.close(self.slave)

    def _read(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        data = os.read(self.master, 65536)
        self.raw += data
        text = (self._rest + data).decode("utf-8", "ignore")
        left = len(self._rest + data) - len(text.encode())
        unfinished = (self._rest + data)[len(self._rest + data) - left :] if left else b""
        cut = text.rfind("\x1b")
        if cut >= 0 and not SEQUENCE.match(text, cut):
            unfinished, text = text[cut:].encode() + unfinished, text[:cut]
        self._rest = unfinished
        self.paper.feed(text)
        return True


@pytest.fixture
def terminal(shell):
    """A function that runs `agentmux` in a terminal of some size."""
    opened = []

    def run(*words, width=80, height=24):
        opened.append(Terminal(shell, words, width, height))
        return opened[-1]

    yield run
    for each in opened:
        each.close()
