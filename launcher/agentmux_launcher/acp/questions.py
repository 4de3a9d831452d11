"""The permission requests of an agent that are open; each gives the frame that answers it, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentmux_launcher.acp import choice, rpc
from agentmux_launcher.permission import ALLOW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentmux_launcher.acp.rpc import Frame, Request
    from agentmux_launcher.permission import Decision

METHOD = "session/request_permission"


class Questions:
    """Those of one process. Tools of the kinds in `passes` pass below `folder` without anybody being asked."""

    def __init__(self, passes: Sequence[str], folder: str) -> None:
        self._passes = passes
        self._folder = folder
        self._open: dict[str, Request] = {}

    def __bool__(self) -> bool:
        return bool(self._open)

    def take(self, request: Request) -> list[Frame]:
        """The answer that needs nobody; none where it is somebody's."""
        if not choice.options(request.params):
            return [rpc.result(request, choice.CANCELLED)]
        if choice.passes(request.params, self._passes, self._folder):
            return [rpc.result(request, choice.outcome(request.params, ALLOW))]
        self._open[request.key] = request
        return []

    def answer(self, key: str, decision: Decision) -> list[Frame]:
        request = self._open.pop(key, None)
        return [] if request is None else [rpc.result(request, choice.outcome(request.params, decision))]

    def call_off(self) -> list[Frame]:
        """All that are open, when their turn is over or was cancelled."""
        requests, self._open = list(self._open.values()), {}
        return [rpc.result(request, choice.CANCELLED) for request in requests]
