"""An agent made with the official SDK, the other end of the protocol: what it does stands in the prompt."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import acp
from acp import schema


class Scripted:
    """`ask`: whether it may; `lend`: a file and a command of its client's; `wait`: until it is cancelled."""

    def __init__(self) -> None:
        self._client: Any = None
        self._folder = ""
        self._cancelled = asyncio.Event()

    def on_connect(self, client: Any) -> None:
        self._client = client

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        sessions = schema.SessionCapabilities(resume=schema.SessionResumeCapabilities())
        return schema.InitializeResponse(
            protocol_version=protocol_version,
            agent_capabilities=schema.AgentCapabilities(load_session=True, session_capabilities=sessions),
            agent_info=schema.Implementation(name="scripted", version="1.0.0"),
        )

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        self._folder = cwd
        return schema.NewSessionResponse(session_id="made")

    async def resume_session(self, cwd: str, session_id: str, **_: Any) -> schema.ResumeSessionResponse:
        self._folder = cwd
        await self._say(session_id, "Again. ")
        return schema.ResumeSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> schema.SetSessionModeResponse:
        await self._say(session_id, f"In {mode_id}. ")
        return schema.SetSessionModeResponse()

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> schema.PromptResponse:
        text = prompt[0].text
        self._cancelled.clear()
        if "ask" in text:
            await self._ask(session_id)
        if "lend" in text:
            await self._lend(session_id)
        await self._say(session_id, "Done.")
        if "wait" in text:
            await self._cancelled.wait()
            return schema.PromptResponse(stop_reason="cancelled")
        return schema.PromptResponse(stop_reason="end_turn")

    async def cancel(self, **_: Any) -> None:
        self._cancelled.set()

    async def _ask(self, session_id: str) -> None:
        call = schema.ToolCallUpdate(tool_call_id="call-1", title="touch made", kind="execute")
        options = [
            schema.PermissionOption(option_id="no", kind="reject_once", name="No"),
            schema.PermissionOption(option_id="yes", kind="allow_once", name="Once"),
        ]
        answer = await self._client.request_permission(session_id=session_id, tool_call=call, options=options)
        await self._say(session_id, f"{answer.outcome.model_dump(by_alias=True)['optionId']}. ")

    async def _lend(self, session_id: str) -> None:
        path = str(Path(self._folder) / "notes.txt")
        await self._client.write_text_file(session_id=session_id, path=path, content="noted")
        read = await self._client.read_text_file(session_id=session_id, path=path)
        made = await self._client.create_terminal(session_id=session_id, command="cat", args=["notes.txt"])
        which = {"session_id": session_id, "terminal_id": made.terminal_id}
        ended = await self._client.wait_for_terminal_exit(**which)
        shown = await self._client.terminal_output(**which)
        await self._client.release_terminal(**which)
        await self._say(session_id, f"{read.content} {shown.output} {ended.exit_code}. ")

    async def _say(self, session_id: str, text: str) -> None:
        await self._client.session_update(session_id=session_id, update=acp.update_agent_message_text(text))


if __name__ == "__main__":
    if "--version" in sys.argv:
        sys.stdout.write("scripted 1.18.33\n")
    else:
        asyncio.run(acp.run_agent(Scripted(), use_unstable_protocol=True))
