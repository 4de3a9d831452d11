"""The recorder: a model endpoint on loopback that keeps every request and answers from a script."""

from __future__ import annotations

import secrets
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from agentmux_launcher.recorder import body as encodings
from agentmux_launcher.recorder.answers import Answer, Failure, ServedUsage
from agentmux_launcher.recorder.cache import CachePlayer, NoCache
from agentmux_launcher.recorder.exchange import Exchange, Headers, dumps
from agentmux_launcher.recorder.listener import LOOPBACK, Callbacks, Listener, Outgoing
from agentmux_launcher.recorder.models import model, model_list
from agentmux_launcher.recorder.routes import Question, Route, route
from agentmux_launcher.recorder.script import Script, check, choose
from agentmux_launcher.recorder.side import harmless, side_request
from agentmux_launcher.recorder.wires import SPEECHES
from agentmux_launcher.recorder.wires import reply as replies

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from agentmux_launcher.recorder.wire import RenderedRequest, Wire


class Recorder:
    """A model endpoint on 127.0.0.1, as a `with` block.

    `folder` gets one `NNNN.json` per request. `name` goes into the ids of answers; by default it is another one for
    every recorder, so that a session which outlives a recorder never sees an id twice.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        folder: Path | None = None,
        cache: CachePlayer | None = None,
        port: int = 0,
        name: str = "",
    ) -> None:
        self._cache: CachePlayer = cache or NoCache()
        self._folder = folder
        self._name = name or secrets.token_hex(4)
        self._exchanges: list[Exchange] = []
        self._changed = threading.Condition()
        self._port = port
        self._listener: Listener
        self._thread: threading.Thread
        self.play(script or Script())

    def __enter__(self) -> Self:
        if self._folder:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._listener = Listener(self._port, Callbacks(self._take, self._done))
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.stopping.set()
        self._listener.shutdown()
        self._thread.join()
        self._listener.hang_up()
        self._listener.server_close()

    @property
    def url(self) -> str:
        """The endpoint without a path: `http://127.0.0.1:PORT`."""
        return f"http://{LOOPBACK}:{self._listener.server_address[1]}"

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Everything so far, in the order in which it came."""
        with self._changed:
            return tuple(self._exchanges)

    @property
    def turns(self) -> tuple[Exchange, ...]:
        """The requests of the conversation: no side requests, counts or lists."""
        return tuple(each for each in self.exchanges if each.kind == "main")

    def play(self, script: Script) -> None:
        """Answer from this script from now on.

        Raises:
            ScriptError: it names a failure that is not known.
        """
        check(script)
        with self._changed:
            self._script = script
            self._used = [0] * len(script.turns)

    def wait(self, turns: int, timeout: float) -> bool:
        """Whether that many requests of the conversation have come within `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(
                lambda: sum(each.kind == "main" for each in self._exchanges) >= turns, timeout
            )

    def _take(self, method: str, path: str, headers: Headers, raw: bytes) -> Outgoing:
        found = route(method, path)
        with self._changed:
            number = len(self._exchanges) + 1
            blank = Exchange(number, method, path, headers, raw, raw, found.question.value)
            exchange, outgoing = self._answer(blank, found)
            exchange = replace(exchange, status=outgoing.status)
            self._exchanges.append(exchange)
            self._changed.notify_all()
        self._keep(exchange)
        return outgoing

    def _answer(self, exchange: Exchange, found: Route) -> tuple[Exchange, Outgoing]:
        if found.question is Question.ALIVE:
            return exchange, Outgoing(exchange.number, 200, {})
        if found.question in {Question.MODELS, Question.MODEL}:
            return exchange, _json(exchange.number, 200, _models(exchange, found))
        if found.wire is None:
            return exchange, _refusal(exchange.number, 404, "no such path here")
        try:
            exchange = replace(exchange, body=encodings.decode(exchange.raw, exchange.header("content-encoding")))
            prompt = exchange.prompt
        except encodings.UnknownEncodingError as error:
            return exchange, _refusal(exchange.number, 415, str(error))
        except ValueError as error:
            return exchange, _refusal(exchange.number, 400, str(error))
        return self._speak(exchange, found, found.wire, prompt)

    def _speak(
        self, exchange: Exchange, found: Route, wire: Wire, prompt: RenderedRequest
    ) -> tuple[Exchange, Outgoing]:
        if found.question is Question.COUNT:
            return exchange, _json(exchange.number, 200, _count(wire, self._tokens(prompt)))
        kind, answer = self._choose(exchange, prompt)
        failed = answer.failure if answer.failure and not answer.failure.in_stream else None
        usage = None if failed else self._usage(prompt, answer)
        told = replace(exchange, kind=kind, usage=usage)
        ask = replies.Ask(f"{self._name}{exchange.number:04}", prompt.model, usage or ServedUsage(), prompt.parameters)
        if failed:
            return told, _error(exchange.number, failed, *SPEECHES[wire].error(failed, ask), answer)
        streams = bool(prompt.parameters.get("stream")) if found.stream is None else found.stream
        if not streams:
            return told, replace(_json(exchange.number, 200, SPEECHES[wire].whole(answer, ask)), answer=answer)
        return told, Outgoing(exchange.number, 200, _SSE, pieces=SPEECHES[wire].stream(answer, ask), answer=answer)

    def _choose(self, exchange: Exchange, prompt: RenderedRequest) -> tuple[str, Answer]:
        body = exchange.body.decode("utf-8", "replace")
        aside = side_request(prompt)
        if aside:
            return f"side:{aside.name}", self._script.side.get(aside.name, harmless(aside))
        index = choose(self._script, self._used, exchange.path, body, prompt.model)
        if index is None:
            return "main", self._script.default
        self._used[index] += 1
        return "main", self._script.turns[index].answer

    def _usage(self, prompt: RenderedRequest, answer: Answer) -> ServedUsage:
        played = self._cache.play(prompt, answer.wait)
        if answer.usage:
            return answer.usage
        thought = self._cache.count(answer.thinking)
        said = [answer.full_text, *(str(dict(call.arguments)) for call in answer.tool_calls)]
        spoken = sum(self._cache.count(each) for each in said if each)
        return replace(played, output_tokens=thought + spoken, reasoning_tokens=thought)

    def _tokens(self, prompt: RenderedRequest) -> int:
        return sum(self._cache.count(part.text) for part in prompt.parts)

    def _keep(self, exchange: Exchange) -> None:
        if self._folder:
            target = self._folder / exchange.file_name
            partial = target.with_suffix(".part")
            partial.touch(mode=0o600)
            partial.write_bytes(dumps(exchange).encode("utf-8", "surrogatepass"))
            partial.replace(target)

    def _done(self, number: int, outcome: str) -> None:
        with self._changed:
            self._exchanges[number - 1] = replace(self._exchanges[number - 1], outcome=outcome)
            self._changed.notify_all()


_SSE = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
_JSON = {"content-type": "application/json"}


def _json(number: int, status: int, value: Mapping[str, Any]) -> Outgoing:
    return Outgoing(number, status, _JSON, replies.dumps(value))


def _refusal(number: int, status: int, message: str) -> Outgoing:
    return _json(number, status, {"error": {"message": message, "type": "invalid_request_error"}})


def _error(number: int, failure: Failure, status: int, value: Mapping[str, Any], answer: Answer) -> Outgoing:
    headers = _JSON if failure.retry_after is None else {**_JSON, "retry-after": f"{failure.retry_after:g}"}
    return Outgoing(number, status, headers, replies.dumps(value), answer=answer)


# Three vendors list their models at the same path.
_TELLING_HEADERS: tuple[tuple[str, Wire], ...] = (
    ("anthropic-version", "anthropic"),
    ("x-goog-api-key", "gemini"),
    ("x-goog-api-client", "gemini"),
)


def _models(exchange: Exchange, found: Route) -> dict[str, Any]:
    told: Wire = next((wire for name, wire in _TELLING_HEADERS if exchange.header(name)), "chat")
    wire = found.wire or told
    name = exchange.path.partition("?")[0].rpartition("/")[2]
    return model(wire, name) if found.question is Question.MODEL else model_list(wire)


def _count(wire: Wire, tokens: int) -> dict[str, Any]:
    return {"totalTokens": tokens} if wire == "gemini" else {"input_tokens": tokens}
