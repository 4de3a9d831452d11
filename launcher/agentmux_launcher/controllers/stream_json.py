"""What goes to a CLI that speaks Claude's stream of JSON lines: turns, answers to what it asks, an interrupt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Frame = Mapping[str, Any]


def line(frame: Frame) -> bytes:
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"


def turn(text: str) -> Frame:
    return {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]}}


def interrupt(number: int) -> Frame:
    return {"type": "control_request", "request_id": f"agentmux-{number}", "request": {"subtype": "interrupt"}}


def allowed(request: str, given: Any, rules: list[Mapping[str, Any]] | None = None) -> Frame:
    """Let a tool run with this input; `rules` are to hold for the rest of the session."""
    response: dict[str, Any] = {"behavior": "allow", "updatedInput": given}
    if rules:
        response["updatedPermissions"] = [
            {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "session"}
        ]
    return _response(request, response)


def denied(request: str, message: str) -> Frame:
    return _response(request, {"behavior": "deny", "message": message})


def unsupported(request: str, subtype: str) -> Frame:
    """What the CLI asked is nothing that anybody here answers; without a word it would wait for ever."""
    error = f"agentmux does not answer {subtype}"
    return {"type": "control_response", "response": {"subtype": "error", "request_id": request, "error": error}}


def rule(tool: str, given: Any) -> Mapping[str, Any]:
    """What "always" means for a call: this very command, or this tool."""
    command = given.get("command") if isinstance(given, dict) else None
    return {"toolName": tool, "ruleContent": command} if isinstance(command, str) else {"toolName": tool}


def _response(request: str, response: Frame) -> Frame:
    told = {"subtype": "success", "request_id": request, "response": response}
    return {"type": "control_response", "response": told}
