"""JSON-RPC 2.0: what is asked gets an id, and every answer finds its question; lenient in what it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentmux_launcher.translators.values import first, mapping

INVALID_PARAMS, INTERNAL, NOT_OFFERED, NOT_FOUND = -32602, -32603, -32601, -32002
METHOD_SHOWN = 100

Frame = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """An error, as one side tells it to the other."""

    code: int
    message: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the other side made of a request of ours; `fault` where it refused or failed."""

    id: int
    method: str
    result: Mapping[str, Any]
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What the other side asks. Its `id` is given back as it came; `key` is it as text."""

    id: Any
    method: str
    params: Mapping[str, Any]

    @property
    def key(self) -> str:
        return str(self.id)


class Peer:
    """The questions of ours that wait for their answer. Ids of the two sides have nothing to do with each other."""

    def __init__(self) -> None:
        self._last = 0
        self._open: dict[str, tuple[int, str]] = {}

    def request(self, method: str, params: Mapping[str, Any]) -> tuple[int, Frame]:
        """The frame that asks, and its id."""
        self._last += 1
        self._open[str(self._last)] = self._last, method
        return self._last, {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}

    def take(self, frame: Frame) -> Answer | Request | None:
        """What a frame with an id is; None for an answer to nothing that is asked, a second one among these."""
        method = first(frame.get("method"))
        if method is not None:
            return Request(frame["id"], method, mapping(frame.get("params")))
        number, asked = self._open.pop(str(frame["id"]), (0, ""))
        if not number:
            return None
        fault = frame.get("error")
        return Answer(number, asked, mapping(frame.get("result")), None if fault is None else _fault(fault))


def notification(method: str, params: Mapping[str, Any]) -> Frame:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def result(request: Request, value: Mapping[str, Any]) -> Frame:
    return {"jsonrpc": "2.0", "id": request.id, "result": value}


def error(request: Request, fault: Fault) -> Frame:
    return {"jsonrpc": "2.0", "id": request.id, "error": {"code": fault.code, "message": fault.message}}


def not_offered(request: Request) -> Frame:
    """The answer to what nobody here does; without one the other side would wait for ever."""
    return error(request, Fault(NOT_OFFERED, f"agentmux does not offer `{request.method[:METHOD_SHOWN]}`"))


def _fault(value: Any) -> Fault:
    """An error in any shape; what stands in `data` is often the only word that says why."""
    known = mapping(value)
    code, said = known.get("code"), known.get("data")
    details = first(said, mapping(said).get("details"), mapping(said).get("message"))
    words = first(known.get("message"), value) or "no reason is given"
    more = f": {details}" if details and details not in words else ""
    return Fault(code if isinstance(code, int) else INTERNAL, words + more)
