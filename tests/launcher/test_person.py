"""What a person types at a real terminal, as lines."""

from __future__ import annotations

import os
import sys

import pytest

from agentmux_launcher.person import Person
from agentmux_launcher.supervise import Inbox, Typed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX")


@pytest.fixture
def terminal():
    master, slave = os.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


def typed(inbox):
    lines = []
    while (message := inbox.get(10)) != Typed(None):
        lines.append(message.line)
    return lines


def test_lines_that_are_pasted_are_one(terminal):
    master, slave = terminal
    os.write(master, b"first\nsecond\n\n\tfourth\n\x04")
    inbox = Inbox()

    Person(slave, slave).listen(inbox)

    assert typed(inbox) == ["first\nsecond\n\n\tfourth"]


def test_lines_that_are_typed_one_after_the_other_are_not(terminal):
    master, slave = terminal
    inbox = Inbox()
    Person(slave, slave).listen(inbox)
    for line in (b"first\n", b"\n", b"third\n"):
        os.write(master, line)
        assert inbox.get(10) == Typed(line.decode().removesuffix("\n"))

    os.write(master, b"open end\x04\x04")
    assert typed(inbox) == ["open end"]
