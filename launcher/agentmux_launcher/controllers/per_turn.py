"""A CLI that takes one turn: a process for each, every one but the first going on with the session."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from agentmux_launcher.controllers.base import Controller
from agentmux_launcher.supervise import GRACE, Grace
from agentmux_launcher.usage import Start

if TYPE_CHECKING:
    from agentmux_launcher.controllers.base import Listener, Why
    from agentmux_launcher.launch import Launch
    from agentmux_launcher.supervise import Inbox


class PerTurn(Controller):
    """A turn is a process. What is said while one runs waits for its end."""

    def __init__(self, launch: Launch, inbox: Inbox, listener: Listener, grace: Grace = GRACE) -> None:
        super().__init__(launch, inbox, listener, grace)
        self._waiting: deque[str] = deque()

    @property
    def idle(self) -> bool:
        return self.child is None

    def say(self, text: str) -> None:
        if self.child is not None:
            self._waiting.append(text)
            return
        prompt = self._turn(text)
        child = self._begin(self._slots(prompt))
        if self.launch.plan.prompt_delivery == "stdin":
            child.process.write(f"{prompt}\n".encode())
        child.process.close_stdin()

    def interrupt(self) -> None:
        self.interrupted = True
        self.stop("stopped")

    def stop(self, why: Why) -> None:
        self._waiting.clear()
        super().stop(why)

    def gone(self) -> None:
        self.start = Start(resumed=True, counters=self.counters)
        if self._waiting:
            self.say(self._waiting.popleft())
