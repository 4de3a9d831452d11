"""An MCP server over stdio with one tool; it writes what reaches it into the file that its first argument names."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

TOOL = {
    "name": "echo",
    "description": "Say the text again.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def answer(method: str, params: dict) -> dict | None:
    match method:
        case "initialize":
            info = {"name": "probe", "version": "1"}
            version = params.get("protocolVersion", "2025-06-18")
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            return {"content": [{"type": "text", "text": f"MCP-ECHO {params['arguments'].get('text')}"}]}
        case "ping":
            return {}
        case _:
            return None


def main(log: Path) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        entry = {"method": message.get("method"), "params": message.get("params"), "env": sorted(os.environ)}
        entry["token"] = os.environ.get("PROBE_TOKEN")
        with log.open("a", encoding="utf-8") as out:
            out.write(json.dumps(entry) + "\n")
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params") or {})
            reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no"}}
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
