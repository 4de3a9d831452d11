"""The folder of one of our own runs: its frames, through the translator that its plan names."""

from __future__ import annotations

import calendar
import time
from typing import TYPE_CHECKING, ClassVar

from agentmux_launcher.accounting import tokens_of
from agentmux_launcher.events import Compaction, End, Session, Text, Thinking, ToolCall, Usage
from agentmux_launcher.following import Following
from agentmux_launcher.run_folder import plan_of
from agentmux_usage.readers.base import UNREADABLE, Reader
from agentmux_usage.response import Response

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agentmux_launcher.events import Event
    from agentmux_launcher.manifest import LaunchPlan

# Frames do not say when they came: a run's calls follow its beginning, so far apart.
_APART = 0.001


class RunReader(Reader):
    """Reads `.agentmux/runs/RUN/frames.jsonl`, with the plan and the processes that stand beside it."""

    whole_file: ClassVar[bool] = True

    def file(self, path: Path) -> Iterator[Response]:
        try:
            plan, following = plan_of(path.parent), Following(path.parent)
            run = _Run(plan, path.parent.name)
            for event in following.finish():
                yield from run.event(event)
        except (ValueError, TypeError, KeyError):
            self.notes[UNREADABLE] += 1


class _Run:
    """The responses of a run's events: its calls, and of a turn that reports none, the turn."""

    def __init__(self, plan: LaunchPlan, run_id: str) -> None:
        self._plan = plan
        self._run_id = run_id
        self._session = run_id
        self._model = plan.model
        self._turn, self._calls, self._told = 1, 0, 0
        self._compacted = self._spoke = False

    def event(self, event: Event) -> Iterator[Response]:
        if isinstance(event, Session):
            self._session, self._model = event.session_id or self._session, event.model or self._model
        elif isinstance(event, Usage):
            self._calls += event.scope == "call"
            if event.scope == "call" or not (self._calls or tokens_of(event).nothing):
                yield self._response(event)
        elif isinstance(event, Compaction):
            self._compacted = True
        elif isinstance(event, Text | Thinking | ToolCall):
            self._spoke = True
        elif isinstance(event, End):
            self._turn, self._calls, self._spoke = self._turn + 1, 0, False

    def _response(self, usage: Usage) -> Response:
        self._told += 1
        # A turn in which nothing was said or called but the session was summed up is the call that did that.
        summed_up = usage.scope == "turn" and self._compacted and not self._spoke
        compacted = self._compacted and not summed_up
        self._compacted = summed_up
        return Response(
            self._plan.provider,
            self._session,
            _began(self._run_id) + self._told * _APART,
            tokens_of(usage),
            usage.model or self._model,
            self._turn,
            "side" if summed_up else "main" if usage.parent is None else "subagent",
            usage.parent,
            usage.message_id or f"{self._run_id}:{self._told}",
            agent=self._plan.agent,
            effort=self._plan.effort,
            after_compaction=compacted,
            run_id=self._run_id,
            calls=1 if usage.scope == "call" else None,
        )


def _began(run_id: str) -> float:
    """When a run began, from its id."""
    try:
        return float(calendar.timegm(time.strptime(run_id[:15], "%Y%m%d-%H%M%S")))
    except ValueError:
        return 0.0
