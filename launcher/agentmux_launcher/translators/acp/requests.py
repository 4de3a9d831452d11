"""Our requests of an ACP agent: only they say what its answers answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentmux_launcher.translators.values import mapping

PROMPT, LOAD = "session/prompt", "session/load"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of ours."""

    method: str
    params: Mapping[str, Any]


class Requests:
    """Those that wait for their answer, by their ids. `known` is false where nobody wrote down what we sent."""

    def __init__(self) -> None:
        self._open: dict[str, Asked] = {}
        self.known = False

    def sent(self, frame: Mapping[str, Any], method: str) -> None:
        if "id" in frame:
            self._open[str(frame["id"])] = Asked(method, mapping(frame.get("params")))

    def answered(self, frame: Mapping[str, Any]) -> Asked | None:
        """The request that this answers; None where there is none, or no longer."""
        asked = self._open.pop(str(frame.get("id")), None)
        return _guessed(frame) if asked is None and not self.known else asked


def _guessed(frame: Mapping[str, Any]) -> Asked | None:
    """What an answer must be to, by its looks."""
    result = mapping(frame.get("result"))
    if "stopReason" in result or frame.get("error") is not None:
        return Asked(PROMPT, {})
    if "protocolVersion" in result:
        return Asked("initialize", {})
    if "sessionId" in result:
        return Asked("session/new", {})
    return Asked("", {}) if "result" in frame else None
