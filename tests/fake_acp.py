"""A stand-in for an agent that speaks the Agent Client Protocol: it plays a recording, or a script with faults.

The folder in `FAKE_ACP` holds `script.json`, an object:

    recording   a file of frames (`dir`: in or out): what the agent wrote is written where the client comes to it
    answers     by method: a result, {"error": {...}}, or null for no answer at all; over the usual ones
    plays       updates that come before the answer that loads a session or copies one
    turns       for each prompt, the steps of its turn (the last one plays for all that follow)
    ignores     any of "SIGTERM", "EOF"
    greets      text that goes to stderr at the start

A step is an object with one key:

    text, thought    a chunk of a message          update   any update of the session
    frame            a message as it stands        raw      bytes as text, whatever they are
    flood            so many chunks                ask      questions: parameters of permission requests, all at once
    asks             the same, and no answer is waited for
    request          {method, params}: what a client may do for an agent; its answer is waited for
    till_cancelled   any value                     sleep    seconds
    stderr           text                          spawn    seconds that a detached child of ours lives
    end, fail        the result, or the error, that answers the prompt
    exit             a code                        die      a signal's name
    wait             for ever

`received-N.jsonl` holds, for each process, every line that the client wrote, an answer together with its question;
`spent` the CPU seconds of the last one that came to the end of its input.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

FOLDER = Path(os.environ["FAKE_ACP"])
SESSION = "session-1"
PLAYED = {"session/load", "session/fork"}
OPENS = {"session/new", "session/resume", *PLAYED}
LEADS = {"initialize", "session/prompt", *OPENS}
CAPABILITIES = {
    "loadSession": True,
    "mcpCapabilities": {"http": True, "sse": True},
    "promptCapabilities": {"image": False, "audio": False, "embeddedContext": False},
    "sessionCapabilities": {"fork": {}, "list": {}, "resume": {}},
}
ANSWERS = {
    "initialize": {
        "protocolVersion": 1,
        "agentCapabilities": CAPABILITIES,
        "authMethods": [{"id": "key", "name": "A key"}],
        "agentInfo": {"name": "fake", "version": "1.2.3"},
    },
    "authenticate": {},
    "session/new": {"sessionId": SESSION},
    "session/load": {},
    "session/resume": {},
    "session/fork": {"sessionId": "session-2"},
    "session/set_mode": {},
    "session/set_config_option": {"configOptions": []},
}


class Wire:
    """The lines that come and go."""

    def __init__(self) -> None:
        self._log = (FOLDER / f"received-{_take_number()}.jsonl").open("a", encoding="utf-8")
        self._asked: dict[object, str] = {}
        self._held: deque[dict] = deque()
        self._last = 0
        self.cancelled = False

    def receive(self) -> dict | None:
        """The next message; None at the end."""
        if self._held:
            return self._held.popleft()
        line = sys.stdin.readline()
        if not line:
            return None
        frame = json.loads(line)
        of = None if "method" in frame else self._asked.get(frame.get("id"))
        self._log.write(json.dumps({"frame": frame, "of": of}) + "\n")
        self._log.flush()
        self.cancelled = self.cancelled or frame.get("method") == "session/cancel"
        return frame

    def send(self, frame: dict) -> None:
        if "method" in frame and "id" in frame:
            self._asked[frame["id"]] = frame["method"]
        say(json.dumps({"jsonrpc": "2.0", **frame}, ensure_ascii=False).encode() + b"\n")

    def update(self, update: dict) -> None:
        self.send({"method": "session/update", "params": {"sessionId": SESSION, "update": update}})

    def request(self, method: str, params: dict) -> int:
        self._last += 1
        self.send({"id": self._last, "method": method, "params": params})
        return self._last

    def until(self, wanted) -> dict:
        """The message that is wanted; others are kept for later."""
        passed = []
        while (frame := self.receive()) is not None and not wanted(frame):
            passed.append(frame)
        self._held.extend(passed)
        if frame is None:
            sys.exit(0)
        return frame

    def answer_to(self, number: object) -> dict:
        return self.until(lambda frame: "method" not in frame and frame.get("id") == number)


def main() -> None:
    script = json.loads((FOLDER / "script.json").read_text(encoding="utf-8"))
    ignored = script.get("ignores", ())
    if "SIGTERM" in ignored:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(2, script.get("greets", "").encode())
    wire = Wire()
    if "recording" in script:
        play(wire, [json.loads(line) for line in Path(script["recording"]).read_bytes().splitlines()])
    serve(wire, script)
    used = resource.getrusage(resource.RUSAGE_SELF)
    (FOLDER / "spent").write_text(str(used.ru_utime + used.ru_stime), encoding="utf-8")
    while "EOF" in ignored:
        time.sleep(60)


def serve(wire: Wire, script: dict) -> None:
    answers, turns = {**ANSWERS, **script.get("answers", {})}, script.get("turns", [[{"text": "Hello."}]])
    played = 0
    while (frame := wire.receive()) is not None:
        method, number = frame.get("method"), frame.get("id")
        if method == "session/prompt":
            turn(wire, number, turns[min(played, len(turns) - 1)])
            played += 1
        elif number is not None and method is not None:
            for update in script.get("plays", ()) if method in PLAYED else ():
                wire.update(update)
            answer = answers.get(method, {"error": {"code": -32601, "message": f"no {method}"}})
            if answer is not None:
                wire.send({"id": number, **(answer if "error" in answer else {"result": answer})})


def turn(wire: Wire, number: object, steps: list[dict]) -> None:
    ended = False
    for step in steps:
        ((name, value),) = step.items()
        ended = ended or name in {"end", "fail"}
        STEPS[name](wire, value, number)
    if not ended:
        wire.send({"id": number, "result": {"stopReason": "cancelled" if wire.cancelled else "end_turn"}})
    wire.cancelled = False


def play(wire: Wire, lines: list[dict]) -> None:
    """A recording: what a client sends otherwise is answered with nothing, what it leaves out is passed over."""
    ids, skipped = {}, set()
    for entry in lines:
        frame, number = entry["frame"], entry["frame"].get("id")
        if entry["dir"] == "out":
            if "method" in frame or number not in skipped:
                wire.send(frame if "method" in frame else {**frame, "id": ids.get(number, number)})
        elif frame.get("method") in LEADS:
            ids[number] = led(wire, frame["method"])
        elif "method" in frame:
            skipped.add(number)
        else:
            wire.answer_to(number)


def led(wire: Wire, method: str) -> object:
    """Wait for a request that leads on, and give its id."""
    alike = OPENS if method in OPENS else {method}
    while True:
        frame = wire.until(lambda frame: "method" in frame)
        if frame["method"] in alike:
            return frame["id"]
        if "id" in frame:
            wire.send({"id": frame["id"], "result": {}})


def say(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def chunk(kind: str, text: str) -> dict:
    return {"sessionUpdate": f"agent_{kind}_chunk", "content": {"type": "text", "text": text}}


def _take_number() -> int:
    number = 0
    while True:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(FOLDER / f"taken-{number}", os.O_CREAT | os.O_EXCL))
            return number
        number += 1


def _flood(_wire: Wire, times: int, _number: object) -> None:
    """Chunks as agents write them: one line each, many to a write."""
    lines = [
        json.dumps(
            {
                "jsonrpc": "2.0",
                "method": "session/update",
                "params": {"sessionId": SESSION, "update": {**chunk("message", f"word{number} "), "messageId": "m"}},
            }
        )
        for number in range(times)
    ]
    for start in range(0, times, 20):
        say("".join(f"{line}\n" for line in lines[start : start + 20]).encode())


def _ask(wire: Wire, questions: list[dict], _number: object) -> None:
    for number in _asks(wire, questions, None):
        wire.answer_to(number)


def _asks(wire: Wire, questions: list[dict], _number: object) -> list[int]:
    return [wire.request("session/request_permission", {"sessionId": SESSION, **each}) for each in questions]


def _request(wire: Wire, value: dict, _number: object) -> None:
    params = {"sessionId": SESSION, **value.get("params", {})}
    answer = wire.answer_to(wire.request(value["method"], params))
    (FOLDER / "answered.jsonl").open("a", encoding="utf-8").write(json.dumps(answer) + "\n")


def _till_cancelled(wire: Wire, _value: object, _number: object) -> None:
    if not wire.cancelled:
        wire.until(lambda frame: frame.get("method") == "session/cancel")


def _spawn(_wire: Wire, seconds: float, _number: object) -> None:
    quiet = subprocess.DEVNULL
    code = f"import time; time.sleep({seconds})"
    command = [sys.executable, "-c", code]
    child = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    (FOLDER / "spawned").write_text(str(child.pid), encoding="utf-8")


def _die(_wire: Wire, name: str, _number: object) -> None:
    os.kill(os.getpid(), getattr(signal, name))
    time.sleep(60)


def _wait(_wire: Wire, _value: object, _number: object) -> None:
    while True:
        time.sleep(60)


STEPS = {
    "text": lambda wire, text, _: wire.update(chunk("message", text)),
    "thought": lambda wire, text, _: wire.update(chunk("thought", text)),
    "update": lambda wire, update, _: wire.update(update),
    "frame": lambda wire, frame, _: wire.send(frame),
    "raw": lambda _wire, text, _: say(text.encode()),
    "flood": _flood,
    "ask": _ask,
    "asks": _asks,
    "request": _request,
    "till_cancelled": _till_cancelled,
    "sleep": lambda _wire, seconds, _: time.sleep(seconds),
    "stderr": lambda _wire, text, _: os.write(2, text.encode()),
    "spawn": _spawn,
    "end": lambda wire, result, number: wire.send({"id": number, "result": result}),
    "fail": lambda wire, error, number: wire.send({"id": number, "error": error}),
    "exit": lambda _wire, code, _: sys.exit(code),
    "die": _die,
    "wait": _wait,
}

if __name__ == "__main__":
    if "--version" in sys.argv:
        sys.stdout.write(f"{Path(sys.argv[0]).name} 1.2.3\n")
        sys.exit(0)
    main()
