"""The protocol's own schema against what agents and their client really wrote; what deviates has a name."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

schema = pytest.importorskip("acp.schema")
pydantic = pytest.importorskip("pydantic")

RECORDINGS = Path(__file__).parent / "fixtures" / "acp"
# Where a recording left out the middle of a long text or list.
LEFT_OUT = "…[+"
# Values that belong to whoever writes them.
FREE = {"_meta", "rawInput", "rawOutput"}
ASKED = {
    "authenticate": schema.AuthenticateRequest,
    "initialize": schema.InitializeRequest,
    "session/cancel": schema.CancelNotification,
    "session/list": schema.ListSessionsRequest,
    "session/load": schema.LoadSessionRequest,
    "session/new": schema.NewSessionRequest,
    "session/prompt": schema.PromptRequest,
    "session/request_permission": schema.RequestPermissionRequest,
    "session/set_mode": schema.SetSessionModeRequest,
    "session/update": schema.SessionNotification,
}
ANSWERED = {
    "authenticate": schema.AuthenticateResponse,
    "initialize": schema.InitializeResponse,
    "session/list": schema.ListSessionsResponse,
    "session/load": schema.LoadSessionResponse,
    "session/new": schema.NewSessionResponse,
    "session/prompt": schema.PromptResponse,
    "session/request_permission": schema.RequestPermissionResponse,
    "session/set_mode": schema.SetSessionModeResponse,
}
OTHER = {"in": "out", "out": "in"}

# Methods that the schema does not have: what agents add, and a request that was sent to see it refused.
METHODS = {
    "claude-agent-acp": {"_auth/status_update", "nope/method"},
    "cline": set(),
    "codex-acp": {"_auth/status_update", "nope/method"},
    "copilot": {"nope/method"},
    "gemini": {"nope/method"},
    "grok": {
        "_x.ai/mcp/init_progress",
        "_x.ai/mcp/server_status",
        "_x.ai/mcp/servers_updated",
        "_x.ai/mcp_initialized",
        "_x.ai/models/update",
        "_x.ai/queue/changed",
        "_x.ai/session/prompt_complete",
        "_x.ai/session/setup",
        "_x.ai/session/update",
        "_x.ai/session_notification",
        "_x.ai/sessions/changed",
        "nope/method",
    },
    "kilo": {"nope/method"},
    "openclaw": {"nope/method"},
    "opencode": {"nope/method"},
    "pi": {"nope/method"},
    "qwen": {"craft/drainMidTurnQueue"},
}
# What the schema drops of a message, or reads as something else (`=`).
OLDER_MODELS = {"answer to session/load: models", "answer to session/new: models"}
CATEGORIES = {
    "answer to session/load: configOptions[].category=",
    "answer to session/new: configOptions[].category=",
    "session/update config_option_update: update.configOptions[].category=",
}
DEVIATIONS = {
    "claude-agent-acp": {
        "answer to initialize: agentCapabilities.sessionCapabilities.systemPrompt",
        "session/request_permission: toolCall.name",
        "session/update tool_call: update.name",
    },
    "cline": OLDER_MODELS,
    "codex-acp": {
        "answer to initialize: agentCapabilities.sessionCapabilities.subagents",
        "answer to initialize: agentCapabilities.sessionCapabilities.systemPrompt",
        "answer to initialize: agentCapabilities.sessionCapabilities.title",
        "session/update tool_call: update.name",
        *CATEGORIES,
        *OLDER_MODELS,
    },
    "copilot": CATEGORIES,
    "gemini": OLDER_MODELS,
    "grok": OLDER_MODELS,
    "pi": OLDER_MODELS,
    "qwen": OLDER_MODELS,
}


def whole(value):
    """A value without the marks of what a recording left out."""
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole(item) for item in value if not (isinstance(item, str) and item.startswith(LEFT_OUT))]
    return value


def lost(raw, kept, path=""):
    """Where what the schema keeps is not what was written."""
    if isinstance(raw, dict) and isinstance(kept, dict):
        for key, value in raw.items():
            at = f"{path}.{key}".lstrip(".")
            if key in kept:
                yield from () if key in FREE else lost(value, kept[key], at)
            elif value is not None:
                yield at
    elif isinstance(raw, list) and isinstance(kept, list) and len(raw) == len(kept):
        for one, other in zip(raw, kept, strict=True):
            yield from lost(one, other, f"{path}[]")
    elif raw != kept:
        yield f"{path}="


def deviations(model, value):
    try:
        kept = model.model_validate(whole(value)).model_dump(by_alias=True, exclude_unset=True, mode="json")
    except pydantic.ValidationError as error:
        return {f"{'.'.join(map(str, each['loc']))}: {each['type']}" for each in error.errors()}
    return set(lost(whole(value), kept))


def name(method, params):
    kind = params["update"]["sessionUpdate"] if method == "session/update" else ""
    return f"{method} {kind}".rstrip()


def checked(path):
    """Methods that the schema does not have, and what deviates in the rest, by message."""
    asked, methods, found = defaultdict(dict), set(), set()
    for line in path.read_text("utf-8").splitlines():
        side, frame = json.loads(line).values()
        method = frame.get("method")
        if method and "id" in frame:
            asked[side][frame["id"]] = method
        if method in ASKED:
            params = frame.get("params")
            found |= {f"{name(method, params)}: {each}" for each in deviations(ASKED[method], params)}
        elif method:
            methods.add(method)
        elif "error" in frame:
            found |= {f"error: {each}" for each in deviations(schema.Error, frame["error"])}
        else:
            question = asked[OTHER[side]].get(frame["id"])
            found |= {f"answer to {question}: {each}" for each in deviations(ANSWERED[question], frame["result"])}
    return methods, found


@pytest.mark.parametrize("agent", sorted(METHODS))
def test_every_message_is_the_schemas_but_for_what_is_named(agent):
    both = [checked(path) for path in sorted((RECORDINGS / agent).glob("*.jsonl"))]
    methods, found = (set().union(*each) for each in zip(*both, strict=True))

    assert (methods, found) == (METHODS[agent], DEVIATIONS.get(agent, set()))
