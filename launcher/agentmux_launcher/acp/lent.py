"""What an agent may have done for it by the client: its files and its commands, as far as the spec lends them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentmux_launcher.acp import files, rpc
from agentmux_launcher.acp.files import OutsideError
from agentmux_launcher.acp.handshake import FILES, TERMINALS
from agentmux_launcher.acp.terminals import Place, Terminal, Terminals, status_of
from agentmux_launcher.pty import SpawnError
from agentmux_launcher.supervise import Closed, Errors, Gone, Output
from agentmux_launcher.translators.values import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentmux_launcher.acp.rpc import Frame, Request
    from agentmux_launcher.supervise import Inbox, Message

_READS = {"fs/read_text_file"}


@dataclass(frozen=True, slots=True)
class Terms:
    """What is lent (`files`, `terminals`), and whether only to look."""

    lends: tuple[str, ...] = ()
    reads_only: bool = False


class Lent:
    """Answers what an agent asks of its client; never waits for a command that runs."""

    def __init__(self, terms: Terms, place: Place, inbox: Inbox) -> None:
        self._terms = terms
        self._folder = place.folder
        self._others: list[Frame] = []
        self._terminals = Terminals(place, inbox)
        # Each gives the result, None where that comes later.
        self._ways: dict[str, Callable[[Request], Mapping[str, Any] | None]] = {}
        if FILES in terms.lends:
            self._ways |= {"fs/read_text_file": self._read, "fs/write_text_file": self._write}
        if TERMINALS in terms.lends:
            self._ways |= {
                "terminal/create": lambda request: self._terminals.create(request.params),
                "terminal/output": lambda request: self._terminal(request).shown,
                "terminal/wait_for_exit": self._wait,
                "terminal/kill": self._kill,
                "terminal/release": self._release,
            }

    def answer(self, request: Request) -> list[Frame]:
        """What is said to a request: its answer, and those that others waited for."""
        way = self._ways.get(request.method)
        if way is None:
            return [rpc.not_offered(request)]
        if self._terms.reads_only and request.method not in _READS:
            return [rpc.error(request, rpc.Fault(rpc.INVALID_PARAMS, "this agent may only read"))]
        try:
            value = way(request)
        except (OutsideError, SpawnError) as fault:
            return [rpc.error(request, rpc.Fault(rpc.INVALID_PARAMS, str(fault)))]
        except FileNotFoundError as fault:
            # A code of its own, by which agents tell a file that is to be made from one that cannot be read.
            return [rpc.error(request, rpc.Fault(rpc.NOT_FOUND, f"Resource not found: {fault}"))]
        except (OSError, ValueError) as fault:
            return [rpc.error(request, rpc.Fault(rpc.INTERNAL, str(fault)))]
        others, self._others = self._others, []
        return others if value is None else [*others, rpc.result(request, value)]

    def take(self, message: Message) -> list[Frame] | None:
        """What came of a command: the answers that waited for it. None where it came of nothing here."""
        if not isinstance(message, Output | Errors | Closed | Gone):
            return None
        terminal = self._terminals.by_child(message.child)
        if terminal is None:
            return None
        return self._ended(terminal) if terminal.take(message) else []

    def tick(self) -> list[Frame]:
        """Answers for commands that have ended although something holds their streams."""
        for terminal in self._terminals.running:
            terminal.child.tick()
        return [frame for each in self._terminals.ended for frame in self._ended(each)]

    @property
    def busy(self) -> bool:
        """Whether a command runs."""
        return bool(self._terminals.running)

    def remaining(self) -> float | None:
        waits = [each.child.remaining() for each in self._terminals.running]
        return min((seconds for seconds in waits if seconds is not None), default=None)

    def end(self) -> None:
        """End every command."""
        self._terminals.release_all()

    def _read(self, request: Request) -> Mapping[str, Any]:
        params = request.params
        line, limit = count(params.get("line")), count(params.get("limit"))
        return {"content": files.read(self._folder, str(params.get("path")), line, limit)}

    def _write(self, request: Request) -> Mapping[str, Any]:
        files.write(self._folder, str(request.params.get("path")), str(request.params.get("content", "")))
        return {}

    def _terminal(self, request: Request) -> Terminal:
        found = self._terminals.of(request.params)
        if found is None:
            raise OutsideError("there is no such terminal")
        return found

    def _wait(self, request: Request) -> Mapping[str, Any] | None:
        terminal = self._terminal(request)
        if terminal.child.done and terminal.child.exit is not None:
            return status_of(terminal.child.exit)
        terminal.waiting.append(request)
        return None

    def _kill(self, request: Request) -> Mapping[str, Any]:
        self._terminal(request).end()
        return {}

    def _release(self, request: Request) -> Mapping[str, Any]:
        terminal = self._terminal(request)
        ended = self._terminals.release(terminal)
        self._others = [rpc.result(each, status_of(ended)) for each in terminal.waiting]
        return {}

    def _ended(self, terminal: Terminal) -> list[Frame]:
        waiting, terminal.waiting = terminal.waiting, []
        ended = terminal.child.exit
        return [] if ended is None else [rpc.result(request, status_of(ended)) for request in waiting]
