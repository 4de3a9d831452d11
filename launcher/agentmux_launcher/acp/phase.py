"""Why an agent is given up, and in which phase: what a failure says besides the evidence of its process."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_launcher.acp.handshake import FORK, LOAD, RESUME
from agentmux_launcher.events import Event, Failure, FailureClass, Notice
from agentmux_launcher.failure import TITLES

if TYPE_CHECKING:
    from agentmux_launcher.acp.rpc import Fault

TAIL = 8
# What the end of a process says where nothing better is known.
_WEAK = {FailureClass.UNKNOWN, FailureClass.TRUNCATED, FailureClass.NO_OUTPUT, FailureClass.KILLED}


class Phase:
    """One process of an agent: which answer is waited for, what it wrote to stderr, why it was given up."""

    def __init__(self) -> None:
        self._method = ""
        self._seconds = 0.0
        self._tail: deque[str] = deque(maxlen=TAIL)
        self._cause: Failure | None = None
        self._told = False

    def waits(self, method: str, seconds: float) -> None:
        """An answer is waited for."""
        self._method, self._seconds = method, seconds

    def opened(self) -> None:
        """Nothing is waited for."""
        self._method = ""

    @property
    def decided(self) -> bool:
        """Whether the agent was given up."""
        return self._cause is not None

    def unanswered(self) -> None:
        turn = self._method == "session/prompt"
        how = (
            f"and nothing was heard for {self._seconds:.0f} seconds" if turn else f"within {self._seconds:.0f} seconds"
        )
        self._decide(FailureClass.TIMEOUT, f"`{self._method}` was not answered{' ' if not turn else ', '}{how}")

    def refused(self, method: str, fault: Fault) -> None:
        going_on = method in {LOAD, RESUME, FORK}
        means = FailureClass.RESUME_NOT_FOUND if going_on else FailureClass.UNKNOWN
        self._decide(means, f"`{method}` was answered with the error {fault.code}: {fault.message}")

    def cannot(self, words: str) -> None:
        self._decide(FailureClass.BAD_ARGUMENTS, words)

    def told(self, event: Event, *, ended: bool) -> Event:
        """The event as it is to be told: the failure of an agent that has `ended` names the phase, and shows stderr."""
        if isinstance(event, Notice) and event.source == "stderr":
            self._tail.append(event.text)
        if not isinstance(event, Failure) or not ended or not (self._cause or self._method):
            return event
        self._told = True
        cause = self._cause
        if cause is None:
            return self._shown(event, f"while `{self._method}` waited for its answer")
        means = cause.class_ if event.class_ in _WEAK else event.class_
        return self._shown(replace(event, class_=means, title=TITLES[means]), cause.detail)

    @property
    def untold(self) -> Failure | None:
        """The failure that no event told."""
        return None if self._told or self._cause is None else self._shown(self._cause, self._cause.detail)

    def _decide(self, means: FailureClass, words: str) -> None:
        self._cause = self._cause or Failure(means, TITLES[means], words)

    def _shown(self, failure: Failure, words: str) -> Failure:
        said = [words, *([failure.detail] if failure.detail not in words else [])]
        tail = [text for text in self._tail if not any(text in each for each in said)]
        return replace(failure, detail="\n".join([*said, *tail]))
