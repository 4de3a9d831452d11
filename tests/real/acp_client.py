"""A client of the Agent Client Protocol that drives one real agent over pipes and keeps all that it says."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Json = dict[str, Any]


class RpcError(Exception):
    """The agent answered a request with an error."""

    def __init__(self, error: Json) -> None:
        super().__init__(f"{error.get('code')}: {error.get('message')} {error.get('data', '')}")
        self.error = error


class NoAnswerError(Exception):
    """The agent did not answer a request in time, or has ended."""


@dataclass(slots=True)
class Agent:
    """A started agent. `chooses` are the kinds of options that answer its questions, the preferred first.

    `updates` are those of its sessions, `asked` its questions, `strays` lines that are no message.
    """

    process: subprocess.Popen[bytes]
    chooses: tuple[str, ...] = ("allow_once", "allow_always")
    updates: list[Json] = field(default_factory=list)
    asked: list[Json] = field(default_factory=list)
    strays: list[bytes] = field(default_factory=list)
    stderr: list[bytes] = field(default_factory=list)
    readers: list[threading.Thread] = field(default_factory=list)
    _answers: dict[int, queue.SimpleQueue[Json | None]] = field(default_factory=dict)
    _last: int = 0

    @property
    def complaints(self) -> str:
        """The end of what it wrote to stderr."""
        return b"".join(self.stderr)[-3000:].decode("utf-8", "replace")

    def request(self, method: str, params: Json, timeout: float = 120) -> Json:
        """The result of a request.

        Raises:
            RpcError: the answer is an error.
            NoAnswerError: there is none within `timeout` seconds.
        """
        self._last += 1
        waiting = self._answers[self._last] = queue.SimpleQueue()
        self._send({"id": self._last, "method": method, "params": params})
        try:
            answer = waiting.get(timeout=timeout)
        except queue.Empty:
            answer = None
        if answer is None:
            raise NoAnswerError(
                f"`{method}` was not answered: {b''.join(self.stderr)[-3000:].decode(errors='replace')}"
            )
        if "error" in answer:
            raise RpcError(answer["error"])
        return answer.get("result") or {}

    def notify(self, method: str, params: Json) -> None:
        self._send({"method": method, "params": params})

    def close(self, patience: float = 5) -> int:
        """End its input, then the whole group; the exit code."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        for ending in (signal.SIGTERM, signal.SIGKILL):
            try:
                self.process.wait(patience)
                break
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, ending)
        # What it leaves behind may hold its pipes.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for reader in self.readers:
            reader.join(patience)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None and not any(reader.is_alive() for reader in self.readers):
                stream.close()
        return self.process.wait()

    def _send(self, message: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def listen(self) -> None:
        """Take in all that the agent says, to its end."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                self._take(json.loads(line))
            except ValueError:
                self.strays.append(line)
        for waiting in self._answers.values():
            waiting.put(None)

    def _take(self, message: Json) -> None:
        method, identity = message.get("method"), message.get("id")
        if method is None:
            self._answers[identity].put(message)
        elif identity is None:
            self.updates.append(message.get("params", {}).get("update") or message)
        elif method == "session/request_permission":
            self.asked.append(message["params"])
            self._send({"id": identity, "result": {"outcome": self._outcome(message["params"]["options"])}})
        else:
            self._send({"id": identity, "error": {"code": -32601, "message": "not offered"}})

    def _outcome(self, options: list[Json]) -> Json:
        by_kind = {option["kind"]: option["optionId"] for option in reversed(options)}
        chosen = next((by_kind[kind] for kind in self.chooses if kind in by_kind), None)
        return {"outcome": "cancelled"} if chosen is None else {"outcome": "selected", "optionId": chosen}


def start_agent(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, **more: Any) -> Agent:
    """Start an agent as the leader of a group of its own, with exactly this environment."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        list(argv), env=dict(env), cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    agent = Agent(process, **more)
    drain = threading.Thread(target=_drain, args=(process, agent.stderr), daemon=True)
    agent.readers += [threading.Thread(target=agent.listen, daemon=True), drain]
    for reader in agent.readers:
        reader.start()
    return agent


def _drain(process: subprocess.Popen[bytes], lines: list[bytes]) -> None:
    assert process.stderr is not None
    lines.extend(process.stderr)


def initialize(agent: Agent) -> Json:
    """What the agent says of itself; no file and no terminal is lent to it."""
    capabilities = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    client = {"name": "agentmux", "title": "agentmux", "version": "0"}
    return agent.request("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": client})
