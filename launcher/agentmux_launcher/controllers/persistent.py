"""A CLI that takes turn after turn in one process, and asks before it uses a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentmux_launcher.controllers import stream_json
from agentmux_launcher.controllers.base import Controller
from agentmux_launcher.events import End, Event, Unknown
from agentmux_launcher.supervise import GRACE, Grace
from agentmux_launcher.usage import Start

if TYPE_CHECKING:
    from agentmux_launcher.controllers.base import Listener
    from agentmux_launcher.controllers.stream_json import Frame
    from agentmux_launcher.events import Permission
    from agentmux_launcher.launch import Launch
    from agentmux_launcher.permission import Decision
    from agentmux_launcher.supervise import Inbox


class Persistent(Controller):
    """One process for all turns. What is said while one runs goes to the CLI at once."""

    lasting = True

    def __init__(self, launch: Launch, inbox: Inbox, listener: Listener, grace: Grace = GRACE) -> None:
        super().__init__(launch, inbox, listener, grace)
        self._running = False
        self._interrupts = 0

    @property
    def idle(self) -> bool:
        return not self._running

    def say(self, text: str) -> None:
        turn = self._turn(text)
        if self.child is None:
            self._begin(self._slots())
        self._running = True
        self.interrupted = False
        self._send(stream_json.turn(turn))

    def interrupt(self) -> None:
        self.interrupted = self.ask_to_stop()

    def ask_to_stop(self) -> bool:
        if self._running:
            self._interrupts += 1
            self._send(stream_json.interrupt(self._interrupts))
        return self._running

    def answer(self, asked: Permission, decision: Decision) -> None:
        """Answer what the CLI asked."""
        given, tool = asked.input, asked.tool or ""
        if not decision.allows:
            self._send(stream_json.denied(asked.id, decision.message))
        elif decision.answers is not None:
            self._send(stream_json.allowed(asked.id, {**given, "answers": dict(decision.answers)}))
        else:
            self._send(
                stream_json.allowed(asked.id, given, [stream_json.rule(tool, given)] if decision.always else None)
            )

    def heard(self, event: Event) -> None:
        super().heard(event)
        if isinstance(event, End):
            self._running = False
        elif isinstance(event, Unknown):
            self._refuse(event.frame)

    def gone(self) -> None:
        self._running = False
        self.start = Start(resumed=True, counters=self.counters)

    def _refuse(self, frame: Any) -> None:
        if isinstance(frame, dict) and frame.get("type") == "control_request":
            request = frame.get("request")
            subtype = request.get("subtype") if isinstance(request, dict) else None
            self._send(stream_json.unsupported(str(frame.get("request_id")), str(subtype)))

    def _send(self, frame: Frame) -> None:
        if self.child is None or self._reader is None:
            return
        self.child.process.write(stream_json.line(frame))
        self.listener.sent(frame)
        self._hear(self._reader.sent(frame))
