"""An agent that speaks the Agent Client Protocol: one process, one session, turn after turn."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from agentmux_launcher.acp import rpc
from agentmux_launcher.acp.clock import Clock, Due, fitting
from agentmux_launcher.acp.handshake import Ask, Handshake, Opened, RefusedError, Wanted, handshake, with_values
from agentmux_launcher.acp.lent import Lent, Terms
from agentmux_launcher.acp.phase import Phase
from agentmux_launcher.acp.questions import METHOD, Questions
from agentmux_launcher.acp.terminals import Place
from agentmux_launcher.controllers.base import Controller
from agentmux_launcher.controllers.stream_json import line
from agentmux_launcher.events import Event, Notice
from agentmux_launcher.manifest import AcpPlan
from agentmux_launcher.startup import first_turn
from agentmux_launcher.supervise import GRACE, Errors, Grace, Output
from agentmux_launcher.usage import Start

if TYPE_CHECKING:
    from agentmux_launcher.acp.rpc import Answer, Frame
    from agentmux_launcher.controllers.base import Listener, Why
    from agentmux_launcher.events import Permission
    from agentmux_launcher.launch import Launch
    from agentmux_launcher.permission import Decision
    from agentmux_launcher.supervise import Inbox, Message

PROMPT = "session/prompt"
_CALLED_OFF = 1.5  # seconds; the slowest agent that was measured took 1.0


class Acp(Controller):
    """What is said while a turn runs waits for its end. All that is decided here is decided from frames."""

    lasting = True

    def __init__(self, launch: Launch, inbox: Inbox, listener: Listener, grace: Grace = GRACE) -> None:
        self._acp = launch.plan.acp or AcpPlan()
        super().__init__(launch, inbox, listener, fitting(grace, self._acp))
        self._waiting: deque[str] = deque()
        self._questions = Questions(self._acp.passes, launch.folder)
        self._frames: list[Frame] = []
        self._peer = rpc.Peer()
        self._lent = self._new_lent()
        self._opening: Handshake | None = None
        self._session: Opened | None = None
        self._turn_id: int | None = None
        self._phase = Phase()
        self._clock = Clock(self._acp)

    @property
    def idle(self) -> bool:
        return self._turn_id is None and not self._waiting

    def say(self, text: str) -> None:
        if self.child is None:
            self._start()
        self._waiting.append(text)
        self._prompt()

    def interrupt(self) -> None:
        self._waiting.clear()
        self.interrupted = self.ask_to_stop()

    def ask_to_stop(self) -> bool:
        if self._turn_id is None or self._session is None:
            return False
        if self.interrupted:
            return True
        self._send(rpc.notification("session/cancel", {"sessionId": self._session.session_id}))
        self._send_all(self._questions.call_off())
        return True

    def stop(self, why: Why) -> None:
        """A turn that is called off has a moment to say what it used, before the agent's input ends."""
        self._waiting.clear()
        again, self._why = self._why != "itself", why if self._why == "itself" else self._why
        if again and self.child is not None and not self.child.stopping:
            self._end()
        if self._turn_id is None or again:
            self._end()
            return
        self.interrupted = self.interrupted or self.ask_to_stop()
        self._clock.step(_CALLED_OFF)

    def _end(self) -> None:
        self._clock.stop()
        super().stop(self._why)
        self._lent.end()

    def answer(self, asked: Permission, decision: Decision) -> None:
        self._send_all(self._questions.answer(asked.id, decision))

    def remaining(self) -> float | None:
        waits = (super().remaining(), self._lent.remaining(), self._clock.remaining())
        return min((seconds for seconds in waits if seconds is not None), default=None)

    def take(self, message: Message) -> None:
        answers = self._lent.take(message)
        if answers is not None:
            self._send_all(answers)
            return
        if isinstance(message, Output | Errors) and message.child is self.child:
            self._clock.heard()
        super().take(message)
        frames, self._frames = self._frames, []
        for frame in frames:
            self._received(frame)

    def tick(self) -> None:
        self._send_all(self._lent.tick())
        super().tick()
        due = self._clock.look(busy=bool(self._questions) or self._lent.busy)
        if due is Due.END and self._why != "itself":
            self._end()
        elif due is Due.END:
            self._phase.unanswered()
            self._give_up()
        elif due is Due.REMARK:
            said = f"nothing was heard of the agent for {self._clock.silence:.0f} seconds"
            self.listener.event(Notice(said, "agentmux"))

    def heard(self, event: Event) -> None:
        super().heard(self._phase.told(event, ended=self.child is None))

    def gone(self) -> None:
        self._lent.end()
        if missing := self._phase.untold:
            self.listener.event(missing)
        if self._waiting:
            self.listener.event(Notice(f"{len(self._waiting)} turns that waited were not sent", "agentmux"))
        self._waiting.clear()
        self._clock.stop()
        self._session = self._opening = self._turn_id = None
        self.start = Start(resumed=True, counters=self.counters)

    def _watch(self, frame: Frame) -> None:
        """Updates, nearly all there is, need nothing; the rest is looked at when its events were told."""
        if frame.get("id") is not None:
            self._frames.append(frame)

    def _start(self) -> None:
        going_on, fork = (self.launch.session_id, self.launch.fork) if self._first else (self.session_id, False)
        self._phase = Phase()
        self._begin(self._slots())
        self._peer, self._lent, self._frames = rpc.Peer(), self._new_lent(), []
        self._questions = Questions(self._acp.passes, self.launch.folder)
        wanted = Wanted(self.launch.folder, self.launch.plan.mcp_servers, going_on, fork)
        self._opening = handshake(self._acp, wanted, self.launch.env)
        self._ask(next(self._opening))

    def _new_lent(self) -> Lent:
        terms = Terms(self._acp.lends, reads_only=self.launch.plan.permission == "plan")
        return Lent(terms, Place(self.launch.folder, self.launch.env, self._grace), self._inbox)

    def _received(self, frame: Frame) -> None:
        taken = self._peer.take(frame)
        match taken:
            case None:
                return
            case rpc.Request(method=method):
                served = self._questions.take if method == METHOD else self._lent.answer
                self._send_all(served(taken))
                if self.interrupted:
                    self._send_all(self._questions.call_off())
            case rpc.Answer(id=number):
                if number == self._turn_id:
                    self._turn_is_over()
                elif self._opening is not None:
                    self._go_on(taken)

    def _go_on(self, answer: Answer) -> None:
        """The next step towards a session."""
        if self._opening is None or self._phase.decided:
            return
        self._clock.stop()
        if answer.fault is not None:
            self._phase.refused(answer.method, answer.fault)
            self._give_up()
            return
        try:
            self._ask(self._opening.send(answer.result))
        except RefusedError as fault:
            self._phase.cannot(str(fault))
            self._give_up()
        except StopIteration as opened:
            self._session, self._opening = opened.value, None
            self.session_id = self._session.session_id if self._session else None
            self._phase.opened()
            self._prompt()

    def _ask(self, ask: Ask) -> None:
        self._clock.step(ask.seconds)
        self._phase.waits(ask.method, ask.seconds)
        self._send(self._peer.request(ask.method, ask.params)[1])

    def _prompt(self) -> None:
        """Say what waits, if nothing is under way."""
        if self._session is None or self._turn_id is not None or not self._waiting or self._phase.decided:
            return
        text = self._waiting.popleft()
        if self._session.new:
            text = first_turn(self.launch.opening, text)
            self._session = replace(self._session, new=False)
        prompt = {"sessionId": self._session.session_id, "prompt": [{"type": "text", "text": text}]}
        self._turn_id, frame = self._peer.request(PROMPT, prompt)
        self.interrupted = False
        self._clock.turn()
        self._phase.waits(PROMPT, self._acp.silent_seconds)
        self._send(frame)

    def _turn_is_over(self) -> None:
        self._turn_id = None
        self._clock.stop()
        self._phase.opened()
        self._send_all(self._questions.call_off())
        if self._why != "itself":
            self._end()
        else:
            self._prompt()

    def _give_up(self) -> None:
        """End the agent: without what it did not do there is nothing to go on with."""
        self._waiting.clear()
        self._clock.stop()
        if self.child is not None:
            self.child.stop(self.ask_to_stop)

    def _send_all(self, frames: list[Frame]) -> None:
        for frame in frames:
            self._send(frame)

    def _send(self, frame: Frame) -> None:
        """The agent gets the values of variables; what is kept, and shown, has their names."""
        if self.child is None or self._reader is None:
            return
        self.child.process.write(line(with_values(frame, self.launch.env)))
        self.listener.sent(frame)
        self._hear(self._reader.sent(frame))
