"""A stand-in for a provider's CLI: it plays a script, in any provider's dialect, and notes how it was started.

The folder in `FAKE_CLI` holds `script.json`: a list with the steps of each process in the order in which they start
(the last one plays for all that follow). A step is an object with one key:

    read     "line" or "all": a line of stdin, or stdin to its end; what came goes to the notes
    frames   objects, one line each
    text     text as it stands                bytes    the same as hexadecimal digits
    answer   {dialect, text, session?, usage?, resumed?}: a whole turn as that provider's CLI says it
    converse {dialect, session, resumed?}: a turn that a model endpoint is really asked for; see below
    big      {dialect, size, session?}: an answer of so many letters in one frame
    slowly   {text, size, pause}: in pieces of `size` bytes
    repeat   {frame, times}
    stderr   text                             sleep    seconds
    ignore   a signal's name                  catch    {signal, exit}
    spawn    {seconds, detach?, keep?, clean?}: a grandchild; `keep` leaves it our stdout, `clean` no environment
    exit     a code                           die      a signal's name
    wait     for ever

`converse` sends the instructions that the process was given (a flag's text or file, the instruction file where it runs)
with all of the session so far, to the endpoint that `FAKE_ENDPOINT` names, and says its usage in frames.
`resumed` is what becomes of instructions that were edited while the session rested: `kept`, `rewritten`.

Every process keeps `note-N.json`: its argv, cwd, environment, process numbers, stdin, what its streams are.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

FOLDER = Path(os.environ["FAKE_CLI"])
ZERO = {"input": 10, "read": 0, "write": 0, "output": 5}


def main() -> None:
    number = _take_number()
    script = json.loads((FOLDER / "script.json").read_text(encoding="utf-8"))
    notes = {
        "number": number,
        "argv": sys.argv[1:],
        "cwd": str(Path.cwd()),
        "env": dict(os.environ),
        "pid": os.getpid(),
        "group": os.getpgrp(),
        "session": os.getsid(0),
        "tty": [os.isatty(descriptor) for descriptor in range(3)],
        "size": _size(),
        "controlling": _has_terminal(),
        "stdin": [],
        "children": [],
    }
    note(notes)
    for step in script[min(number, len(script) - 1)] if script else []:
        ((name, value),) = step.items()
        STEPS[name](value, notes)
        note(notes)


def note(notes: dict) -> None:
    temporary = FOLDER / f".note-{notes['number']}"
    temporary.write_text(json.dumps(notes), encoding="utf-8")
    temporary.replace(FOLDER / f"note-{notes['number']}.json")


def _take_number() -> int:
    number = 0
    while True:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(FOLDER / f"taken-{number}", os.O_CREAT | os.O_EXCL))
            return number
        number += 1


def _size() -> list[int] | None:
    with contextlib.suppress(OSError):
        size = os.get_terminal_size(1)
        return [size.lines, size.columns]
    return None


def _has_terminal() -> bool:
    with contextlib.suppress(OSError):
        os.close(os.open("/dev/tty", os.O_RDWR))
        return True
    return False


def say(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def lines(frames: list[dict]) -> bytes:
    return b"".join(json.dumps(frame, ensure_ascii=False).encode() + b"\n" for frame in frames)


def letters(size: int) -> str:
    return "".join(random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=size))  # noqa: S311  filler, no secret


def _read(how: str, notes: dict) -> None:
    data = sys.stdin.buffer.readline() if how == "line" else sys.stdin.buffer.read()
    notes["stdin"].append(data.decode("utf-8", "replace"))


def _answer(value: dict, _notes: dict) -> None:
    say(lines(DIALECTS[value["dialect"]](value)))


def _converse(value: dict, notes: dict) -> None:
    kind = SPOKEN[value["dialect"]]
    store = FOLDER / f"session-{value['session']}.json"
    state = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {"instructions": None, "said": []}
    if state["instructions"] is None or value.get("resumed") == "rewritten":
        state["instructions"] = _instructions(kind["file"])
    state["said"].append(["user", _prompt(notes["stdin"][-1])])
    answer = _asked(*kind["body"](_option("--model", "-m") or "none", _option("--effort"), state))
    text, usage = kind["answer"](answer)
    state["said"].append(["assistant", text])
    store.write_text(json.dumps(state), encoding="utf-8")
    said = {**value, "text": text, "usage": usage, "id": answer["id"], "model": answer["model"]}
    say(lines(DIALECTS[value["dialect"]](said)))


def _asked(path: str, body: dict) -> dict:
    endpoint = urlsplit(os.environ["FAKE_ENDPOINT"])
    connection = http.client.HTTPConnection(endpoint.netloc, timeout=60)
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    with contextlib.closing(connection):
        return json.load(connection.getresponse())


def _option(*names: str) -> str | None:
    """The value of an option of ours, as `--name value` or `--name=value`."""
    for word, after in zip(sys.argv, [*sys.argv[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else after
    return None


def _instructions(file: str) -> str:
    passed = _option("--append-system-prompt-file")
    texts = [Path(passed).read_text(encoding="utf-8")] if passed else []
    texts += [text for text in [_option("--append-system-prompt")] if text]
    if Path(file).exists():
        texts.append(Path(file).read_text(encoding="utf-8"))
    return "\n".join(texts)


def _prompt(line: str) -> str:
    try:
        return json.loads(line)["message"]["content"][0]["text"]
    except (ValueError, TypeError, KeyError):
        return line


def _anthropic(model: str, effort: str | None, state: dict) -> tuple[str, dict]:
    """System text, the instructions behind it; both ends are marked, and the last message."""
    mark = {"cache_control": {"type": "ephemeral"}}
    system = [letters(20_000), state["instructions"]]
    said = [{"role": role, "content": [{"type": "text", "text": text}]} for role, text in state["said"]]
    said[-1]["content"][0].update(mark)
    return "/v1/messages", {
        "model": model,
        "max_tokens": 100,
        "output_config": {"effort": effort},
        "system": [{"type": "text", "text": text, **mark} for text in system if text],
        "messages": said,
    }


def _anthropic_answer(answer: dict) -> tuple[str, dict]:
    usage = answer["usage"]
    return answer["content"][0]["text"], {
        "input": usage["input_tokens"],
        "read": usage["cache_read_input_tokens"],
        "write": usage["cache_creation_input_tokens"],
        "output": usage["output_tokens"],
    }


def _chat(model: str, effort: str | None, state: dict) -> tuple[str, dict]:
    messages = [["system", letters(20_000)], ["system", state["instructions"]], *state["said"]]
    return "/v1/chat/completions", {
        "model": model,
        "reasoning_effort": effort,
        "messages": [{"role": role, "content": text} for role, text in messages],
    }


def _chat_answer(answer: dict) -> tuple[str, dict]:
    usage = answer["usage"]
    read = usage["prompt_tokens_details"]["cached_tokens"]
    return answer["choices"][0]["message"]["content"], {
        "input": usage["prompt_tokens"] - read,
        "read": read,
        "output": usage["completion_tokens"],
    }


SPOKEN = {
    "claude": {
        "file": "CLAUDE.md",
        "body": _anthropic,
        "answer": _anthropic_answer,
    },
    "qwen": {"file": "QWEN.md", "body": _chat, "answer": _chat_answer},
}


def _big(value: dict, _notes: dict) -> None:
    say(lines(DIALECTS[value["dialect"]]({**value, "text": letters(value["size"])})))


def _slowly(value: dict, _notes: dict) -> None:
    data = value["text"].encode()
    for start in range(0, len(data), value["size"]):
        say(data[start : start + value["size"]])
        time.sleep(value["pause"])


def _repeat(value: dict, _notes: dict) -> None:
    line = lines([value["frame"]])
    for _ in range(value["times"]):
        say(line)


def _stderr(text: str, _notes: dict) -> None:
    os.write(2, text.encode())


def _catch(value: dict, _notes: dict) -> None:
    signal.signal(getattr(signal, value["signal"]), lambda *_: os._exit(value["exit"]))


def _spawn(value: dict, notes: dict) -> None:
    code = f"import time; time.sleep({value['seconds']})"
    stream = None if value.get("keep") else subprocess.DEVNULL
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=stream,
        stderr=stream,
        start_new_session=value.get("detach", False),
        env={} if value.get("clean") else None,
    )
    notes["children"].append(child.pid)


def _die(name: str, _notes: dict) -> None:
    signal.signal(getattr(signal, name), signal.SIG_DFL) if name != "SIGKILL" else None
    os.kill(os.getpid(), getattr(signal, name))
    time.sleep(10)


def _wait(_value: object, _notes: dict) -> None:
    while True:
        time.sleep(60)


def claude(value: dict) -> list[dict]:
    session, usage = value.get("session", "claude-session"), {**ZERO, **value.get("usage", {})}
    said = {
        "input_tokens": usage["input"],
        "cache_read_input_tokens": usage["read"],
        "cache_creation_input_tokens": usage["write"],
        "output_tokens": usage["output"],
    }
    common = {"session_id": session, "parent_tool_use_id": None}
    model = value.get("model", "claude-sonnet-5-5")
    message = {"id": value.get("id", "msg_1"), "type": "message", "role": "assistant", "model": model}
    events = [
        {"type": "message_start", "message": {**message, "content": [], "usage": said}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": value["text"]},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": usage["output"]},
        },
        {"type": "message_stop"},
    ]
    return [
        {"type": "system", "subtype": "init", "model": model, "mcp_servers": [], **common},
        *({"type": "stream_event", "event": event, **common} for event in events),
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": value["text"],
            "stop_reason": "end_turn",
            "usage": said,
            **common,
        },
    ]


def qwen(value: dict) -> list[dict]:
    """As Claude, with what the cache served inside the input."""
    usage = {**ZERO, **value.get("usage", {})}
    return claude({**value, "usage": {**usage, "input": usage["input"] + usage["read"]}})


def codex(value: dict) -> list[dict]:
    usage = {**ZERO, **value.get("usage", {})}
    return [
        {"type": "thread.started", "thread_id": value.get("session", "codex-thread")},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": value["text"]}},
        {
            "type": "turn.completed",
            "usage": {
                "input_tokens": usage["input"] + usage["read"] + usage["write"],
                "cached_input_tokens": usage["read"],
                "cache_write_input_tokens": usage["write"],
                "output_tokens": usage["output"],
                "reasoning_output_tokens": 0,
            },
        },
    ]


def gemini(value: dict) -> list[dict]:
    usage = {**ZERO, **value.get("usage", {})}
    stats = {
        "total_tokens": usage["input"] + usage["read"] + usage["output"],
        "input_tokens": usage["input"] + usage["read"],
        "output_tokens": usage["output"],
        "cached": usage["read"],
        "input": usage["input"],
        "tool_calls": 0,
    }
    return [
        {"type": "init", "session_id": value.get("session", "gemini-session"), "model": "gemini-2.5-pro"},
        {"type": "message", "role": "assistant", "content": value["text"], "delta": True},
        {"type": "result", "status": "success", "stats": stats},
    ]


def kimi(value: dict) -> list[dict]:
    session = value.get("session", "kimi-session")
    return [
        {"role": "meta", "type": "system.version", "version": "2.1.0"},
        {"role": "assistant", "content": value["text"]},
        {"role": "meta", "type": "session.resume_hint", "session_id": session, "content": f"kimi -r {session}"},
    ]


DIALECTS = {"claude": claude, "codex": codex, "gemini": gemini, "kimi": kimi, "qwen": qwen}
STEPS = {
    "read": _read,
    "frames": lambda value, _: say(lines(value)),
    "text": lambda value, _: say(value.encode()),
    "bytes": lambda value, _: say(bytes.fromhex(value)),
    "answer": _answer,
    "converse": _converse,
    "big": _big,
    "slowly": _slowly,
    "repeat": _repeat,
    "stderr": _stderr,
    "sleep": lambda value, _: time.sleep(value),
    "ignore": lambda value, _: signal.signal(getattr(signal, value), signal.SIG_IGN),
    "catch": _catch,
    "spawn": _spawn,
    "exit": lambda value, _: sys.exit(value),
    "die": _die,
    "wait": _wait,
}

if __name__ == "__main__":
    if "--version" in sys.argv:
        sys.stdout.write(f"{Path(sys.argv[0]).name} {os.environ.get('FAKE_VERSION', '1.2.3')}\n")
        sys.exit(0)
    main()
