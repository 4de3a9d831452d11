"""The SDK's schema against every recording: what agents really write is what the protocol says, or is theirs alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RECORDINGS = sorted((Path(__file__).parent / "fixtures" / "acp").glob("*/*.jsonl"))
SAID = {"session/update": "SessionNotification", "session/request_permission": "RequestPermissionRequest"}
ANSWERED = {
    "initialize": "InitializeResponse",
    "authenticate": "AuthenticateResponse",
    "session/new": "NewSessionResponse",
    "session/load": "LoadSessionResponse",
    "session/list": "ListSessionsResponse",
    "session/prompt": "PromptResponse",
    "session/set_mode": "SetSessionModeResponse",
    "session/set_config_option": "SetSessionConfigOptionResponse",
}
# Methods of an agent's own have to begin with `_`; this one, of Qwen Code 0.24.4, does not.
OWN = {"craft/drainMidTurnQueue"}


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recording_fits_the_schema(path):
    from acp import schema  # noqa: PLC0415  takes a second

    asked = {}
    for line in path.read_bytes().splitlines():
        told = json.loads(line)
        frame, method = told["frame"], told["frame"].get("method")
        if told["dir"] == "in":
            asked |= {frame.get("id"): method} if method else {}
        elif method in SAID:
            getattr(schema, SAID[method]).model_validate(frame["params"])
        elif method is not None:
            assert method in OWN or method.startswith("_")
        elif "error" in frame:
            schema.Error.model_validate(frame["error"])
        else:
            getattr(schema, ANSWERED[asked[frame["id"]]]).model_validate(frame["result"])
