"""Commands that an agent runs through us: in groups of their own, below its working directory, ended with the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentmux_launcher.acp.files import below
from agentmux_launcher.pty import SpawnError, spawn
from agentmux_launcher.pty.values import Command, Size, Wiring
from agentmux_launcher.supervise import Child, Closed, Errors, Gone, Grace, Output
from agentmux_launcher.translators.values import count, first, mappings, sequence

if TYPE_CHECKING:
    from agentmux_launcher.pty.values import Exit
    from agentmux_launcher.supervise import Inbox

LARGEST = 1 << 20
_INSIDE = 0x80  # how UTF-8 marks every byte of a character but its first
# No terminal: what it writes to either stream comes as one.
_WIRING = Wiring("pipe", "pipe", "pty")


@dataclass(frozen=True, slots=True)
class Place:
    """What commands are started with: the folder and the environment of the run."""

    folder: str
    env: Mapping[str, str]
    grace: Grace


class Terminal:
    """One command. `output` is the end of what it wrote, at most `limit` bytes of it."""

    def __init__(self, child: Child, limit: int) -> None:
        self.child = child
        self.waiting: list[Any] = []
        self._limit = limit
        self._output = bytearray()
        self._cut = False

    def take(self, message: Output | Errors | Closed | Gone) -> bool:
        """Whether that was its end."""
        if isinstance(message, Closed | Gone):
            self.child.take(message)
        else:
            self._output += message.data
            if len(self._output) > self._limit:
                del self._output[: len(self._output) - self._limit]
                self._cut = True
        return self.child.done

    @property
    def shown(self) -> dict[str, Any]:
        """What `terminal/output` tells."""
        output = bytes(self._output)
        if self._cut:
            output = _from_a_character(output)
        status = {} if self.child.exit is None else {"exitStatus": status_of(self.child.exit)}
        return {"output": output.decode("utf-8", "replace"), "truncated": self._cut, **status}

    def end(self) -> None:
        """End it now, and all that it started in its group."""
        if self.child.exit is None:
            self.child.process.kill()


class Terminals:
    """Those of a run, by the ids that the agent knows them by."""

    def __init__(self, place: Place, inbox: Inbox) -> None:
        self._place = place
        self._inbox = inbox
        self._all: dict[str, Terminal] = {}
        self._last = 0

    def create(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Start a command.

        Raises:
            OutsideError: its folder is outside of the run's.
            SpawnError: it cannot be started.
        """
        executable = first(params.get("command"))
        if executable is None:
            raise SpawnError("there is no command")
        folder = below(self._place.folder, first(params.get("cwd")) or self._place.folder)
        named = {str(each.get("name")): str(each.get("value", "")) for each in mappings(params.get("env"))}
        env = {**named, **{name: value for name, value in self._place.env.items() if name.startswith("AGENTMUX_")}}
        argv = [_found(executable, self._place.env), *(str(word) for word in sequence(params.get("args")))]
        process = spawn(Command(argv, {**self._place.env, **env}, folder), _WIRING, Size())
        process.close_stdin()
        self._last += 1
        limit = count(params.get("outputByteLimit"))
        child = Child(process, self._inbox, self._place.grace)
        self._all[str(self._last)] = Terminal(child, LARGEST if limit is None else min(limit, LARGEST))
        return {"terminalId": str(self._last)}

    def of(self, params: Mapping[str, Any]) -> Terminal | None:
        return self._all.get(str(params.get("terminalId")))

    def by_child(self, child: object) -> Terminal | None:
        return next((each for each in self._all.values() if each.child is child), None)

    def release(self, terminal: Terminal) -> Exit:
        """End it and forget it; how it ended."""
        terminal.end()
        self._all = {name: each for name, each in self._all.items() if each is not terminal}
        ended = terminal.child.exit or terminal.child.process.wait()
        terminal.child.process.release()
        return ended

    def release_all(self) -> None:
        for each in list(self._all.values()):
            self.release(each)

    @property
    def running(self) -> list[Terminal]:
        return [each for each in self._all.values() if not each.child.done]

    @property
    def ended(self) -> list[Terminal]:
        return [each for each in self._all.values() if each.child.done]


def status_of(ended: Exit) -> dict[str, Any]:
    """An end in the words of the protocol."""
    return {"exitCode": ended.code, "signal": None if ended.signal is None else str(ended.signal)}


def _found(executable: str, env: Mapping[str, str]) -> str:
    """The path of a command: one without a folder is looked for on PATH."""
    import shutil  # noqa: PLC0415  for the few agents that ask for it

    return shutil.which(executable, path=env.get("PATH")) or executable


def _from_a_character(data: bytes) -> bytes:
    """Without what is left of a character that was cut."""
    begins = (number for number, byte in enumerate(data[:4]) if byte & 0xC0 != _INSIDE)
    return data[next(begins, 0) :]
