"""A small spec compiled by the real command, and its plan brought to life as a launcher would."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentmux_compiler.lowering.gate import trust_entry
from agentmux_compiler.providers import load_provider
from agentmux_compiler.providers.schema import Provider
from agentmux_compiler.writing.user_entry import added
from agentmux_launcher.manifest import LaunchPlan, SessionServer, read
from agentmux_launcher.user_entry import entry_for

if TYPE_CHECKING:
    from collections.abc import Mapping

RULE = "INSTRUCTION-SENTINEL: answer in one line."
OPENING = "STARTUP-SENTINEL: read the rules first."
SKILL = "Use SKILL-SENTINEL before the release."
SERVER = Path(__file__).parent / "mcp_server.py"
SECRET = "what-no-file-holds"  # noqa: S105  a made-up one

_SKILL_FILE = f"---\nname: notes\ndescription: {SKILL}\n---\n\nWrite the notes.\n"
_SPEC = """providers: {{{provider}: {{{use}}}}}
instructions: |
  # Rules

  {rule}
startup: |
  {opening}
skills: [notes]
"""
_SERVERS = """mcp:
  probe: {{command: {python}, args: [{server}, {log}], env: {{PROBE_TOKEN: "${{PROBE_TOKEN}}"}}}}
"""


Said = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Built:
    """A compiled plan, and the codes and messages of all that was said."""

    plan: LaunchPlan
    provider: Provider
    said: Said

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(code for code, _ in self.said)


def build(project: Path, provider: str, use: str, log: Path | None) -> Built:
    """Compile the spec for one provider, with a server that writes to `log` if the provider can be given one."""
    servers = _SERVERS.format(python=sys.executable, server=SERVER, log=log) if log else ""
    said = _build(project, provider, use, servers)
    if refuses_servers(said):
        said = (*said, *_build(project, provider, use, ""))
    manifest = read(project)
    assert manifest is not None, said
    (plan,) = manifest.plans
    return Built(plan, load_provider(provider), said)


def refuses_servers(said: Said) -> bool:
    """Whether it was said that the provider cannot be given the server."""
    return any(code == "AMX401" and "MCP" in message for code, message in said)


def _build(project: Path, provider: str, use: str, servers: str) -> Said:
    spec = _SPEC.format(provider=provider, use=use, rule=RULE, opening=OPENING) + servers
    for name, text in {"agents.d/worker.yaml": spec, "skills/notes/SKILL.md": _SKILL_FILE}.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "agentmux", "build", "--project", str(project), "--format", "json"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    return tuple((item["code"], item["message"]) for item in json.loads(done.stdout)["diagnostics"])


def trust(provider: Provider, home: Path, folder: Path) -> None:
    """Open the provider's gate for good, as the catalog says that it is done."""
    file = trust_entry(provider)
    if file is None:
        return
    entry = entry_for(file, str(folder), {"HOME": str(home)}, 1796000000)
    text = entry.file.read_text(encoding="utf-8") if entry.file.exists() else ""
    entry.file.parent.mkdir(parents=True, exist_ok=True)
    entry.file.write_text(added(entry.file.name, text, entry.text), encoding="utf-8")


def new_session(plan: LaunchPlan, folder: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of `session/new`."""
    return {"cwd": str(folder), "mcpServers": [_server(server, environ) for server in plan.mcp_servers]}


def _server(server: SessionServer, environ: Mapping[str, str]) -> dict[str, Any]:
    def pairs(values: Mapping[str, str]) -> list[dict[str, str]]:
        return [{"name": name, "value": _expanded(value, environ)} for name, value in values.items()]

    if server.url is not None:
        return {"type": "http", "name": server.name, "url": server.url, "headers": pairs(server.headers)}
    return {"name": server.name, "command": server.command, "args": list(server.args), "env": pairs(server.env)}


def _expanded(value: str, environ: Mapping[str, str]) -> str:
    return re.sub(r"\$\{(\w+)\}", lambda match: environ.get(match[1], ""), value)
