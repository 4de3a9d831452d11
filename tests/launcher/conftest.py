"""Who shows a run in a test, and types where a person would."""

from __future__ import annotations

import threading

import pytest

from agentmux_launcher import events
from agentmux_launcher.supervise import Typed


class TypingHost:
    """Types its lines one after the other, each when it is the person's turn, or is asked.

    With `slow`, it says yes to what is asked, after so many seconds. `when` are conditions of events, with what then
    comes into the inbox.
    """

    slow = 0.0

    def __init__(self, inbox, lines=(), *, chat=False, person=False, when=()):
        self.inbox = inbox
        self.lines = list(lines)
        self.chat = chat
        self.person = person
        self.when = list(when)
        self.events = []
        self.questions = []

    def output(self, data):
        pass

    def event(self, event):
        self.events.append(event)
        for condition, message in list(self.when):
            if condition(event):
                self.when.remove((condition, message))
                self.inbox.put(message)

    def ready(self):
        self.type()

    def question(self, asked):
        self.questions.append(asked)
        if self.slow:
            threading.Timer(self.slow, lambda: self.inbox.put(Typed("y"))).start()
        else:
            self.type()

    def typed(self, line):
        pass

    def remaining(self):
        return None

    def tick(self):
        pass

    def type(self):
        self.inbox.put(Typed(self.lines.pop(0) if self.lines else None))

    def all(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self):
        return "".join(event.text for event in self.all(events.Text))


@pytest.fixture
def typing_host() -> type[TypingHost]:
    """The class of such a host; its first argument is the inbox."""
    return TypingHost
